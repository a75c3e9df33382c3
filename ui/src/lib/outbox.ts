// Messages that were written and not yet taken: kept across reloads, sent in order and by one tab at a time.
import { Refused } from './api';
import type { AcceptedAnswer } from './wire';

export interface Letter {
  /** Its idempotency key: however often it is sent, it is said once. */
  key: string;
  /** Where it goes; a name of our own while the session has yet to be made. */
  sessionId: string;
  text: string;
  /** Pictures that go along, as `data:` addresses. */
  images?: string[];
  /** Who answers in a session that has yet to be made. */
  model: string;
  /** Letters go in this order. */
  at: number;
  /** Why the server would not have it. It stays until the person decides. */
  refused?: string;
  /** What the server did with it: a last word to other tabs before the letter goes. */
  taken?: 'said' | 'queued';
}

export interface Shelf {
  all(): Letter[];
  put(letter: Letter): void;
  remove(key: string): void;
}

/** What the outbox needs of the world; tests bring their own. */
export interface Post {
  /** Brings a letter to the server; may rename where it goes. */
  deliver(letter: Letter): Promise<AcceptedAnswer>;
  /** Runs something while no other tab does. */
  alone(run: () => Promise<void>): Promise<void>;
  /** Waits before another try, or until something changes. */
  pause(attempts: number): Promise<void>;
  accepted(letter: Letter, answer: AcceptedAnswer): void;
  held(letter: Letter, error: unknown): void;
  refused(letter: Letter, error: unknown): string;
}

export class Outbox {
  private running = false;

  constructor(
    private shelf: Shelf,
    private post: Post,
  ) {}

  /** What waits, in order; what was refused waits for the person. */
  letters(): Letter[] {
    return this.shelf.all().toSorted((a, b) => a.at - b.at || a.key.localeCompare(b.key));
  }

  write(letter: Omit<Letter, 'at'>, now: number) {
    const last = this.letters().at(-1)?.at ?? 0;
    this.shelf.put({ ...letter, at: Math.max(now, last + 1) });
    void this.run();
  }

  remove(key: string) {
    this.shelf.remove(key);
  }

  /** The session has been made: whatever was meant for it goes there. */
  forward(from: string, sessionId: string) {
    for (const letter of this.letters()) if (letter.sessionId === from) this.shelf.put({ ...letter, sessionId });
  }

  /** Nothing is sent to a session that is gone. */
  forget(sessionId: string) {
    for (const letter of this.letters()) if (letter.sessionId === sessionId) this.shelf.remove(letter.key);
  }

  /** Clears away what a page that ended in the middle of it has left. */
  tidy() {
    for (const letter of this.letters()) if (letter.taken) this.shelf.remove(letter.key);
  }

  /** Sends what waits, until nothing does. */
  async run() {
    if (this.running) return;
    this.running = true;
    try {
      while (this.next()) await this.post.alone(() => this.empty());
    } finally {
      this.running = false;
    }
  }

  private next(): Letter | undefined {
    return this.letters().find((letter) => letter.refused === undefined && letter.taken === undefined);
  }

  private async empty() {
    for (let attempts = 0; ;) {
      const letter = this.next();
      if (!letter) return;
      if (await this.sent(letter)) attempts = 0;
      else await this.post.pause(attempts++);
    }
  }

  private async sent(letter: Letter): Promise<boolean> {
    try {
      const answer = await this.post.deliver(letter);
      this.shelf.put({ ...letter, taken: answer.queued ? 'queued' : 'said' });
      this.shelf.remove(letter.key);
      this.post.accepted(letter, answer);
      return true;
    } catch (error) {
      if (passing(error)) {
        this.post.held(letter, error);
        return false;
      }
      const refused = this.post.refused(letter, error);
      // It may have been taken out meanwhile.
      const kept = this.letters().find((it) => it.key === letter.key);
      if (kept) this.shelf.put({ ...kept, refused });
      return true;
    }
  }
}

/** No network, nobody behind the gateway, too much at once, or signed out: none of them says no to the message. */
function passing(error: unknown): boolean {
  return !(error instanceof Refused) || [401, 429, 502, 503, 504].includes(error.status);
}
