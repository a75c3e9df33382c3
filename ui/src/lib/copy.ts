// Copies text, also where the page has no secure address and so no clipboard of its own.
import { words } from './words';

export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyOldWay(text);
  }
}

/** Buttons inside a text copy the code of their block. */
export async function copyByButton(event: MouseEvent) {
  const button = (event.target as Element).closest<HTMLButtonElement>('button[data-copy]');
  const code = button?.closest('figure')?.querySelector('code');
  if (!button || !code) return;
  if (!(await copy(code.textContent.replace(/\n$/, '')))) return;
  button.textContent = words.chat.copied;
  setTimeout(() => (button.textContent = words.chat.copy), 2000);
}

function copyOldWay(text: string): boolean {
  const box = document.createElement('textarea');
  box.value = text;
  box.className = 'heard-only';
  const before = document.activeElement;
  document.body.append(box);
  box.select();
  // Marked as outdated, but the only way on a page without a secure address.
  const done = document.execCommand('copy');
  box.remove();
  if (before instanceof HTMLElement) before.focus();
  return done;
}
