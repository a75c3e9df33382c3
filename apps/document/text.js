// A text and its past: what was written, how to go back, what is in it. Draws nothing.

const UNDOABLE = 200;
/** What is typed without a pause longer than this is undone in one go, in milliseconds. */
const PAUSE = 800;

export class Text {
  value = '';
  name = '';
  /** @type {{ id: number, words: string, before: string, after: string }[]} */
  #done = [];
  /** @type {{ id: number, words: string, before: string, after: string }[]} */
  #undone = [];
  #nextId = 1;
  #typedAt = -Infinity;
  /** @type {Set<(words: string) => void>} */
  #hearers = new Set();

  /** @param {(words: string) => void} hear */
  onChange(hear) {
    this.#hearers.add(hear);
  }

  get canUndo() {
    return this.#done.length > 0;
  }
  get canRedo() {
    return this.#undone.length > 0;
  }

  /** @param {string} value @param {string} words what was done */
  set(value, words) {
    this.#typedAt = -Infinity;
    return this.#step(value, words);
  }

  /** Somebody types. @param {string} value @param {number} now in milliseconds */
  type(value, now) {
    const last = this.#done.at(-1);
    const goesOn = last?.words === 'typing' && now - this.#typedAt < PAUSE && this.#undone.length === 0;
    this.#typedAt = now;
    if (!goesOn) return this.#step(value, 'typing');
    last.after = this.value = value;
    this.#tell('typing');
    return last;
  }

  /** @param {string} value @param {string} words */
  #step(value, words) {
    if (value === this.value) return null;
    const step = { id: this.#nextId++, words, before: this.value, after: value };
    this.#done.push(step);
    if (this.#done.length > UNDOABLE) this.#done.shift();
    this.#undone = [];
    this.value = value;
    this.#tell(words);
    return step;
  }

  /** @param {number} [id] the change that must be the last one */
  undo(id) {
    const last = this.#done.at(-1);
    if (!last) throw new Error('there is nothing to undo');
    if (id !== undefined && id !== last.id)
      throw new Error(`change ${id} cannot be undone by itself: the last one was ${last.id}, ${last.words}`);
    this.#done.pop();
    this.#undone.push(last);
    return this.#go(last.before, last);
  }

  /** @param {number} [id] the change that must have been undone last */
  redo(id) {
    const next = this.#undone.at(-1);
    if (!next) throw new Error('there is nothing to redo');
    if (id !== undefined && id !== next.id)
      throw new Error(`change ${id} cannot be done again by itself: ${next.id} was undone last, ${next.words}`);
    this.#undone.pop();
    this.#done.push(next);
    return this.#go(next.after, next);
  }

  /** @param {string} value @param {{ id: number, words: string }} step */
  #go(value, step) {
    this.#typedAt = -Infinity;
    this.value = value;
    this.#tell(step.words);
    return step;
  }

  /** As it was kept. @param {{ value?: unknown, name?: unknown }} kept */
  load(kept) {
    this.value = String(kept.value ?? '');
    this.name = String(kept.name ?? '');
    this.#done = [];
    this.#undone = [];
    this.#tell('loading');
  }

  /** @param {string} words */
  #tell(words) {
    for (const hear of this.#hearers) hear(words);
  }
}

/** The headings of a Markdown text, with the line each is on, counted from one. @param {string} text */
export function outline(text) {
  /** @type {{ level: number, title: string, line: number }[]} */
  const found = [];
  let fence = '';
  const lines = text.split('\n');
  lines.forEach((written, at) => {
    const line = written.trimEnd();
    const marks = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? '';
    if (fence) {
      if (marks.startsWith(fence) && line.trim() === marks) fence = '';
      return;
    }
    if (marks) {
      fence = marks;
      return;
    }
    const heading = /^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?$/.exec(line);
    if (heading) found.push({ level: heading[1]?.length ?? 1, title: plain(heading[2] ?? ''), line: at + 1 });
    const under = /^ {0,3}(=+|-+)$/.exec(line);
    const above = lines[at - 1]?.trim() ?? '';
    if (under && above && !/^([#>|]|[-*+] |\d+[.)] |`{3}|-+$)/.test(above))
      found.push({ level: under[1]?.startsWith('=') ? 1 : 2, title: plain(above), line: at });
  });
  return found;
}

/** @param {string} title */
function plain(title) {
  return title
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[*_`~]/g, '')
    .trim();
}

/** @param {string} text */
export function counts(text) {
  const words = text.match(/[\p{L}\p{N}]+(?:['’.-][\p{L}\p{N}]+)*/gu)?.length ?? 0;
  return { words, characters: [...text].length, lines: text === '' ? 0 : text.split('\n').length };
}

/** Where a text occurs, whatever its case. @param {string} text @param {string} wanted */
export function occurrences(text, wanted) {
  if (!wanted) return [];
  const pattern = new RegExp(wanted.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'giu');
  return Array.from(text.matchAll(pattern), (it) => ({ start: it.index, end: it.index + it[0].length }));
}

/** On which line something is, counted from one. @param {string} text @param {number} at */
export function lineAt(text, at) {
  let line = 1;
  for (let next = text.indexOf('\n'); next >= 0 && next < at; next = text.indexOf('\n', next + 1)) line += 1;
  return line;
}

/** Where a line begins. @param {string} text @param {number} line counted from one */
export function startOf(text, line) {
  let at = 0;
  for (let left = line - 1; left > 0; left -= 1) {
    const next = text.indexOf('\n', at);
    if (next < 0) return text.length;
    at = next + 1;
  }
  return at;
}
