// The sessions that were looked at, and the letters the person writes to them.
import * as api from './api';
import { marked, posted, withdrawn, type Conversation, type Waiting } from './conversation';
import { Outbox, type Letter } from './outbox';
import { Patience } from './patience';
import { alone, BrowserShelf } from './shelf';
import { Thread } from './thread.svelte';
import type { AcceptedAnswer, CreatedAnswer } from './wire';

/** How many sessions stay at hand besides the one on show. */
const AT_HAND = 6;
/** The beginning of a session's name before it is made. */
const UNMADE = 'new:';

export interface Host {
  /** What went wrong, in words. */
  explain(error: unknown): string;
  /** A session was made to write to. */
  created(session: CreatedAnswer): void;
  /** What was chosen for a session before this has reached the server, or never will. */
  settled(): Promise<unknown>;
  /** What was the start page's has become this session's. */
  made(thread: Thread): void;
}

export class Threads {
  readonly patience = new Patience();
  /** By session; the start page has the empty name. The one that was looked at last comes last. */
  private threads = new Map<string, Thread>();
  /** Letters that were written on this page, since it was loaded. */
  private ours = new Set<string>();
  private outbox = new Outbox(new BrowserShelf((key, letter) => this.shelved(key, letter)), {
    deliver: (letter) => this.deliver(letter),
    alone,
    pause: (attempts) => this.patience.pause(attempts),
    accepted: (letter, answer) => this.accepted(letter, answer),
    held: (letter, error) => this.mark(letter.key, 'sending', this.host.explain(error)),
    refused: (letter, error) => this.mark(letter.key, 'failed', this.host.explain(error)),
  });

  constructor(private host: Host) {}

  /** Sends what was written before the page was loaded. */
  start() {
    this.outbox.tidy();
    void this.outbox.run();
  }

  of(id: string): Thread {
    const thread = this.threads.get(id) ?? this.unfolded(id);
    this.threads.delete(id);
    this.threads.set(id, thread);
    const [oldest] = this.threads.keys();
    if (this.threads.size > AT_HAND + 1) this.threads.delete(oldest!);
    return thread;
  }

  write(thread: Thread, { text, images }: { text: string; images: string[] }, model: string) {
    const key = api.newKey();
    this.ours.add(key);
    thread.change((it) => posted(it, key, text, images));
    this.outbox.write({ key, sessionId: thread.id, text, images, model }, Date.now());
  }

  discard(key: string) {
    this.outbox.remove(key);
    this.withdraw(key);
  }

  /** A session that is gone is written to no more. */
  forget(id: string) {
    this.threads.delete(id);
    this.outbox.forget(id);
  }

  /** With what was written to it before the page was loaded. */
  private unfolded(id: string): Thread {
    const letters = this.outbox.letters();
    const unmade = letters.find((letter) => letter.sessionId.startsWith(UNMADE))?.sessionId;
    const thread = new Thread(id || (unmade ?? UNMADE + api.newKey()));
    if (!id) thread.isNew();
    for (const letter of letters) if (letter.sessionId === thread.id) thread.change((it) => showing(it, letter));
    return thread;
  }

  private async deliver(letter: Letter): Promise<AcceptedAnswer> {
    let { sessionId } = letter;
    if (sessionId.startsWith(UNMADE)) {
      const created = await api.create(letter.model);
      this.host.created(created);
      this.outbox.forward(sessionId, created.sessionId);
      this.made(sessionId, created.sessionId);
      sessionId = created.sessionId;
    }
    await this.host.settled();
    return api.say(sessionId, { prompt: letter.text, images: letter.images ?? [] }, letter.key);
  }

  private made(name: string, id: string) {
    const thread = this.threads.get('');
    if (thread?.id !== name) return;
    this.threads.delete('');
    this.threads.set(id, thread);
    thread.id = id;
    this.host.made(thread);
  }

  private accepted({ key }: Letter, { queued }: AcceptedAnswer) {
    if (queued) this.mark(key, 'waiting');
    // What was written before the page was loaded may have been told of already.
    else if (this.ours.has(key)) this.mark(key, 'taken');
    else this.withdraw(key);
  }

  /** Another tab has written, changed or removed a letter. */
  private shelved(key: string, letter: Letter | undefined) {
    this.patience.wake();
    void this.outbox.run();
    if (!letter) return this.withdraw(key, ['sending', 'failed']);
    if (letter.taken) return void this.mark(key, letter.taken === 'queued' ? 'waiting' : 'taken');
    const start = this.threads.get('');
    const isHere = start?.conversation.waiting.some((it) => it.key === key);
    if (start && isHere && !letter.sessionId.startsWith(UNMADE)) this.made(start.id, letter.sessionId);
    for (const thread of this.threads.values())
      if (thread.id === letter.sessionId) thread.change((it) => showing(it, letter));
  }

  private mark(key: string, state: Waiting['state'], reason = ''): string {
    for (const thread of this.with(key)) thread.change((it) => marked(it, key, state, reason));
    return reason;
  }

  private withdraw(key: string, states?: Waiting['state'][]) {
    for (const thread of this.with(key, states)) thread.change((it) => withdrawn(it, key));
  }

  /** The threads that show this letter, in one of these states if any are named. */
  private with(key: string, states?: Waiting['state'][]): Thread[] {
    const shows = (it: Waiting) => it.key === key && (!states || states.includes(it.state));
    return [...this.threads.values()].filter((thread) => thread.conversation.waiting.some(shows));
  }
}

/** A conversation that shows a letter as it lies on the shelf. */
function showing(conversation: Conversation, { key, text, images = [], refused }: Letter): Conversation {
  const known = conversation.waiting.some((it) => it.key === key);
  const shown = known ? conversation : posted(conversation, key, text, images);
  return refused === undefined ? shown : marked(shown, key, 'failed', refused);
}
