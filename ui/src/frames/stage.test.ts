import { expect, test } from 'vitest';
import { dimensions, fitting, news, surroundings } from './stage';

const box = { width: 640.4, height: 900 };

test('a widget chooses its height within the conversation, and fills its place elsewhere', () => {
  expect(dimensions('inline', box)).toEqual({ width: 640, maxHeight: 800 });
  expect(dimensions('fullscreen', box)).toEqual({ width: 640, height: 900 });
});

test('only what is different is told again', () => {
  const look = { theme: 'light', styles: { '--font-sans': 'a' } } as never;
  const before = surroundings(look, 'inline', box);
  expect(news(before, surroundings(look, 'inline', { ...box, height: 3 }))).toBeUndefined();
  expect(news(before, surroundings(look, 'pip', box))).toEqual({
    displayMode: 'pip',
    containerDimensions: { width: 640, height: 900 },
  });
  expect(news({}, before)).toEqual(before);
});

test('no height that is asked for leaves its bounds', () => {
  expect([-5, 0, 63.2, 100.1, 1e9].map(fitting)).toEqual([64, 64, 64, 101, 800]);
});
