// What must hold of the list: folders, order and names.
import { expect, test } from 'vitest';
import { filling, found, grouped, money, parentOf, tilde, title } from './sessions';
import type { SessionItem } from './wire';

const session = (
  sessionId: string,
  cwd: string | null,
  updatedAt: string | null,
  more: Partial<SessionItem> = {},
): SessionItem => ({
  ...{
    sessionId,
    cwd,
    updatedAt,
    model: null,
    mode: 'ask',
    name: '',
    summary: null,
    isBusy: false,
    isUnobserved: false,
  },
  ...{ currentIntent: null, scheduleSlug: null, scheduleNextRun: null },
  ...more,
});

test('sessions are grouped by folder, the newest first in both', () => {
  const groups = grouped([
    session('old', '/home/u/a', '2026-01-01T00:00:00.000Z'),
    session('newest', '/home/u/b', '2026-01-03T00:00:00.000Z'),
    session('newer', '/home/u/a', '2026-01-02T00:00:00.000Z'),
    session('lost', null, null),
  ]);
  expect(groups.map((it) => [it.label, it.sessions.map((one) => one.sessionId)])).toEqual([
    ['b', ['newest']],
    ['a', ['newer', 'old']],
    ['(unknown)', ['lost']],
  ]);
});

test('a session is called by its name, else by its summary, else new', () => {
  expect(title(session('S', null, null, { name: 'Mine', summary: 'About' }))).toBe('Mine');
  expect(title(session('S', null, null, { summary: 'About' }))).toBe('About');
  expect(title(session('S', null, null))).toBe('New session');
});

test('how full the context is reads as a share', () => {
  expect([1, 0.999, 0.88, 0.005, 0].map(filling)).toEqual(['0 %', '<1 %', '12 %', '100 %', '100 %']);
  expect([filling(null), filling(undefined)]).toEqual(['', '']);
});

test('money is shown where there is any', () => {
  expect([undefined, 0, 0.001, 0.015, 12].map(money)).toEqual(['', '', '<$0.01', '$0.01', '$12.00']);
});


test('sessions are found by every word, wherever it stands', () => {
  const all = [
    session('poem', '/srv/verse', null, { name: 'Rain', summary: 'A poem about rain' }),
    session('bread', '/srv/kitchen', null, { currentIntent: 'Kneading' }),
  ];
  const ids = (sought: string) => found(all, sought).map((it) => it.sessionId);
  expect(ids('')).toEqual(['poem', 'bread']);
  expect(ids('VERSE poem')).toEqual(['poem']);
  expect(ids('kneading')).toEqual(['bread']);
  expect(ids('poem kitchen')).toEqual([]);
});

test('the own folder of a person is written short', () => {
  expect(tilde('/home/nestor/ships')).toBe('~/ships');
  expect(tilde('/Users/nestor')).toBe('~');
  expect(tilde('/homestead')).toBe('/homestead');
  expect(tilde('C:\\Users\\nestor\\ships')).toBe('~\\ships');
  expect([parentOf('/home/nestor/work/ships'), parentOf('/srv'), parentOf('(unknown)')]).toEqual(['~/work', '', '']);
});
