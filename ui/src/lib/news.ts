// What happened while the person was away, as far as it must be remembered from one look to the next; pure.
import type { Schedule } from '../schedules/wire';
import type { OpenTask } from './wire';

export interface Memory {
  /** When everything was marked as seen. */
  seen: string;
  /** Plans that were under way when last looked. */
  open: OpenTask[];
  /** Those that came to an end since, and were not seen yet. */
  ended: OpenTask[];
}

/** More than anybody reads. */
const MOST = 50;

export const blank: Memory = { seen: '', open: [], ended: [] };

/** What is known after another look; what ended in the session that is being watched is no news. */
export function looked(memory: Memory, open: OpenTask[], watched: string): Memory {
  const still = new Set(open.map(({ id }) => id));
  const gone = memory.open.filter(({ id }) => !still.has(id));
  const all = [...memory.ended, ...gone].filter(({ sessionId }) => sessionId !== watched);
  const plain = open.map(({ id, sessionId, title }) => ({ id, sessionId, title }));
  return { ...memory, open: plain, ended: all.slice(-MOST) };
}

/** Schedules whose last run failed, and not before everything was seen. */
export function failures(schedules: Schedule[], seen: string): Schedule[] {
  return schedules.filter((it) => it.lastResult === 'error' && (it.lastRun ?? '') > seen);
}

export function marked(memory: Memory, now: Date): Memory {
  return { ...memory, seen: now.toISOString(), ended: [] };
}

/** What was kept, or nothing if it cannot be read. */
export function read(text: string | null): Memory {
  try {
    const { seen, open, ended } = JSON.parse(text ?? '') as Partial<Memory>;
    const isWhole = typeof seen === 'string' && Array.isArray(open) && Array.isArray(ended);
    return isWhole ? { seen, open, ended } : blank;
  } catch {
    return blank;
  }
}
