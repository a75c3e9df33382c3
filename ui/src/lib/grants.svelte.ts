// What is allowed without asking; taking it back can be undone for a moment, as the server cannot give it again.
import * as api from './api';
import { explain } from './explain';
import { SecondThoughts } from './second.svelte';
import type { Grant } from './wire';

export class Grants {
  list = $state.raw<Grant[]>([]);
  listed = $state(false);
  trouble = $state('');
  private thoughts = new SecondThoughts(7_000, (id) => this.carryOut(id));

  get going(): ReadonlySet<string> {
    return this.thoughts.going;
  }

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
    this.thoughts.begin(id);
  }

  keep(id: string) {
    this.thoughts.keep(id);
  }

  /** Nobody can undo anything any more: what was revoked goes now. */
  leave() {
    this.thoughts.finishAll();
  }

  private async carryOut(id: string) {
    try {
      await api.revoke(id);
    } catch (error) {
      // Somebody else was quicker, and that is as good.
      if (!(error instanceof api.Refused && error.status === 404)) {
        this.trouble = explain(error);
        return;
      }
    }
    this.list = this.list.filter((it) => it.id !== id);
  }
}
