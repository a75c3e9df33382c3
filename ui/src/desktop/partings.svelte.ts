// Recordings that were removed a moment ago: they are out of sight, and can still be called back.
import { SecondThoughts } from '../lib/second.svelte';
import { words } from '../lib/words';
import type { Toasts } from '../navigation/toasts.svelte';

export class Partings {
  private thoughts = new SecondThoughts(8_000, (id) => this.carryOut(id));

  constructor(
    private toasts: Toasts,
    private remove: (id: string) => Promise<unknown>,
  ) {}

  get going(): ReadonlySet<string> {
    return this.thoughts.going;
  }

  start() {
    return this.thoughts.attend();
  }

  begin(id: string, name: string) {
    if (this.going.has(id)) return;
    const text = words.desktop.recordings;
    this.thoughts.begin(id);
    const action = { name: text.undo, label: text.undoOf(name), run: () => this.undo(id) };
    const onclose = () => void this.thoughts.finish(id);
    this.toasts.show({ id: toast(id), text: text.removed(name), action, onclose }, 0);
  }

  private undo(id: string) {
    this.thoughts.keep(id);
    this.toasts.hide(toast(id));
  }

  private async carryOut(id: string) {
    this.toasts.hide(toast(id));
    await this.remove(id);
  }
}

function toast(id: string): string {
  return `recording ${id}`;
}
