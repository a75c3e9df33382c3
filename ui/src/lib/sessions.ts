// The list of sessions as it is read: pure arranging and naming.
import type { SessionItem, SessionsAnswer } from './wire';

export interface Group {
  folder: string;
  label: string;
  sessions: SessionItem[];
}

export function flat(answer: SessionsAnswer): SessionItem[] {
  return Object.values(answer.grouped).flat();
}

/** By folder; in each the newest first, and the folder with the newest session first. */
export function grouped(sessions: SessionItem[]): Group[] {
  const newestFirst = sessions.toSorted((a, b) => (b.updatedAt ?? '').localeCompare(a.updatedAt ?? ''));
  const groups = new Map<string, Group>();
  for (const session of newestFirst) {
    const folder = session.cwd ?? '(unknown)';
    const group = groups.get(folder) ?? { folder, label: lastPart(folder), sessions: [] };
    group.sessions.push(session);
    groups.set(folder, group);
  }
  return [...groups.values()];
}

export function patched(sessions: SessionItem[], id: string, change: Partial<SessionItem>): SessionItem[] {
  return sessions.map((session) => (session.sessionId === id ? { ...session, ...change } : session));
}

export function title(session: SessionItem | undefined): string {
  return session?.name || session?.summary || 'New session';
}

/** The time of day for today, the date for anything older. */
export function when(updatedAt: string | null, now: Date): string {
  if (!updatedAt) return '';
  const then = new Date(updatedAt);
  const today = then.toDateString() === now.toDateString();
  const sameYear = then.getFullYear() === now.getFullYear();
  if (today) return then.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  return then.toLocaleDateString(
    undefined,
    sameYear ? { day: 'numeric', month: 'short' } : { month: 'short', year: 'numeric' },
  );
}

export function lastPart(folder: string): string {
  return folder.split(/[\\/]/).findLast((part) => part !== '') ?? folder;
}

/** How full the context is, in words; nothing where that is not known. */
export function filling(remaining: number | null | undefined): string {
  if (remaining === null || remaining === undefined) return '';
  const percent = (1 - remaining) * 100;
  if (percent > 0 && percent < 1) return '<1 %';
  return `${Math.round(percent)} %`;
}

/** What was spent, in words; nothing where prices are not known. */
export function money(dollars: number | undefined): string {
  if (!dollars) return '';
  return dollars < 0.01 ? '<$0.01' : `$${dollars.toFixed(2)}`;
}
