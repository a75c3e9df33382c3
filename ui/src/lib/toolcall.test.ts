// How calls of tools are named.
import { expect, test } from 'vitest';
import { gist, readable } from './toolcall';

test('names of tools become words, and names that are more than words stay', () => {
  expect(['list_directory', 'web-fetch', 'shell', 'files.look', 'getWeather', '<b>'].map(readable)).toEqual([
    'List directory',
    'Web fetch',
    'Shell',
    'files.look',
    'getWeather',
    '<b>',
  ]);
  expect(readable('widget__113e3__set-allocation')).toBe('Set allocation');
});

test('what a call was given fits in a line', () => {
  expect(gist({ path: 'a\n b', deep: { x: 1 } })).toBe('a b, {"x":1}');
  expect(gist(undefined)).toBe('');
  expect(gist('x'.repeat(500))).toHaveLength(200);
  expect(gist({ text: 'x'.repeat(500) })).toHaveLength(200);
});
