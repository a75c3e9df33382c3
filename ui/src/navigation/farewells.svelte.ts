// Sessions that were deleted a moment ago: they are out of sight, and can still be called back.
import type { Hall } from '../lib/hall.svelte';
import { title } from '../lib/sessions';
import type { SessionItem } from '../lib/wire';
import { words } from '../lib/words';
import type { Toasts } from './toasts.svelte';

const SECOND_THOUGHT = 8_000;

export class Farewells {
  going = $state.raw<ReadonlySet<string>>(new Set());
  private timers = new Map<string, ReturnType<typeof setTimeout>>();

  constructor(
    private hall: Hall,
    private toasts: Toasts,
  ) {}

  start() {
    // Nobody can undo anything on a page that is not seen.
    addEventListener('visibilitychange', () => document.hidden && this.finishAll());
    addEventListener('pagehide', () => this.finishAll());
  }

  begin(session: SessionItem) {
    const { sessionId: id } = session;
    const name = title(session);
    const toast = `farewell ${id}`;
    if (session.isBusy) return this.toasts.show({ id: toast, text: words.sessions.busy(name) });
    if (this.going.has(id)) return;
    this.going = new Set([...this.going, id]);
    this.timers.set(
      id,
      setTimeout(() => void this.finish(id, name), SECOND_THOUGHT),
    );
    if (this.hall.current === id) this.hall.open('');
    const undo = { name: words.sessions.undo, label: words.sessions.undoOf(name), run: () => this.undo(id) };
    // It goes with the session, so it needs no time of its own.
    this.toasts.show(
      { id: toast, text: words.sessions.removed(name), action: undo, onclose: () => void this.finish(id, name) },
      0,
    );
  }

  private undo(id: string) {
    clearTimeout(this.timers.get(id));
    this.timers.delete(id);
    this.forget(id);
    this.hall.open(id);
  }

  private finishAll() {
    for (const id of [...this.timers.keys()]) void this.finish(id, title(this.hall.roster.find(id)));
  }

  private async finish(id: string, name: string) {
    if (!this.timers.has(id)) return;
    clearTimeout(this.timers.get(id));
    this.timers.delete(id);
    this.toasts.hide(`farewell ${id}`);
    const problem = await this.hall.wishes.remove(id);
    this.forget(id);
    if (problem) this.toasts.show({ id: `farewell ${id}`, text: words.sessions.kept(name, problem) });
  }

  private forget(id: string) {
    this.toasts.hide(`farewell ${id}`);
    this.going = new Set([...this.going].filter((it) => it !== id));
  }
}
