// Notices what a person does in the frame by hand. Knows nothing of windows: the page decides what it means.

/** What is touched more often than this is told of once. */
const PAUSE = 1_000;
/** For so long something that changes is taken for the work of the hand. */
const LATELY = 1_000;
const MODIFIERS = new Set(['Alt', 'AltGraph', 'Shift', 'Control', 'Meta', 'CapsLock']);

type Pressed = Pick<KeyboardEvent, 'code' | 'altKey' | 'shiftKey' | 'ctrlKey' | 'metaKey'>;

/** Alt, Shift and H hand a window back to the agent. By its place, as the letter is another one on some keyboards. */
export function handsBack({ code, altKey, shiftKey, ctrlKey, metaKey }: Pressed): boolean {
  return code === 'KeyH' && altKey && shiftKey && !ctrlKey && !metaKey;
}

export class Touch {
  private told = -Infinity;
  private at = -Infinity;

  /**
   * @param post to the page around the frame
   * @param now in milliseconds
   */
  constructor(
    private post: (message: unknown) => void,
    private now: () => number,
  ) {}

  listen(scope: Window) {
    for (const kind of ['pointerdown', 'keydown', 'input'])
      scope.addEventListener(kind, (event) => this.heard(event), { capture: true, passive: kind !== 'keydown' });
  }

  /** What scripts do is nobody's touch. */
  heard(event: Event) {
    if (!event.isTrusted) return;
    if (event.type === 'keydown') {
      const key = event as KeyboardEvent;
      if (handsBack(key)) return this.handBack(key);
      if (MODIFIERS.has(key.key)) return;
    }
    this.at = this.now();
    if (this.at - this.told < PAUSE) return;
    this.told = this.at;
    this.post({ type: 'yaar:app-touched' });
  }

  /** Whether a person has just done something. */
  lately = (): boolean => this.now() - this.at < LATELY;

  private handBack(event: KeyboardEvent) {
    event.preventDefault();
    event.stopImmediatePropagation();
    this.told = -Infinity;
    if (!event.repeat) this.post({ type: 'yaar:app-hand-back' });
  }
}
