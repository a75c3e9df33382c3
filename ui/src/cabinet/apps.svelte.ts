// Apps as the page lists them; removing one can be undone for a moment.
import * as api from '../lib/api';
import { explain } from '../lib/explain';
import { SecondThoughts } from '../lib/second.svelte';
import * as requests from './requests';
import type { ListedApp, Looked } from './wire';

export class Apps {
  list = $state.raw<ListedApp[]>([]);
  listed = $state(false);
  trouble = $state('');
  /** An archive that was looked at and waits for a yes. */
  offered = $state.raw<Looked & { file: File }>();
  busy = $state(false);
  private thoughts = new SecondThoughts(7_000, (id) => this.carryOut(id));

  get going(): ReadonlySet<string> {
    return this.thoughts.going;
  }

  async refresh() {
    await this.attempt(async () => {
      this.list = (await requests.list()).apps;
      this.listed = true;
    });
  }

  /** Looks into an archive, and asks whether it should be put in. */
  async offer(file: File) {
    this.busy = true;
    await this.attempt(async () => (this.offered = { ...(await requests.inspect(file)), file }));
    this.busy = false;
  }

  async install() {
    const offered = this.offered;
    this.offered = undefined;
    if (!offered) return;
    this.busy = true;
    if (await this.attempt(() => requests.install(offered.file))) await this.refresh();
    this.busy = false;
  }

  remove(id: string) {
    this.thoughts.begin(id);
  }

  keep(id: string) {
    this.thoughts.keep(id);
  }

  /** Nobody can undo anything any more: what was removed goes now. */
  leave() {
    this.thoughts.finishAll();
  }

  private async carryOut(id: string) {
    try {
      await requests.remove(id);
    } catch (error) {
      // Somebody else was quicker, and that is as good.
      if (!(error instanceof api.Refused && error.status === 404)) this.trouble = explain(error);
    }
    if (!this.trouble) await this.refresh();
  }

  private async attempt(request: () => Promise<unknown>): Promise<boolean> {
    try {
      await request();
      this.trouble = '';
      return true;
    } catch (error) {
      this.trouble = explain(error);
      return false;
    }
  }
}
