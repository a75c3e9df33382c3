import { expect, test } from 'vitest';
import { isMixed } from './reach';

test('a page that came encrypted shows nothing that does not, unless it is from this machine', () => {
  const house = 'https://megaron.example/?session=1';
  expect(isMixed(house, 'http://megaron.example:53001/f/x/')).toBe(true);
  expect(isMixed(house, 'http://192.168.1.7:53001/f/x/')).toBe(true);
  expect(isMixed(house, 'http://localhost.example:53001/f/x/')).toBe(true);
  expect(isMixed(house, 'https://frames.example/f/x/')).toBe(false);
  expect(isMixed('http://megaron.example/', 'http://megaron.example:53001/f/x/')).toBe(false);
  for (const near of ['localhost', 'a.localhost', '127.0.0.1']) {
    expect(isMixed('https://localhost/', `http://${near}:53001/f/x/`)).toBe(false);
  }
});
