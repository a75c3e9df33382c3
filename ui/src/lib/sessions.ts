// The list of sessions as it is read: pure arranging and naming.
import type { SessionItem, SessionsAnswer } from './wire';
import { words } from './words';

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
    const folder = session.cwd ?? words.sessions.nowhere;
    const group = groups.get(folder) ?? { folder, label: lastPart(tilde(folder)), sessions: [] };
    group.sessions.push(session);
    groups.set(folder, group);
  }
  return [...groups.values()];
}

export function patched(sessions: SessionItem[], id: string, change: Partial<SessionItem>): SessionItem[] {
  return sessions.map((session) => (session.sessionId === id ? { ...session, ...change } : session));
}

export function title(session: SessionItem | undefined): string {
  return session?.name || session?.summary || words.sessions.fresh;
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

/** When a schedule runs next, in short. */
export function nextRun(at: string | null, now: Date): string {
  return at ? when(at, now) : '';
}

/** Those whose name, folder, intent or summary has every word that is sought. */
export function found(sessions: SessionItem[], sought: string): SessionItem[] {
  const wanted = sought.toLowerCase().split(/\s+/).filter(Boolean);
  if (wanted.length === 0) return sessions;
  return sessions.filter((it) => {
    const text = [title(it), it.name, it.cwd, it.currentIntent, it.summary].join('\n').toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}

/** A path with the person's own folder written short. */
export function tilde(folder: string): string {
  return folder.replace(/^(\/home\/[^/]+|\/Users\/[^/]+|\/root|[A-Za-z]:\\Users\\[^\\]+)(?=[\\/]|$)/, '~');
}

/** Where a folder lies, written short. */
export function parentOf(folder: string): string {
  const short = tilde(folder);
  const end = Math.max(short.lastIndexOf('/'), short.lastIndexOf('\\'));
  return end > 0 ? short.slice(0, end) : '';
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
