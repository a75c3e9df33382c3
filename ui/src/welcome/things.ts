// What the start page suggests; the built-in model can really do each of them.
import type { Shape } from '../lib/Icon.svelte';
import { words } from '../lib/words';

export interface Thing {
  shape: Shape;
  name: string;
  about: string;
  /** What is said when it is chosen. */
  text: string;
}

export const things: Thing[] = [
  { shape: 'folder', ...words.welcome.files },
  { shape: 'check', ...words.welcome.plan },
  { shape: 'spark', ...words.welcome.shows },
];
