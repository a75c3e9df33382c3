// Short messages that pass by themselves; knows nothing of what they are about.
export interface Toast {
  id: string;
  text: string;
  action?: { name: string; label?: string; run: () => void };
  /** Closed by hand before its time. */
  onclose?: () => void;
}

const STAYS = 8_000;

export class Toasts {
  list = $state.raw<Toast[]>([]);
  private timers = new Map<string, ReturnType<typeof setTimeout>>();

  /** Shows it in place of one with the same id; it stays for a moment, or until it is taken away. */
  show(toast: Toast, stays: number | undefined = STAYS) {
    this.hide(toast.id);
    this.list = [...this.list, toast];
    if (stays)
      this.timers.set(
        toast.id,
        setTimeout(() => this.hide(toast.id), stays),
      );
  }

  hide(id: string) {
    clearTimeout(this.timers.get(id));
    this.timers.delete(id);
    this.list = this.list.filter((it) => it.id !== id);
  }
}
