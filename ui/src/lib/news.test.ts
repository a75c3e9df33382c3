import { expect, test } from 'vitest';
import type { Schedule } from '../schedules/wire';
import { blank, failures, looked, marked, read, type Memory } from './news';

const task = (id: string, sessionId = 's') => ({ id, sessionId, title: `Plan ${id}` });

test('a plan that is no longer under way came to an end', () => {
  const first = looked(blank, [task('a'), task('b')], '');
  expect(first).toEqual({ seen: '', open: [task('a'), task('b')], ended: [] });
  const second = looked(first, [task('b'), task('c')], '');
  expect(second).toEqual({ seen: '', open: [task('b'), task('c')], ended: [task('a')] });
  expect(looked(second, [task('b')], '').ended).toEqual([task('a'), task('c')]);
});

test('what ends before the eyes of the person is no news, and what they went to see is none any more', () => {
  const before: Memory = { seen: '', open: [task('a', 'x'), task('b', 'y')], ended: [task('c', 'x')] };
  expect(looked(before, [], 'x').ended).toEqual([task('b', 'y')]);
});

test('a schedule that failed is news until all was seen, and again when it fails again', () => {
  const schedule = (slug: string, lastResult: string | null, lastRun: string | null) =>
    ({ slug, lastResult, lastRun }) as Schedule;
  const all = [
    schedule('good', 'success', '2026-03-02T08:00:00Z'),
    schedule('old', 'error', '2026-03-01T08:00:00Z'),
    schedule('new', 'error', '2026-03-02T08:00:00Z'),
    schedule('never', null, null),
  ];
  const slugs = (seen: string) => failures(all, seen).map(({ slug }) => slug);
  expect(slugs('')).toEqual(['old', 'new']);
  expect(slugs('2026-03-01T12:00:00.000Z')).toEqual(['new']);
  expect(slugs(marked(blank, new Date('2026-03-03')).seen)).toEqual([]);
});

test('what cannot be read is as if nothing had been kept', () => {
  const memory: Memory = { seen: '2026', open: [task('a')], ended: [] };
  expect(read(JSON.stringify(memory))).toEqual(memory);
  for (const text of [null, '', 'no', '{}', '[]', 'null', '{"seen":1,"open":[],"ended":[]}']) expect(read(text)).toEqual(blank);
});
