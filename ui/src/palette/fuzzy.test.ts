import { expect, test } from 'vitest';
import { fit, matching } from './fuzzy';

const find = (query: string, all: string[]) => matching(query, all, (it) => it);

test('letters in order are enough, and whole words come first', () => {
  const all = ['Go to: Models', 'Rename this session', 'Theme: Dark', 'Delete this session'];
  expect(find('rnm', all)).toEqual(['Rename this session']);
  expect(find('ses del', all)).toEqual(['Delete this session']);
  expect(find('de', all)[0]).toBe('Delete this session');
});

test('without a query everything stays in its order', () => {
  expect(find('  ', ['b', 'a'])).toEqual(['b', 'a']);
});

test('what has not all the letters does not fit', () => {
  expect(fit('xyz', 'Rename')).toBe(undefined);
});

test('of two that fit as well the shorter one is first', () => {
  expect(find('model', ['Models of the house', 'Models'])).toEqual(['Models', 'Models of the house']);
});
