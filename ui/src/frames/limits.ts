// How much a frame may say: so many messages, each so large, and what happens when it does not stop.

/** A little less than the server takes. */
const AT_ONCE = 200;
const A_SECOND = 50;
/** So many messages too many in a row, and the frame is put out. */
export const FLOOD = 2000;
/** In bytes; with its envelope it fits a frame of the socket. */
export const MESSAGE_BYTES = 1_000_000;

export type Verdict = 'fine' | 'too fast' | 'still too fast' | 'flood';

export class Allowance {
  private left = AT_ONCE;
  private refused = 0;

  /** @param at when it begins, in milliseconds */
  constructor(private at: number) {}

  spend(now: number): Verdict {
    this.left = Math.min(AT_ONCE, this.left + (Math.max(0, now - this.at) / 1000) * A_SECOND);
    this.at = now;
    if (this.left >= 1) {
      this.left -= 1;
      // One that fits in between is no change of heart.
      if (this.left > AT_ONCE / 2) this.refused = 0;
      return 'fine';
    }
    this.refused += 1;
    if (this.refused >= FLOOD) return 'flood';
    return this.refused === 1 ? 'too fast' : 'still too fast';
  }
}

/** A message as JSON, or what is wrong with it. */
export function written(message: unknown): { text: string } | { error: string } {
  let text: string | undefined;
  try {
    text = JSON.stringify(message);
  } catch {
    return { error: 'a message must be plain data, as JSON can carry it' };
  }
  if (text === undefined) return { error: 'a message must be plain data, as JSON can carry it' };
  if (!fits(text)) return { error: `a message may have ${MESSAGE_BYTES} bytes at most` };
  return { text };
}

function fits(text: string): boolean {
  if (text.length > MESSAGE_BYTES) return false;
  // No character takes more than three bytes for each of its units.
  return text.length * 3 <= MESSAGE_BYTES || new TextEncoder().encode(text).length <= MESSAGE_BYTES;
}

const FLAGS = ['allow-scripts', 'allow-forms', 'allow-popups', 'allow-modals', 'allow-downloads'];

/** Only what frames may ever have, whatever anybody says: above all no origin. */
export function flags(sandbox: string): string {
  return sandbox
    .split(/\s+/)
    .filter((flag) => FLAGS.includes(flag))
    .join(' ');
}
