// That pictures are read as they were written, and that half of one is not taken for a whole.
import { expect, test } from 'vitest';
import { kind, read } from './picture';

const bytes = [0, 0, 0, 7, 0, 2, 0, 1, 0, 2, 0, 3, 0, 4, 0, 0, 0, 2, 0x89, 0x50, 1, 0, 0, 0, 0, 9, 0, 9, 0, 0, 0, 1, 0xff];

test('a picture has its number and its parts', () => {
  const { frame, parts } = read(new Uint8Array(bytes).buffer);
  expect(frame).toBe(7);
  expect(parts.map(({ x, y, w, h }) => [x, y, w, h])).toEqual([
    [1, 2, 3, 4],
    [256, 0, 9, 9],
  ]);
  expect(parts.map((part) => [...part.bytes])).toEqual([[0x89, 0x50], [0xff]]);
  expect(parts.map(kind)).toEqual(['image/png', 'image/jpeg']);
});

test('half of a picture is none', () => {
  for (const length of [3, 10, 19, bytes.length - 1])
    expect(() => read(new Uint8Array(bytes.slice(0, length)).buffer)).toThrow(RangeError);
});
