// Second thoughts: what is about to go, and can be kept for a moment or until nobody is there to keep it.
export class SecondThoughts {
  /** Those that are about to go. */
  going = $state.raw<ReadonlySet<string>>(new Set());
  private timers = new Map<string, ReturnType<typeof setTimeout>>();

  /** The moment is in milliseconds. */
  constructor(
    private moment: number,
    private carryOut: (id: string) => Promise<unknown>,
  ) {}

  /** Nobody can keep anything on a page that is not seen, or in a place that was left. */
  attend(): () => void {
    const hidden = () => document.hidden && this.finishAll();
    const left = () => this.finishAll();
    addEventListener('visibilitychange', hidden);
    addEventListener('pagehide', left);
    return () => {
      removeEventListener('visibilitychange', hidden);
      removeEventListener('pagehide', left);
      this.finishAll();
    };
  }

  begin(id: string) {
    this.going = new Set([...this.going, id]);
    this.timers.set(
      id,
      setTimeout(() => void this.finish(id), this.moment),
    );
  }

  keep(id: string) {
    clearTimeout(this.timers.get(id));
    this.forget(id);
  }

  finishAll() {
    for (const id of [...this.timers.keys()]) void this.finish(id);
  }

  async finish(id: string) {
    if (!this.timers.has(id)) return;
    clearTimeout(this.timers.get(id));
    this.timers.delete(id);
    await this.carryOut(id);
    this.forget(id);
  }

  private forget(id: string) {
    this.timers.delete(id);
    this.going = new Set([...this.going].filter((it) => it !== id));
  }
}
