// What is allowed without asking; taking it back can be undone for a moment, as the server cannot give it again.
import * as api from './api';
import { explain } from './explain';
import type { Grant } from './wire';

const SECOND_THOUGHT = 7_000;

export class Grants {
  list = $state.raw<Grant[]>([]);
  listed = $state(false);
  trouble = $state('');
  /** Those that are about to go. */
  going = $state.raw<ReadonlySet<string>>(new Set());
  private timers = new Map<string, ReturnType<typeof setTimeout>>();

  async refresh() {
    try {
      this.list = (await api.grants()).grants;
      this.listed = true;
      this.trouble = '';
    } catch (error) {
      this.trouble = explain(error);
    }
  }

  revoke(id: string) {
    this.going = new Set([...this.going, id]);
    this.timers.set(
      id,
      setTimeout(() => void this.carryOut(id), SECOND_THOUGHT),
    );
  }

  keep(id: string) {
    clearTimeout(this.timers.get(id));
    this.forget(id);
  }

  /** Nobody can undo anything any more: what was revoked goes now. */
  leave() {
    for (const id of this.timers.keys()) void this.carryOut(id);
  }

  private async carryOut(id: string) {
    clearTimeout(this.timers.get(id));
    this.timers.delete(id);
    try {
      await api.revoke(id);
      this.list = this.list.filter((it) => it.id !== id);
    } catch (error) {
      // Somebody else was quicker, and that is as good.
      if (error instanceof api.Refused && error.status === 404) this.list = this.list.filter((it) => it.id !== id);
      else this.trouble = explain(error);
    }
    this.forget(id);
  }

  private forget(id: string) {
    this.timers.delete(id);
    this.going = new Set([...this.going].filter((it) => it !== id));
  }
}
