// What waits for the person, in words, and their answers, as the server wants them; pure.
import { HERE } from './api';
import type { Approval, Completed, Grant, Mode, Ruling } from './wire';
import { words } from './words';

export type Reach = 'view' | 'session' | 'pattern' | 'always';
export type Length = 'hour' | 'today' | 'endless';

export interface Lasting {
  reach: Reach;
  pattern: string;
  /** Where a pattern holds. */
  scope: 'view' | 'session' | 'always';
  length: Length;
}

const HIDDEN = /[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

export const modes: { mode: Mode; name: string; meaning: string }[] = (['ask', 'auto-safe', 'full'] as const).map(
  (mode) => ({ mode, ...words.modes.all[mode] }),
);

export function modeName(mode: Mode): string {
  return modes.find((it) => it.mode === mode)?.name ?? mode;
}

/** Leave that lasts, in the words of the server. */
export function lasting({ reach, pattern, scope, length }: Lasting, now: Date): Ruling {
  const expires = seconds(length, now);
  const end = expires === undefined ? {} : { expiresInSeconds: expires };
  // It ends by itself, and nobody has to say when.
  if (reach === 'view') return { decision: 'view' };
  if (reach === 'pattern') return { decision: 'pattern', pattern: pattern.trim(), scope, ...end };
  return { decision: reach, ...end };
}

export function denial(reason: string): Ruling {
  return reason.trim() ? { decision: 'deny', reason: reason.trim() } : { decision: 'deny' };
}

/** The same text with marks that are not seen, or that turn others around, written out: what is allowed must be what is read. */
export function plain(text: string): string {
  return text.replace(HIDDEN, (mark) => `\\u{${mark.codePointAt(0)!.toString(16)}}`);
}

/** Where a picture of what would be touched can be had, if something on a screen would. */
export function target({ tool, detail }: Pick<Approval, 'tool' | 'detail'>): string | undefined {
  if (!/^(computer|(mouse|keyboard)_[a-z_]+)$/.test(tool) || detail?.type !== 'arguments') return undefined;
  const { device, arguments: given } = detail.args as { device?: string; arguments?: { x?: number; y?: number; path?: number[][] } };
  if (!device) return undefined;
  const [x, y] = given?.path?.[0] ?? [given?.x, given?.y];
  const point = x === undefined || y === undefined ? {} : { x: String(x), y: String(y) };
  return `/api/desktop/target?${new URLSearchParams({ device, ...point })}`;
}

/** Who asks, for somebody who need not know how callers are written. */
export function asker(caller: string): string {
  const [kind = '', ...rest] = caller.split(':');
  const name = rest.join(':');
  const known: Record<string, (name: string) => string> = words.approvals.who;
  return Object.hasOwn(known, kind) ? known[kind]!(name) : caller;
}

/** How long an answer is still waited for. */
export function left(until: string | undefined, now: number): string {
  if (!until) return '';
  const minutes = (new Date(until).getTime() - now) / 60_000;
  const text = words.approvals.left;
  if (minutes <= 0) return text.over;
  if (minutes < 1) return text.little;
  return minutes < 90 ? text.minutes(Math.floor(minutes)) : text.hours(Math.round(minutes / 60));
}

/** What came of a question, and where it was answered. */
export function outcome({ verdict, scope, by }: Completed): string {
  if (verdict === 'expired' || verdict === 'withdrawn') return words.approvals.outcome[verdict];
  return `${settled(verdict, scope)} ${where(by)}`;
}

export function where(by: string): string {
  const text = words.approvals.outcome;
  if (by === HERE || by === 'the terminal') return text.at(by);
  return by ? text.by(by) : text.elsewhere;
}

/** How far a grant reaches and how long it holds, beside its tool and its pattern. */
export function terms({ caller, forView, sessionId, scheduleSlug, expiresAt }: Grant, sessionName: string, now: Date): string {
  const text = words.approvals.terms;
  const somewhere = sessionId ? text.inSession(sessionName) : text.inAll;
  const place = scheduleSlug ? words.schedules.inRuns(scheduleSlug) : somewhere;
  if (forView) return text.whole(asker(caller), place, text.whileShown);
  return text.whole(asker(caller), place, expiresAt ? text.until(moment(new Date(expiresAt), now)) : text.endless);
}

function settled(verdict: Completed['verdict'], scope: Completed['scope']): string {
  const text = words.approvals.outcome;
  if (verdict === 'denied' || verdict === 'answered') return text[verdict];
  return scope ? text[scope] : text.once;
}

function seconds(length: Length, now: Date): number | undefined {
  if (length === 'endless') return undefined;
  if (length === 'hour') return 3600;
  const midnight = new Date(now);
  midnight.setHours(24, 0, 0, 0);
  return Math.max(60, Math.round((midnight.getTime() - now.getTime()) / 1000));
}

function moment(then: Date, now: Date): string {
  const time = then.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  if (then.toDateString() === now.toDateString()) return time;
  return `${then.toLocaleDateString(undefined, { day: 'numeric', month: 'short', year: 'numeric' })}, ${time}`;
}
