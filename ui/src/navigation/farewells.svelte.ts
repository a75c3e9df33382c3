// Sessions that were deleted a moment ago: they are out of sight, and can still be called back.
import type { Hall } from '../lib/hall.svelte';
import { SecondThoughts } from '../lib/second.svelte';
import { title } from '../lib/sessions';
import type { SessionItem } from '../lib/wire';
import { words } from '../lib/words';
import type { Toasts } from './toasts.svelte';

export class Farewells {
  private thoughts = new SecondThoughts(8_000, (id) => this.carryOut(id));

  constructor(
    private hall: Hall,
    private toasts: Toasts,
  ) {}

  get going(): ReadonlySet<string> {
    return this.thoughts.going;
  }

  start() {
    this.thoughts.attend();
  }

  begin(session: SessionItem) {
    const { sessionId: id } = session;
    const name = title(session);
    if (session.isBusy) return this.toasts.show({ id: toast(id), text: words.sessions.busy(name) });
    if (this.going.has(id)) return;
    this.thoughts.begin(id);
    if (this.hall.current === id) this.hall.open('');
    const undo = { name: words.sessions.undo, label: words.sessions.undoOf(name), run: () => this.undo(id) };
    const onclose = () => void this.thoughts.finish(id);
    // It goes with the session, so it needs no time of its own.
    this.toasts.show({ id: toast(id), text: words.sessions.removed(name), action: undo, onclose }, 0);
  }

  private undo(id: string) {
    this.thoughts.keep(id);
    this.toasts.hide(toast(id));
    this.hall.open(id);
  }

  private async carryOut(id: string) {
    const name = title(this.hall.roster.find(id));
    this.toasts.hide(toast(id));
    const problem = await this.hall.wishes.remove(id);
    if (problem) this.toasts.show({ id: toast(id), text: words.sessions.kept(name, problem) });
  }
}

function toast(id: string): string {
  return `farewell ${id}`;
}
