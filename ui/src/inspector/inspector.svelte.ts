// The app that is looked at: what the server tells of it, from its log and live, and what the person asks of it by hand.
import * as api from '../lib/api';
import { explain } from '../lib/explain';
import type { DesktopFrame } from '../frames/windows';
import * as requests from './requests';
import { merged, type Trace } from './traffic';

/** Facts after which an app stands otherwise than before. */
const TURNS: Trace['type'][] = ['ready', 'lost', 'owner', 'response', 'replay', 'retired', 'failed'];

export class Inspector {
  /** The window whose app is looked at; empty if none is. */
  key = $state('');
  traces = $state.raw<Trace[]>([]);
  standing = $state.raw<requests.Standing>();
  trouble = $state('');
  /** Where the log goes on further back. */
  before = $state<number>();
  /** What was cleared away is not shown again. */
  private cleared = { seq: 0, id: 0 };
  private looking = false;
  private again = false;

  constructor(
    private pass: (text: string) => boolean,
    private session: () => string,
  ) {}

  open(key: string) {
    if (key === this.key) return;
    this.key = key;
    this.cleared = { seq: 0, id: 0 };
    this.traces = [];
    this.standing = undefined;
    this.before = undefined;
    this.trouble = '';
    this.join();
  }

  close() {
    this.open('');
  }

  /** Asks to be told, on a connection that knows nothing of it yet. What was missed comes with the past. */
  join() {
    const windowId = this.key;
    this.pass(JSON.stringify({ type: 'APP_PROTOCOL_INSPECT', ...(windowId ? { windowId } : {}) }));
  }

  heard(frame: DesktopFrame) {
    // Only from here on nothing is missed.
    if (frame.type === 'APP_PROTOCOL_INSPECTING' && frame.windowId === this.key) void this.refresh();
    if (frame.type === 'APP_PROTOCOL_TRACE' && this.key) this.take(frame.entries);
  }

  /** Gets what lies further back. */
  async older() {
    const { key, before } = this;
    if (before === undefined) return;
    await this.attempt(key, async () => {
      const past = await requests.traffic(this.session(), key, before);
      if (key !== this.key) return;
      this.before = past.before;
      this.put(past.entries);
    });
  }

  /** Takes away what is there; what comes is shown. */
  clear() {
    const newest = (of: 'seq' | 'id') => Math.max(0, ...this.traces.map((it) => it[of] ?? 0));
    this.cleared = { seq: newest('seq'), id: newest('id') };
    this.traces = [];
    this.before = undefined;
  }

  /** What an agent would be told. */
  ask(what: requests.Question): Promise<requests.Said> {
    return requests.ask(this.session(), this.key, what).catch((error: unknown) => {
      return { text: explain(error), failed: true };
    });
  }

  private async refresh() {
    const { key } = this;
    void this.look();
    await this.attempt(key, async () => {
      const past = await requests.traffic(this.session(), key);
      if (key !== this.key) return;
      if (this.cleared.seq === 0) this.before = past.before;
      this.put([...past.entries, ...past.news]);
    });
  }

  private take(entries: Trace[]) {
    this.put(entries);
    if (entries.some((it) => TURNS.includes(it.type))) void this.look();
  }

  private put(entries: Trace[]) {
    const { seq, id } = this.cleared;
    const fresh = entries.filter((it) => (it.seq ?? 0) > seq || (it.id ?? 0) > id);
    this.traces = merged(this.traces, fresh);
  }

  /** One question at a time; what changes meanwhile is asked for once more. */
  private async look() {
    this.again = true;
    if (this.looking) return;
    this.looking = true;
    while (this.again && this.key) {
      this.again = false;
      const { key } = this;
      await this.attempt(key, async () => {
        const standing = await requests.standing(this.session(), key);
        if (key === this.key) this.standing = standing;
      });
    }
    this.looking = false;
  }

  private async attempt(key: string, act: () => Promise<void>) {
    try {
      await act();
      if (key === this.key) this.trouble = '';
    } catch (error) {
      // A window that is gone takes its inspector along.
      if (key === this.key) this.trouble = error instanceof api.Refused && error.status === 404 ? '' : explain(error);
    }
  }
}
