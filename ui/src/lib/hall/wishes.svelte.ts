// What the person asks of the server beside writing to it, and why it was not granted where it was not.
import * as api from '../api';
import type { Said } from '../conversation';
import type { Hall } from '../hall.svelte';
import { arranged, type Told } from '../told';
import type { Mode } from '../wire';
import { words } from '../words';

export class Wishes {
  /** Why the last wish could not be granted. */
  trouble = $state('');
  /** Who answers and what it may do, on its way to the server: no message may overtake it. */
  choosing: Promise<unknown> = Promise.resolve();

  constructor(private hall: Hall) {}

  async stop() {
    await this.wish(api.cancel(this.hall.current));
  }

  /** Says something in place of an earlier message; what followed that is left out of the conversation from then on. */
  async resay(said: Said & { at: number }, text: string): Promise<boolean> {
    const id = this.hall.current;
    const pictures = Promise.all(said.pictures.map(({ url }) => api.picture(url)));
    const ready = Promise.all([pictures, this.choosing]);
    const again = ready.then(([images]) => api.say(id, { prompt: text, images, replaces: said.at }, api.newKey()));
    return this.wish(again);
  }

  /** Takes back a message that waits on the server. */
  async takeBack(key: string) {
    if (await this.wish(api.unqueue(this.hall.current, key))) this.hall.discard(key);
    // It may have been taken up, or taken back elsewhere.
    await this.hall.attention.look();
  }

  async rename(id: string, name: string) {
    this.hall.roster.renamed(id, name);
    await this.wish(api.rename(id, name));
  }

  /** From the next message on, this model answers. */
  async choose(id: string, model: string) {
    this.hall.roster.chose(id, model);
    const chosen = this.wish(api.choose(id, model));
    this.choosing = Promise.all([this.choosing, chosen]);
    if (!(await chosen)) await this.hall.refresh();
  }

  /** From the next call of a tool on, this is what needs leave. */
  async permit(id: string, mode: Mode) {
    this.hall.roster.moded(id, mode);
    const permitted = this.wish(api.setMode(id, mode));
    this.choosing = Promise.all([this.choosing, permitted]);
    await permitted;
    await this.hall.refresh();
  }

  async sumUp(id: string) {
    let started = true;
    const asked = api.compact(id).then((answer) => (started = answer.started));
    if ((await this.wish(asked)) && !started) this.trouble = words.chat.summing.nothing;
  }

  /** What the agent of a session is told. Why not, if not, is for whoever asked. */
  told(id: string): Promise<Told> {
    return this.answered(api.told(id).then(arranged));
  }

  /** Replaces what the person tells every agent. */
  async instruct(text: string) {
    await this.answered(api.instruct(text));
  }

  /** Makes a session with what was chosen for it, and goes there. Why not, if not, is for whoever asked. */
  async beginWith(chosen: api.Chosen) {
    const created = await this.answered(api.begin(chosen));
    this.hall.roster.created(created);
    this.hall.open(created.sessionId);
    await this.hall.refresh();
  }

  /** What it gives back is why a session could not be deleted, if it could not. */
  async remove(id: string): Promise<string> {
    const { leaving } = this.hall.attention;
    leaving.add(id);
    try {
      await api.remove(id);
    } catch (error) {
      // Somebody else was quicker, and that is as good.
      if (!(error instanceof api.Refused && error.status === 404)) {
        leaving.delete(id);
        return this.hall.explain(error);
      }
    }
    this.hall.forget(id);
    return '';
  }

  private async answered<T>(request: Promise<T>): Promise<T> {
    try {
      return await request;
    } catch (error) {
      throw new Error(this.hall.explain(error), { cause: error });
    }
  }

  private async wish(request: Promise<unknown>): Promise<boolean> {
    this.trouble = '';
    try {
      await request;
      return true;
    } catch (error) {
      this.trouble = this.hall.explain(error);
      return false;
    }
  }
}
