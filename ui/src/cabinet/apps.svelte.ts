// Apps as the page lists them; removing one can be undone for a moment.
import * as api from '../lib/api';
import { explain } from '../lib/explain';
import * as requests from './requests';
import type { ListedApp, Looked } from './wire';

const SECOND_THOUGHT = 7_000;

export class Apps {
  list = $state.raw<ListedApp[]>([]);
  listed = $state(false);
  trouble = $state('');
  /** Those that are about to go. */
  going = $state.raw<ReadonlySet<string>>(new Set());
  /** An archive that was looked at and waits for a yes. */
  offered = $state.raw<Looked & { file: File }>();
  busy = $state(false);
  private timers = new Map<string, ReturnType<typeof setTimeout>>();

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

  /** Nobody can undo anything any more: what was removed goes now. */
  leave() {
    for (const id of [...this.timers.keys()]) void this.carryOut(id);
  }

  private async carryOut(id: string) {
    clearTimeout(this.timers.get(id));
    this.timers.delete(id);
    try {
      await requests.remove(id);
    } catch (error) {
      // Somebody else was quicker, and that is as good.
      if (!(error instanceof api.Refused && error.status === 404)) this.trouble = explain(error);
    }
    this.forget(id);
    if (!this.trouble) await this.refresh();
  }

  private forget(id: string) {
    this.timers.delete(id);
    this.going = new Set([...this.going].filter((it) => it !== id));
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
