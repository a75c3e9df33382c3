// Which files may go with a message as pictures, and in what words the others are refused. Pure; the server has the last word.
import { words } from './words';

export const TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
export const MOST = 10;
/** The server reads requests of 16 MB, and pictures grow by a third on their way. */
export const LARGEST = 11 * 1024 * 1024;

export interface Admitted<File> {
  accepted: File[];
  problems: string[];
}

interface FileLike {
  name: string;
  type: string;
  size: number;
}

/** `count` and `size` tell of the pictures that are there already. */
export function admit<File extends FileLike>(files: File[], count: number, size: number): Admitted<File> {
  const accepted: File[] = [];
  const problems: string[] = [];
  for (const file of files) {
    const problem = wrong(file, count + accepted.length, size + total(accepted));
    if (problem) problems.push(problem);
    else accepted.push(file);
  }
  return { accepted, problems: [...new Set(problems)] };
}

function wrong({ name, type, size }: FileLike, count: number, before: number): string {
  const { wrongType, empty, tooLarge, tooMuch, tooMany } = words.composer;
  const called = name || words.chat.picture;
  if (!TYPES.includes(type)) return wrongType(called);
  if (size === 0) return empty(called);
  if (size > LARGEST) return tooLarge(called, megabytes(size), megabytes(LARGEST));
  if (count >= MOST) return tooMany(MOST);
  return before + size > LARGEST ? tooMuch(called, megabytes(LARGEST)) : '';
}

export function total(files: { size: number }[]): number {
  return files.reduce((sum, { size }) => sum + size, 0);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1).replace('.0', '')} MB`;
}
