import { expect, test } from 'vitest';
import { isPlayer, isSound } from './players';

test('only the players we know are loaded', () => {
  expect(isPlayer('https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ')).toBe(true);
  expect(isPlayer('https://open.spotify.com/embed/album/x')).toBe(true);
  for (const url of [
    undefined,
    '',
    'https://www.youtube-nocookie.com.evil.test/embed/x',
    'http://player.vimeo.com/video/1',
    'javascript:alert(1)',
    'https://evil.test/?https://player.vimeo.com/video/1',
  ])
    expect(isPlayer(url), url).toBe(false);
});

test('what is only heard needs little room', () => {
  expect(isSound('https://open.spotify.com/embed/track/x')).toBe(true);
  expect(isSound('https://player.vimeo.com/video/1')).toBe(false);
});
