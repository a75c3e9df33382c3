// Looking for words in a session: asks on until there is enough to show, and leaves answers to earlier words aside.
import type { Finding, FindingsAnswer } from './wire';

/** So many are found before the reader is asked whether to look further back. */
const ENOUGH = 20;

export class Finder {
  found = $state.raw<Finding[]>([]);
  busy = $state(false);
  trouble = $state('');
  /** Where to look on; null where everything was looked at. */
  before = $state.raw<number | null>(null);
  private words = '';
  private turn = 0;

  constructor(
    private request: (words: string, before: number | undefined) => Promise<FindingsAnswer>,
    private explain: (error: unknown) => string,
  ) {}

  /** Looks for these words, from the newest on. */
  async look(words: string) {
    this.words = words.trim();
    this.found = [];
    this.before = null;
    await this.walk(undefined);
  }

  /** Looks further back. */
  async more() {
    if (this.before !== null && !this.busy) await this.walk(this.before);
  }

  private async walk(from: number | undefined) {
    const turn = (this.turn += 1);
    const enough = this.found.length + ENOUGH;
    this.trouble = '';
    this.busy = this.words !== '';
    try {
      for (let before: number | null | undefined = from; this.busy; before = this.before) {
        const page = await this.request(this.words, before ?? undefined);
        if (turn !== this.turn) return;
        this.found = [...this.found, ...page.found];
        this.before = page.before;
        if (page.before === null || this.found.length >= enough) this.busy = false;
      }
    } catch (error) {
      if (turn !== this.turn) return;
      this.trouble = this.explain(error);
      this.busy = false;
    }
  }
}
