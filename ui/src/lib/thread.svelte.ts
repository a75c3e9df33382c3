// What is kept of a session that was looked at, so that returning to it costs only what is new.
import * as api from './api';
import { fold, type Conversation } from './conversation';
import { filled, grown, letGo, newest, opened, PAGE, rewound, unwritten, wanted, type Chapter } from './history';
import { Place } from './place';
import type { Wish } from './rows';
import type { NumberedEvent } from './wire';

/** What a fact takes up on the page before any was measured, in pixels. */
const ROOM = 40;

export class Thread {
  place = new Place();
  past = $state.raw(unwritten());
  /** Whether its newest part has come; what was just made has none. */
  begun = $state(false);
  /** Whether a part of the past is on its way. */
  fetching = $state(false);

  /** The server would not give more of the past. */
  refused = $state(false);

  constructor(public id: string) {}

  /** Its newest part, which grows. */
  get conversation(): Conversation {
    return newest(this.past).conversation;
  }

  change(how: (conversation: Conversation) => Conversation) {
    const changed = how(this.conversation);
    if (changed !== this.conversation) this.past = grown(this.past, changed);
  }

  hear(events: NumberedEvent[]) {
    this.past = rewound(this.past, events);
    this.change((it) => fold(it, events));
  }

  /** Asks for the newest part, once. */
  async begin() {
    if (this.begun) return;
    const page = await api.events(this.id);
    if (this.begun) return;
    const waiting = this.conversation.waiting.filter((message) => message.state !== 'taken');
    this.past = opened(page, waiting, ROOM);
    this.place.seq = page.last;
    this.begun = true;
  }

  /** There is no past to ask for. */
  isNew() {
    this.begun = true;
  }

  /** Fetches a page of what is not at hand; one at a time. */
  async fetch({ gap, where }: Wish, pause: (attempts: number) => Promise<void>) {
    if (this.fetching) return;
    this.fetching = true;
    try {
      const before = wanted(gap, where);
      const page = await api.insist(() => api.events(this.id, before, PAGE), pause);
      this.past = filled(this.past, gap, before, page);
    } catch (error) {
      this.refused = true;
      throw error;
    } finally {
      this.fetching = false;
    }
  }

  release(chapter: Chapter, height: number) {
    this.past = letGo(this.past, chapter, height);
  }
}
