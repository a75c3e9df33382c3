// What an agent is told before a conversation, arranged for a person to look at; pure.
import type { PromptAnswer } from './wire';
import { words } from './words';

/** The name the server gives to what the person wrote. */
const own = 'From the person';
/** As much as the server tells, and takes. */
const mostBytes = 32 * 1024;

export interface Told {
  parts: Part[];
  tools: { name: string; description: string }[];
  /** How much all of it is, the tools apart. */
  size: string;
}

export interface Part {
  title: string;
  text: string;
  size: string;
  kind: 'own' | 'given';
}

/** The parts in the order in which they are told; the person's own among them even when it is empty. */
export function arranged({ parts, tools }: PromptAnswer): Told {
  const all = parts.map(({ title, text }) => part(title, text));
  // It is told right after what is said of the session itself.
  if (!all.some(({ title }) => title === own)) all.splice(1, 0, part(own, ''));
  return { parts: all, tools, size: size(parts.map(({ text }) => text).join('')) };
}

function part(title: string, text: string): Part {
  return { title, text, size: size(text), kind: title === own && fits(text) ? 'own' : 'given' };
}

/** What was cut for being too long cannot be changed here without losing the rest of it. */
export function fits(text: string): boolean {
  return new TextEncoder().encode(text).length <= mostBytes;
}

/** How long a text is, in words. */
export function size(text: string): string {
  const count = [...text].length;
  if (count === 0) return words.told.empty;
  return words.told.characters(count.toLocaleString(words.language), count === 1);
}
