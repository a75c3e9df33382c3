import { expect, test } from 'vitest';
import { pieces } from './pieces';

test('a sentence comes apart where something else stands in it', () => {
  expect(pieces('In {session}, {who} asks.')).toEqual([
    { text: 'In ', slot: '' },
    { text: '', slot: 'session' },
    { text: ', ', slot: '' },
    { text: '', slot: 'who' },
    { text: ' asks.', slot: '' },
  ]);
});

test('a sentence without places stays whole, and nothing gives nothing', () => {
  expect(pieces('As { it } is')).toEqual([{ text: 'As { it } is', slot: '' }]);
  expect(pieces('')).toEqual([]);
});
