// How numbers are spelt.
import { expect, test } from 'vitest';
import { count, dollars, duration } from './spell';

test('durations are as exact as they are short', () => {
  expect([0, 340, 9_949, 12_900, 61_000, 3_725_000, -5].map(duration)).toEqual([
    '<0.1 s',
    '0.3 s',
    '9.9 s',
    '12 s',
    '1 min 1 s',
    '1 h 2 min',
    '<0.1 s',
  ]);
});

test('tokens are counted in thousands and millions', () => {
  expect([0, 999, 1000, 12_345, 200_000, 999_999, 1_048_576].map(count)).toEqual([
    '0',
    '999',
    '1k',
    '12.3k',
    '200k',
    '1M',
    '1M',
  ]);
});

test('prices keep their cents', () => {
  expect([0, 0.00001, 0.0012, 0.075, 0.5, 3, 15.5].map(dollars)).toEqual([
    '$0',
    '<$0.0001',
    '$0.0012',
    '$0.075',
    '$0.50',
    '$3.00',
    '$15.50',
  ]);
});
