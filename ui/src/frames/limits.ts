// How much a frame may say: so many messages, each so large, and what happens when it does not stop.

/** A little less than the server takes. */
const AT_ONCE = 200;
const A_SECOND = 50;
/** So many messages too many in a row, and the frame is put out. */
export const FLOOD = 2000;
/** In bytes; with its envelope it fits a frame of the socket. */
export const MESSAGE_BYTES = 1_000_000;

/** The same for what an app answers, which may be much. */
const REPLY_BYTES = 4_000_000;

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

/** An answer as JSON, or what whoever asked is told instead. */
export function writtenReply(response: unknown): { text: string } | { error: string } {
  const tooMuch = `the app's reply is larger than ${REPLY_BYTES} bytes; ask for less of it at a time`;
  return written(response, REPLY_BYTES, tooMuch);
}

/** A message as JSON, or what is wrong with it. */
export function written(
  message: unknown,
  most = MESSAGE_BYTES,
  tooMuch = `a message may have ${MESSAGE_BYTES} bytes at most`,
): { text: string } | { error: string } {
  let text: string | undefined;
  try {
    text = JSON.stringify(message);
  } catch {
    return { error: 'a message must be plain data, as JSON can carry it' };
  }
  if (text === undefined) return { error: 'a message must be plain data, as JSON can carry it' };
  if (!fits(text, most)) return { error: tooMuch };
  return { text };
}

function fits(text: string, most: number): boolean {
  if (text.length > most) return false;
  // No character takes more than three bytes for each of its units.
  return text.length * 3 <= most || new TextEncoder().encode(text).length <= most;
}

const FLAGS = ['allow-scripts', 'allow-forms', 'allow-popups', 'allow-modals', 'allow-downloads'];

/** Only what frames may ever have, whatever anybody says: above all no origin. */
export function flags(sandbox: string): string {
  return sandbox
    .split(/\s+/)
    .filter((flag) => FLAGS.includes(flag))
    .join(' ');
}
