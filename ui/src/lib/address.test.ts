import { expect, test } from 'vitest';
import { address, read } from './address';

test('what an address says is read, and what it does not say is the start', () => {
  expect(read('')).toEqual({ sessionId: '', view: 'chat' });
  expect(read('?session=a&view=models')).toEqual({ sessionId: 'a', view: 'models' });
  expect(read('?view=nowhere')).toEqual({ sessionId: '', view: 'chat' });
});

test('what belongs to others stays in the address', () => {
  expect(address('a b', 'chat', '?applet=calc&session=old&view=models&applet=clock')).toBe(
    '/?session=a+b&applet=calc&applet=clock',
  );
  expect(address('', 'chat', '?session=old')).toBe('/');
  expect(address('a', 'tools')).toBe('/?session=a&view=tools');
});
