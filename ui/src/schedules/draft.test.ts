// What is typed becomes what is asked for, and times become words.
import { expect, test } from 'vitest';
import { blank, drafted, full, lasted, leaves, near, past, reaches, suggested, timing, wish } from './draft';
import type { Need, Schedule } from './wire';

const schedule: Schedule = {
  slug: 'a',
  prompt: 'p',
  enabled: false,
  schedule: { type: 'interval', intervalMinutes: 5 },
  sessionConfig: { model: 'm', persistSession: false },
  lastRun: null,
  lastResult: null,
  lastError: null,
  nextRun: null,
  sessionId: null,
  running: false,
  missed: 'all',
  onNewNeed: 'end',
};
const need: Need = {
  tool: 'shell',
  title: 'Running it',
  risk: 'runs',
  detail: { type: 'arguments', args: {} },
  subjects: ['git add .', 'rm a'],
  patterns: [],
};

test('a schedule that is edited and saved stays what it was', () => {
  const { prompt, enabled, sessionConfig, missed, onNewNeed } = schedule;
  const saved = { prompt, enabled, schedule: schedule.schedule, sessionConfig, missed, onNewNeed, grants: [] };
  expect(wish(drafted(schedule, 'UTC'), [])).toEqual(saved);
});

test('without a zone the server goes by its own', () => {
  const draft = { ...blank('Europe/Berlin'), expression: '@daily' };
  expect(timing(draft)).toEqual({ type: 'cron', expression: '@daily', timezone: 'Europe/Berlin' });
  expect(timing({ ...draft, timezone: ' ' })).toEqual({ type: 'cron', expression: '@daily' });
});

test('what no one pattern covers is allowed piece by piece, or altogether', () => {
  expect(reaches(need)).toEqual([{ kind: 'exactly' }, { kind: 'whole' }]);
  expect(leaves(need, { kind: 'exactly' })).toEqual([
    { tool: 'shell', pattern: 'git add .' },
    { tool: 'shell', pattern: 'rm a' },
  ]);
  expect(leaves(need, { kind: 'whole' })).toEqual([{ tool: 'shell' }]);
  expect(leaves(need, { kind: 'none' })).toEqual([]);
  expect(reaches({ ...need, subjects: ['rm *'] })).toEqual([{ kind: 'whole' }]);
});

test('a name is made of the first words', () => {
  expect(suggested('Summarise the news, please; and more')).toBe('summarise-the-news-please');
  expect(suggested('…')).toBe('');
});

test('times are told in words', () => {
  const now = new Date('2026-02-01T10:00:00Z');
  expect(near('2026-02-01T10:00:30Z', now)).toBe('in a moment');
  expect(past('2026-02-01T10:00:30Z', now)).toBe('just now');
  expect(past('2026-02-01T08:00:00Z', now)).toBe('2 hours ago');
  expect(near('2026-02-01T10:05:00Z', now)).toBe('in 5 minutes');
  expect(near('2026-02-01T08:00:00Z', now)).toBe('2 hours ago');
  expect(near('2026-01-31T09:00:00Z', now)).toBe('yesterday');
  expect(near('2026-02-03T10:30:00Z', new Date('2026-02-01T18:00:00Z'))).toBe('in 2 days');
  expect(near('2026-03-01T12:00:00Z', now)).toBe('on March 1');
  expect(full('2026-03-29T01:00:00Z', 'Europe/Berlin')).toBe('Sun, Mar 29, 2026, 03:00');
  expect(lasted('2026-02-01T10:00:00Z', '2026-02-01T10:01:30Z')).toBe('90 s');
  expect(lasted('2026-02-01T10:00:00Z', null)).toBe('');
});
