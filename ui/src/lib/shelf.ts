// Where letters lie in the browser: each under its own key, so that tabs do not overwrite each other's.
import type { Letter, Shelf } from './outbox';

const PREFIX = 'megaron.letter.';

/** In the browser's storage; in memory as well, for a browser that keeps nothing. */
export class BrowserShelf implements Shelf {
  private unkept = new Map<string, Letter>();

  /** `changed` hears what other tabs do: the letter as it is now, or nothing where it is gone. */
  constructor(changed: (key: string, letter: Letter | undefined) => void) {
    addEventListener('storage', ({ key, newValue }) => {
      if (key?.startsWith(PREFIX)) changed(key.slice(PREFIX.length), read(newValue));
    });
  }

  all(): Letter[] {
    return [...kept(), ...this.unkept.values()];
  }

  put(letter: Letter) {
    try {
      localStorage.setItem(PREFIX + letter.key, JSON.stringify(letter));
      this.unkept.delete(letter.key);
    } catch {
      // No room, or none allowed: then it lasts as long as the page.
      this.unkept.set(letter.key, letter);
    }
  }

  remove(key: string) {
    this.unkept.delete(key);
    try {
      localStorage.removeItem(PREFIX + key);
    } catch {
      // Nothing was kept there either.
    }
  }
}

function kept(): Letter[] {
  try {
    const keys = Array.from({ length: localStorage.length }, (_, at) => localStorage.key(at) ?? '');
    const letters = keys.filter((key) => key.startsWith(PREFIX)).map((key) => read(localStorage.getItem(key)));
    return letters.filter((letter) => letter !== undefined);
  } catch {
    return [];
  }
}

/** Anybody can write to the storage of the browser; what is no letter is passed over. */
function read(text: string | null): Letter | undefined {
  try {
    const it = JSON.parse(text ?? '') as Partial<Letter>;
    const texts = [it.key, it.sessionId, it.text, it.model];
    return texts.every((part) => typeof part === 'string') && typeof it.at === 'number' ? (it as Letter) : undefined;
  } catch {
    return undefined;
  }
}

/** Runs something while no other tab does; where the browser has no locks, the keys of the letters must do. */
export function alone(run: () => Promise<void>): Promise<void> {
  return navigator.locks ? navigator.locks.request('megaron.outbox', run) : run();
}
