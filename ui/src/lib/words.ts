// What the page says, in the language in use; another language is one more file shaped like `en.ts`.
import { en } from './en';

export type Words = typeof en;

export const words: Words = en;
