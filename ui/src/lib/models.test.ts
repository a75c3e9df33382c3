// How models are arranged.
import { expect, test } from 'vitest';
import { offered, shortName, withUsed } from './models';

const model = (id: string, name = id, payer?: string) => ({ id, name, cost: 0, ...(payer ? { payer } : {}) });
const all = [
  model('demo', 'Demo (built in)'),
  model('box/small', 'small (box)'),
  model('box/large', 'large (box)'),
  model('far/big', 'Big', 'you'),
];
const ids = (asked: string) => offered(all, asked).map(({ name, models }) => [name, models.map(({ id }) => id)]);

test('models stand under their provider', () => {
  expect(ids('')).toEqual([
    ['', ['demo']],
    ['box', ['box/small', 'box/large']],
    ['far', ['far/big']],
  ]);
  expect(all.map(shortName)).toEqual(['Demo (built in)', 'small', 'large', 'Big']);
});

test('every word that is asked for must occur', () => {
  expect(ids(' LARGE box')).toEqual([['box', ['box/large']]]);
  expect(ids('large demo')).toEqual([]);
});

test('the one in use is there even if no list has it', () => {
  expect(withUsed(all, 'gone/away')[0]).toEqual({ id: 'gone/away', name: 'gone/away', cost: 0 });
  expect(withUsed(all, 'demo')).toBe(all);
});
