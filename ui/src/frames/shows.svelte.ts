// Which tools show their results in widgets: asked for once, and again when a tool turns up that nobody has heard of.
import * as api from '../lib/api';

export class Shows {
  private tools = $state.raw<ReadonlySet<string>>(new Set());
  private heardOf = new Set<string>();

  has(tool: string): boolean {
    return this.tools.has(tool);
  }

  /** A tool was called. */
  meet(tool: string) {
    if (this.heardOf.has(tool)) return;
    this.heardOf.add(tool);
    // Without an answer its result is there as text.
    api.widgets().then((tools) => (this.tools = new Set(tools)), () => this.heardOf.delete(tool));
  }
}
