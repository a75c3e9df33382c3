// Whose hands windows are in: passes on what a person does in them while that matters, and that they hand them back.
import { keyOf, type Action } from './windows';

export interface HandsOf {
  /** Whether the person has taken it over. */
  held: boolean;
  /** Whether an agent is at work there. */
  driven: boolean;
  /** Rises with what is new in its history. */
  noted: number;
}

/** What a window is like of which nothing was said. */
export const USUAL: HandsOf = { held: false, driven: false, noted: 0 };

/** What is touched more often than this is passed on once. */
const PAUSE = 1_000;

export class HandsLine {
  private told = new Map<string, number>();

  /**
   * @param send passes a frame to the server, after all that was sent before
   * @param of how a window stands
   * @param now in milliseconds
   */
  constructor(
    private send: (frame: object) => void,
    private of: (key: string) => HandsOf | undefined,
    private now: () => number,
  ) {}

  /** A document in a window said something. Says whether it was for us. */
  heard(key: string, message: unknown): boolean {
    const { type } = (message ?? {}) as Record<string, unknown>;
    if (type === 'yaar:app-touched') this.touched(key);
    else if (type === 'yaar:app-hand-back') this.handBack(key);
    else return false;
    return true;
  }

  /** The person did something in a window. */
  touched(key: string) {
    const { held, driven } = this.of(key) ?? USUAL;
    const last = this.told.get(key) ?? -Infinity;
    if ((!held && !driven) || (held && this.now() - last < PAUSE)) return;
    this.told.set(key, this.now());
    this.send({ type: 'APP_TOUCHED', windowId: key });
  }

  /** On the line of the touches, so that none of them comes after it. */
  handBack(key: string) {
    if (this.of(key)?.held) this.send({ type: 'APP_HANDS', windowId: key, hands: 'agent' });
  }
}

export function changedHands(
  hands: ReadonlyMap<string, HandsOf>,
  actions: Action[],
  monitorId?: string,
): ReadonlyMap<string, HandsOf> {
  let changed = hands;
  for (const action of actions) {
    const key = keyOf(action.windowId, action.monitorId ?? monitorId);
    const before = changed.get(key) ?? USUAL;
    const after = afterwards(before, action);
    if (after !== before) changed = new Map(changed).set(key, after);
  }
  return changed;
}

function afterwards(before: HandsOf, action: Action): HandsOf {
  switch (action.type) {
    case 'window.create':
    case 'window.close':
      return before === USUAL ? before : { ...USUAL, noted: before.noted + 1 };
    case 'window.hands':
      return { ...before, held: action.hands === 'person', driven: action.driven === true };
    case 'window.noted':
      return { ...before, noted: before.noted + 1 };
    default:
      return before;
  }
}
