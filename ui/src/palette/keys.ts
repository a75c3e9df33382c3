// Which keys were pressed, and how keys are written; pure but for the name of the machine.
import { words } from '../lib/words';

/** How long a second key is waited for. */
export const PATIENCE = 1_500;

const isApple = typeof navigator !== 'undefined' && /Mac|iPhone|iPad/.test(navigator.userAgent);

type Pressed = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey'>;

/** The name of what was pressed, such as `mod+k`, `?` or `g`; nothing for keys that are not ours. */
export function pressed({ key, ctrlKey, metaKey, altKey }: Pressed): string {
  if (altKey || key.length !== 1) return '';
  return ctrlKey || metaKey ? `mod+${key.toLowerCase()}` : key;
}

/** Whether somebody is writing there, so that a key is a letter and nothing more. */
export function isWriting(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.matches('input, textarea, select, [role=textbox]');
}

/** Keys for a reader: one string for each press. */
export function written(keys: string, apple = isApple): string[] {
  return keys.split(' ').map((key) => {
    if (/^[A-Z]$/.test(key)) return `${words.help.shift} ${key}`;
    if (!key.startsWith('mod+')) return key.length === 1 ? key.toUpperCase() : key;
    const letter = key.slice('mod+'.length).toUpperCase();
    return apple ? `⌘${letter}` : `${words.help.control} ${letter}`;
  });
}

/** Understands presses one after the other, such as `g` and then `a`. */
export class Ear {
  private before = '';
  private at = -Infinity;

  /** What was meant, if it is one of these; a key that only begins one is kept for the next. */
  hear(key: string, known: string[], now: number): string | undefined {
    const begun = now - this.at < PATIENCE ? this.before : '';
    const whole = begun ? `${begun} ${key}` : key;
    this.before = '';
    if (known.includes(whole)) return whole;
    if (known.some((it) => it.startsWith(`${key} `))) {
      this.before = key;
      this.at = now;
      return undefined;
    }
    return known.includes(key) ? key : undefined;
  }
}
