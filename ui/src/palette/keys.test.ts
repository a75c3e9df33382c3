import { expect, test } from 'vitest';
import { Ear, PATIENCE, pressed, written } from './keys';

const known = ['?', 'n', 'g a', 'g m', 'mod+k'];

function heard(...presses: [string, number][]) {
  const ear = new Ear();
  return presses.map(([key, at]) => ear.hear(key, known, at));
}

test('one key, and one after the other', () => {
  expect(heard(['n', 0], ['g', 1], ['a', 2], ['?', 3])).toEqual(['n', undefined, 'g a', '?']);
});

test('a second key that comes late stands for itself', () => {
  expect(heard(['g', 0], ['a', PATIENCE])).toEqual([undefined, undefined]);
  expect(heard(['g', 0], ['n', PATIENCE])).toEqual([undefined, 'n']);
});

test('a second key that means nothing there stands for itself', () => {
  expect(heard(['g', 0], ['n', 1], ['a', 2])).toEqual([undefined, 'n', undefined]);
});

test('what was pressed has one name on every machine', () => {
  const press = (key: string, more = {}) => pressed({ key, ctrlKey: false, metaKey: false, altKey: false, ...more });
  expect(press('K', { metaKey: true })).toBe('mod+k');
  expect(press('k', { ctrlKey: true })).toBe('mod+k');
  expect(press('?')).toBe('?');
  expect([press('Shift'), press('@', { altKey: true })]).toEqual(['', '']);
});

test('keys are written as the machine has them', () => {
  expect(written('mod+k', false)).toEqual(['Ctrl K']);
  expect(written('mod+k', true)).toEqual(['⌘K']);
  expect(written('N')).toEqual(['Shift N']);
  expect(written('g a', false)).toEqual(['G', 'A']);
});
