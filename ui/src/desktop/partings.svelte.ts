// Recordings that were removed a moment ago: they are out of sight, and can still be called back.
import { words } from '../lib/words';
import type { Toasts } from '../navigation/toasts.svelte';

const SECOND_THOUGHT = 8_000;

export class Partings {
  going = $state.raw<ReadonlySet<string>>(new Set());
  private timers = new Map<string, ReturnType<typeof setTimeout>>();

  constructor(
    private toasts: Toasts,
    private remove: (id: string) => Promise<unknown>,
  ) {}

  /** Nobody can undo anything on a page that is not seen, or in a place that was left. */
  start() {
    const finish = () => document.hidden && this.finishAll();
    const leave = () => this.finishAll();
    addEventListener('visibilitychange', finish);
    addEventListener('pagehide', leave);
    return () => {
      removeEventListener('visibilitychange', finish);
      removeEventListener('pagehide', leave);
      this.finishAll();
    };
  }

  begin(id: string, name: string) {
    if (this.going.has(id)) return;
    const text = words.desktop.recordings;
    this.going = new Set([...this.going, id]);
    this.timers.set(
      id,
      setTimeout(() => void this.finish(id), SECOND_THOUGHT),
    );
    const action = { name: text.undo, label: text.undoOf(name), run: () => this.undo(id) };
    this.toasts.show({ id: toast(id), text: text.removed(name), action, onclose: () => void this.finish(id) }, 0);
  }

  private undo(id: string) {
    clearTimeout(this.timers.get(id));
    this.timers.delete(id);
    this.forget(id);
  }

  private finishAll() {
    for (const id of [...this.timers.keys()]) void this.finish(id);
  }

  private async finish(id: string) {
    if (!this.timers.has(id)) return;
    clearTimeout(this.timers.get(id));
    this.timers.delete(id);
    this.toasts.hide(toast(id));
    await this.remove(id);
    this.forget(id);
  }

  private forget(id: string) {
    this.toasts.hide(toast(id));
    this.going = new Set([...this.going].filter((it) => it !== id));
  }
}

function toast(id: string): string {
  return `recording ${id}`;
}
