// Reads a unified diff into lines; knows nothing of how they are drawn.

export interface Line {
  kind: 'file' | 'hunk' | 'added' | 'removed' | 'same' | 'note';
  text: string;
  /** Where it stands in the new file, or in the old one if it is gone. */
  number: number | null;
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

export function isDiff(text: string): boolean {
  return /^--- .*\n\+\+\+ .*\n@@ -\d+(,\d+)? \+\d+(,\d+)? @@/m.test(text);
}

export function lines(diff: string): Line[] {
  const read: Line[] = [];
  let [before, after, old, fresh] = [0, 0, 0, 0];
  for (const text of diff.replace(/\n$/, '').split('\n')) {
    const hunk = HUNK.exec(text);
    const rest = text.slice(1);
    if (old <= 0 && fresh <= 0 && hunk) {
      [before, after] = [Number(hunk[1]), Number(hunk[3])];
      [old, fresh] = [Number(hunk[2] ?? 1), Number(hunk[4] ?? 1)];
      read.push({ kind: 'hunk', text, number: null });
    } else if (text.startsWith('\\')) {
      read.push({ kind: 'note', text: rest.trim(), number: null });
    } else if (old <= 0 && fresh <= 0) {
      read.push({ kind: 'file', text, number: null });
    } else if (text.startsWith('+')) {
      fresh -= 1;
      read.push({ kind: 'added', text: rest, number: after++ });
    } else if (text.startsWith('-')) {
      old -= 1;
      read.push({ kind: 'removed', text: rest, number: before++ });
    } else {
      old -= 1;
      fresh -= 1;
      before += 1;
      read.push({ kind: 'same', text: rest, number: after++ });
    }
  }
  return read;
}

/** How many lines come and go. */
export function extent(read: Line[]): { added: number; removed: number } {
  const count = (kind: Line['kind']) => read.filter((line) => line.kind === kind).length;
  return { added: count('added'), removed: count('removed') };
}
