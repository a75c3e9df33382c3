// What lies before a person: a book, what is selected in it, what was done and can be undone. Draws nothing.
import { Book, copied } from './book.js';
import * as csv from './csv.js';
import { COLUMNS, ROWS, columnOf, keyOf, rectName, rectOf, rowOf } from './places.js';
import { shown } from './values.js';
import * as xlsx from './xlsx.js';

/**
 * @typedef {import('./places.js').Rect} Rect
 * @typedef {import('./book.js').Texts} Texts
 * @typedef {{ row: number, column: number }} Place
 * @typedef {'cells' | 'selection' | 'widths' | 'shown'} What
 * @typedef {{ id: number, words: string, before: Texts, after: Texts }} Change
 */

const UNDOABLE = 100;
export const USUAL_WIDTH = 96;

export class Desk {
  book = new Book();
  /** Where the selection began, and where it ends. */
  anchor = { row: 0, column: 0 };
  head = { row: 0, column: 0 };
  fileName = '';
  /** @type {Map<number, number>} */
  widths = new Map();
  /** @type {Change[]} */
  #done = [];
  /** @type {Change[]} */
  #undone = [];
  #nextId = 1;
  /** @type {Set<(what: What, change?: Change) => void>} */
  #hearers = new Set();

  /** @param {(what: What, change?: Change) => void} hear */
  onChange(hear) {
    this.#hearers.add(hear);
  }

  /** @returns {Rect} */
  get selection() {
    const { anchor, head } = this;
    return {
      top: Math.min(anchor.row, head.row),
      left: Math.min(anchor.column, head.column),
      bottom: Math.max(anchor.row, head.row),
      right: Math.max(anchor.column, head.column),
    };
  }

  get canUndo() {
    return this.#done.length > 0;
  }
  get canRedo() {
    return this.#undone.length > 0;
  }

  /** @param {Place} anchor @param {Place} [head] */
  select(anchor, head = anchor) {
    this.anchor = within(anchor);
    this.head = within(head);
    this.#tell('selection');
  }

  /** @param {Rect} rect */
  selectRect({ top, left, bottom, right }) {
    this.select({ row: top, column: left }, { row: bottom, column: right });
  }

  /** Selects something and brings it into view. @param {Rect} rect */
  show(rect) {
    this.selectRect(rect);
    this.#tell('shown');
  }

  /** Does something that can be undone. @param {string} words @param {Texts} texts @returns {{ change: Change | null, worked: Set<number> }} */
  change(words, texts) {
    const { before, worked } = this.book.put(texts);
    if (before.size === 0) return { change: null, worked };
    const after = new Map(Array.from(before.keys(), (key) => [key, this.book.textAt(key)]));
    const change = { id: this.#nextId++, words, before, after };
    this.#done.push(change);
    if (this.#done.length > UNDOABLE) this.#done.shift();
    this.#undone = [];
    this.#tell('cells', change);
    return { change, worked };
  }

  /** @param {number} [id] the change that must be the last one */
  undo(id) {
    const last = this.#done.at(-1);
    if (!last) throw new Error('there is nothing to undo');
    if (id !== undefined && last.id !== id)
      throw new Error(`change ${id} cannot be undone by itself: the last one was ${last.id}, ${last.words}`);
    this.#done.pop();
    this.book.put(last.before);
    this.#undone.push(last);
    this.#tell('cells', last);
    return last;
  }

  /** @param {number} [id] the change that must have been undone last */
  redo(id) {
    const next = this.#undone.at(-1);
    if (!next) throw new Error('there is nothing to redo');
    if (id !== undefined && next.id !== id)
      throw new Error(`change ${id} cannot be done again by itself: ${next.id} was undone last, ${next.words}`);
    this.#undone.pop();
    this.book.put(next.after);
    this.#done.push(next);
    this.#tell('cells', next);
    return next;
  }

  /** Everything there is, and nothing else, from now on. @param {string} words @param {Texts} texts */
  replace(words, texts) {
    const all = new Map(Array.from(this.book.keys(), (key) => [key, '']));
    for (const [key, text] of texts) all.set(key, text);
    return this.change(words, all);
  }

  /** @param {Rect} rect */
  clear(rect) {
    return this.change(`clear ${rectName(rect)}`, new Map(this.book.filled(rect).map((key) => [key, ''])));
  }

  /** @param {'row' | 'column'} axis @param {number} at @param {number} count */
  splice(axis, at, count) {
    const deed = count > 0 ? 'insert' : 'delete';
    return this.change(`${deed} ${Math.abs(count)} ${axis}s`, this.book.splice(axis, at, count));
  }

  /** @param {Rect} rect @param {{ column: number, descending?: boolean }[]} by */
  sort(rect, by) {
    return this.change(`sort ${rectName(rect)}`, this.book.sort(rect, by));
  }

  /** Goes on with a pattern: numbers at even steps, all else over and over. @param {Rect} from @param {Rect} to */
  fill(from, to) {
    /** @type {Texts} */
    const texts = new Map();
    const [height, width] = [from.bottom - from.top + 1, from.right - from.left + 1];
    const isDown = to.bottom > from.bottom || to.top < from.top;
    for (let row = to.top; row <= to.bottom; row += 1)
      for (let column = to.left; column <= to.right; column += 1) {
        const source = {
          row: from.top + mod(row - from.top, height),
          column: from.left + mod(column - from.left, width),
        };
        if (source.row === row && source.column === column) continue;
        const series = isDown
          ? this.#series(Array.from({ length: height }, (_, at) => keyOf(from.top + at, source.column)))
          : this.#series(Array.from({ length: width }, (_, at) => keyOf(source.row, from.left + at)));
        const text = series
          ? shown(series(isDown ? row - from.top : column - from.left))
          : copied(this.book.textAt(keyOf(source.row, source.column)), row - source.row, column - source.column);
        texts.set(keyOf(row, column), text);
      }
    return this.change(`fill ${rectName(to)}`, texts);
  }

  /** @param {number[]} keys */
  #series(keys) {
    const numbers = keys.map((key) => (this.book.isFormula(key) ? null : this.book.valueAt(key)));
    if (numbers.length < 2 || !numbers.every((it) => typeof it === 'number')) return null;
    const [first, second] = /** @type {number[]} */ (numbers);
    const step = Number(second) - Number(first);
    const isEven = numbers.every((it, at) => Math.abs(Number(it) - (Number(first) + step * at)) < 1e-9);
    return isEven ? (/** @type {number} */ at) => Number(first) + step * at : null;
  }

  /** What is in a rectangle, as it reads; rows of texts. @param {Rect} rect */
  rows(rect, read = this.book.shownAt.bind(this.book)) {
    const rows = [];
    for (let row = rect.top; row <= rect.bottom; row += 1) {
      const line = [];
      for (let column = rect.left; column <= rect.right; column += 1) line.push(read(keyOf(row, column)));
      rows.push(line);
    }
    return rows;
  }

  /** @param {string[][]} rows @param {Place} at @returns {Texts} */
  laid(rows, at) {
    const width = rows.reduce((most, row) => Math.max(most, row.length), 0);
    if (at.row + rows.length > ROWS)
      throw new Error(`a sheet has ${ROWS} rows, and this needs ${at.row + rows.length}`);
    if (at.column + width > COLUMNS)
      throw new Error(`a sheet has ${COLUMNS} columns, and this needs ${at.column + width}`);
    /** @type {Texts} */
    const texts = new Map();
    rows.forEach((row, down) => row.forEach((text, right) => texts.set(keyOf(at.row + down, at.column + right), text)));
    return texts;
  }

  /** Puts a table where the selection is; one field fills all of it. @param {string} text */
  paste(text) {
    const rows = csv.parse(text, '\t');
    const { selection } = this;
    const [first] = rows;
    if (!first) return;
    if (rows.length === 1 && first.length === 1) {
      const keys = this.#keysIn(selection);
      return this.change(`paste into ${rectName(selection)}`, new Map(keys.map((key) => [key, first[0] ?? ''])));
    }
    const texts = this.laid(rows, { row: selection.top, column: selection.left });
    const done = this.change(`paste ${rows.length} rows`, texts);
    const width = Math.max(...rows.map((row) => row.length));
    this.select(
      { row: selection.top, column: selection.left },
      { row: selection.top + rows.length - 1, column: selection.left + width - 1 },
    );
    return done;
  }

  /** @param {Rect} rect */
  #keysIn({ top, left, bottom, right }) {
    const most = 100_000;
    if ((bottom - top + 1) * (right - left + 1) > most)
      throw new Error(`no more than ${most} cells can be filled at once`);
    const keys = [];
    for (let row = top; row <= bottom; row += 1)
      for (let column = left; column <= right; column += 1) keys.push(keyOf(row, column));
    return keys;
  }

  /** @param {string | Uint8Array} content @param {string} name @param {string} [separator] */
  async open(content, name, separator) {
    let texts;
    let left = 0;
    if (typeof content === 'string') texts = this.laid(csv.parse(content, separator), { row: 0, column: 0 });
    else {
      const read = await xlsx.read(content);
      texts = new Map(read.cells.map(({ row, column, text }) => [keyOf(row, column), text]));
      left = read.left;
    }
    this.fileName = name;
    this.widths = new Map();
    const { change } = this.replace(`open ${name || 'a file'}`, texts);
    this.select({ row: 0, column: 0 });
    this.#tell('widths');
    return { left, change };
  }

  /** @param {Rect | null} rect @param {string} separator */
  csv(rect, separator = ',') {
    return rect ? csv.write(this.rows(rect), separator) : '';
  }

  /** For other programs, as they pass tables to each other. @param {Rect} rect */
  tsv(rect) {
    return csv.write(this.rows(rect), '\t').replace(/\r\n$/, '');
  }

  /** Puts a copy of cells where the selection is, with their formulas moved along. @param {Rect} from */
  pasteCopy(from) {
    const { top, left } = this.selection;
    /** @type {Texts} */
    const texts = new Map();
    const [down, right] = [top - from.top, left - from.left];
    if (from.bottom + down >= ROWS || from.right + right >= COLUMNS) throw new Error('it does not fit there');
    for (let row = from.top; row <= from.bottom; row += 1)
      for (let column = from.left; column <= from.right; column += 1)
        texts.set(keyOf(row + down, column + right), copied(this.book.textAt(keyOf(row, column)), down, right));
    const done = this.change(`paste ${rectName(from)}`, texts);
    this.selectRect({ top, left, bottom: from.bottom + down, right: from.right + right });
    return done;
  }

  /** @param {number} column @param {number} width */
  widen(column, width) {
    this.widths.set(column, Math.round(Math.max(32, Math.min(800, width))));
    this.#tell('widths');
  }

  /** @param {number} column */
  widthOf(column) {
    return this.widths.get(column) ?? USUAL_WIDTH;
  }

  save() {
    return { columns: COLUMNS, texts: this.book.texts(), widths: [...this.widths], fileName: this.fileName };
  }

  /** @param {any} kept */
  load(kept) {
    this.book = new Book();
    this.#done = [];
    this.#undone = [];
    this.widths = new Map(kept.widths);
    this.fileName = String(kept.fileName ?? '');
    /** @type {[number, string][]} */
    const texts = kept.texts;
    // Another version may have counted its columns differently.
    const key = (/** @type {number} */ it) => keyOf(Math.floor(it / kept.columns), it % kept.columns);
    this.book.put(new Map(texts.map(([at, text]) => [key(at), text])));
    this.#tell('cells');
    this.#tell('widths');
  }

  /** @param {What} what @param {Change} [change] */
  #tell(what, change) {
    for (const hear of this.#hearers) hear(what, change);
  }
}

/** @param {number} number @param {number} by */
const mod = (number, by) => ((number % by) + by) % by;

/** @param {Place} place */
function within({ row, column }) {
  return { row: Math.max(0, Math.min(ROWS - 1, row)), column: Math.max(0, Math.min(COLUMNS - 1, column)) };
}

/** The part of a sheet that a range names; all that is used where none is named. @param {Desk} desk @param {unknown} [range] */
export function named(desk, range) {
  if (range === undefined || range === null || range === '') return desk.book.extent();
  const rect = rectOf(range);
  if (!rect) throw new Error(`"${range}" is no range: expected something like A1, A1:C10, A:C or 2:5`);
  const used = desk.book.extent();
  // Whole rows and columns end where everything does.
  if (rect.bottom === ROWS - 1) rect.bottom = Math.max(rect.top, used?.bottom ?? 0);
  if (rect.right === COLUMNS - 1) rect.right = Math.max(rect.left, used?.right ?? 0);
  return rect;
}

/** Every place that a change touched, as few ranges. @param {Change} change */
export function touchedBy(change) {
  const keys = [...change.before.keys()];
  const rows = keys.map(rowOf);
  const columns = keys.map(columnOf);
  const least = (/** @type {number[]} */ all) => all.reduce((one, other) => Math.min(one, other), Infinity);
  const most = (/** @type {number[]} */ all) => all.reduce((one, other) => Math.max(one, other), 0);
  return { top: least(rows), left: least(columns), bottom: most(rows), right: most(columns) };
}
