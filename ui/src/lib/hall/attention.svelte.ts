// How the session on show stands, asked whenever that may have changed; and that the person has seen it.
import * as api from '../api';
import type { Hall } from '../hall.svelte';
import type { StateAnswer } from '../wire';

/** Soon, not at once: a replay tells of many turns that ended, and one request is enough for all. */
const SOON = 100;

export class Attention {
  /** What the session has used and how full its context is, once the server has said. */
  standing = $state.raw<StateAnswer>();
  /** Messages that wait on the server but were sent from another page. */
  elsewhere = $state(0);
  /** Sessions on their way out, which are not looked at any more. */
  readonly leaving = new Set<string>();
  private observing: ReturnType<typeof setTimeout> | undefined;
  private looks = 0;

  constructor(private hall: Hall) {}

  /** Another session is on show, of which nothing is known yet. */
  turn() {
    this.elsewhere = 0;
    this.standing = undefined;
  }

  observeIfNew() {
    if (this.hall.session?.isUnobserved) this.observeSoon();
  }

  observeSoon() {
    const { current: id, view, roster } = this.hall;
    clearTimeout(this.observing);
    if (document.hidden || view !== 'chat') return;
    this.observing = setTimeout(() => {
      if (!roster.find(id) || this.leaving.has(id)) return;
      // Not seen after all is no harm: the next turn or the next visit asks again.
      api.observe(id).catch((error: unknown) => this.hall.explain(error));
    }, SOON);
  }

  /** Asks how the session on show stands. */
  async look() {
    const { current: id, session, shown } = this.hall;
    if (!session || this.leaving.has(id)) return;
    const look = (this.looks += 1);
    const known = shown.conversation.waiting.length;
    // Without an answer, what was known is as good as nothing.
    const standing = await api.state(id).catch(() => undefined);
    // A later look knows better.
    if (look !== this.looks || id !== this.hall.current) return;
    this.standing = standing;
    this.elsewhere = this.hall.busy ? Math.max(0, (standing?.queued ?? 0) - known) : 0;
  }
}
