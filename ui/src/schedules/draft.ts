// A schedule while it is being written: from what is typed to what is asked of the server, and times in words.
import { words } from '../lib/words';
import type { Leave, Missed, Need, OnNewNeed, Schedule, Timing, Wish } from './wire';

export interface Draft {
  slug: string;
  prompt: string;
  enabled: boolean;
  kind: Timing['type'];
  expression: string;
  timezone: string;
  minutes: string;
  model: string;
  persist: boolean;
  missed: Missed;
  onNewNeed: OnNewNeed;
}

/** How much is allowed of what a schedule needs: nothing, a pattern, exactly what it was, or all. */
export type Reach = { kind: 'none' } | { kind: 'pattern'; pattern: string } | { kind: 'exactly' } | { kind: 'whole' };

export function blank(timezone: string): Draft {
  return {
    slug: '',
    prompt: '',
    enabled: true,
    kind: 'cron',
    expression: '0 8 * * *',
    timezone,
    minutes: '60',
    model: '',
    persist: true,
    missed: 'once',
    onNewNeed: 'deny-and-continue',
  };
}

export function drafted(schedule: Schedule, timezone: string): Draft {
  const draft = { ...blank(timezone), ...pick(schedule) };
  const timing = schedule.schedule;
  if (timing.type === 'interval') return { ...draft, kind: 'interval', minutes: String(timing.intervalMinutes) };
  return { ...draft, expression: timing.expression, timezone: timing.timezone ?? '' };
}

function pick({ slug, prompt, enabled, missed, onNewNeed, sessionConfig }: Schedule): Partial<Draft> {
  const { model = '', persistSession: persist } = sessionConfig;
  return { slug, prompt, enabled, missed, onNewNeed, model, persist };
}

export function timing(draft: Draft): Timing {
  if (draft.kind === 'interval') return { type: 'interval', intervalMinutes: Number(draft.minutes) };
  const timezone = draft.timezone.trim();
  return { type: 'cron', expression: draft.expression, ...(timezone && { timezone }) };
}

export function wish(draft: Draft, grants: Leave[]): Wish {
  const { prompt, enabled, missed, onNewNeed, model, persist } = draft;
  const sessionConfig = { persistSession: persist, ...(model && { model }) };
  return { prompt, enabled, schedule: timing(draft), sessionConfig, missed, onNewNeed, grants };
}

/** What could be allowed for a need, from narrow to wide. */
export function reaches(need: Need): Reach[] {
  const patterns: Reach[] = need.patterns.map((pattern) => ({ kind: 'pattern', pattern }));
  // A star in what is asked would stand for anything.
  const plain = need.subjects.length > 0 && !need.subjects.some((it) => it.includes('*'));
  const exactly: Reach[] = plain && patterns.length === 0 ? [{ kind: 'exactly' }] : [];
  return [...exactly, ...patterns, { kind: 'whole' }];
}

export function leaves(need: Need, reach: Reach): Leave[] {
  const { tool, subjects } = need;
  if (reach.kind === 'pattern') return [{ tool, pattern: reach.pattern }];
  if (reach.kind === 'exactly') return subjects.map((pattern) => ({ tool, pattern }));
  return reach.kind === 'whole' ? [{ tool }] : [];
}

/** A name that the words of a prompt suggest. */
export function suggested(prompt: string): string {
  const words = prompt.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return words.slice(0, 4).join('-').slice(0, 40);
}

/** `in 5 minutes`, `yesterday`, `on 3 March at 08:00`. */
export function near(iso: string, now: Date): string {
  const seconds = Math.round((Date.parse(iso) - now.getTime()) / 1000);
  const format = new Intl.RelativeTimeFormat(words.language, { numeric: 'auto' });
  const size = Math.abs(seconds);
  if (size < 60) return seconds < 0 ? words.schedules.justNow : words.schedules.soon;
  if (size < 3_600) return format.format(Math.trunc(seconds / 60), 'minute');
  if (size < 86_400) return format.format(Math.trunc(seconds / 3_600), 'hour');
  const days = Math.round((midnight(new Date(iso)) - midnight(now)) / 86_400_000);
  if (size < 7 * 86_400) return format.format(days, 'day');
  return words.schedules.onDay(new Date(iso).toLocaleDateString(words.language, { day: 'numeric', month: 'long' }));
}

function midnight(moment: Date): number {
  return new Date(moment).setHours(0, 0, 0, 0);
}

/** The same for what has been, also where the clock of whoever looks is behind. */
export function past(iso: string, now: Date): string {
  return near(iso, new Date(Math.max(now.getTime(), Date.parse(iso) + 1_000)));
}

/** A moment in full, as clocks in that place show it. */
export function full(iso: string, timeZone?: string): string {
  const parts = { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' } as const;
  const time = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  return new Intl.DateTimeFormat(words.language, { ...parts, ...time, ...(timeZone && { timeZone }) }).format(new Date(iso));
}

/** How long a run took, in words. */
export function lasted(started: string | null, finished: string | null): string {
  if (!started || !finished) return '';
  const seconds = Math.round((Date.parse(finished) - Date.parse(started)) / 1000);
  if (seconds < 1) return words.schedules.atOnce;
  if (seconds < 120) return words.schedules.seconds(seconds);
  return words.schedules.minutes(Math.round(seconds / 60));
}
