// The cells of a sheet: what was put into each, what it comes to, and how rows and columns move. Knows nothing of pages.
import { evaluate } from './evaluate.js';
import { Wrong, parse, reads, shifted, spliced } from './formula.js';
import { Graph } from './graph.js';
import { COLUMNS, ROWS, columnOf, holds, keyOf, rowOf } from './places.js';
import { ordered, shown, typed } from './values.js';

/**
 * @typedef {import('./places.js').Rect} Rect
 * @typedef {import('./values.js').Value} Value
 * @typedef {{ text: string, value: Value, tree?: any }} Cell
 * Texts by cell; an empty one is no cell.
 * @typedef {Map<number, string>} Texts
 */

const CIRCLE = new Wrong('#CYCLE!', 'the formula depends on itself');
const MOST_CHARS = 32_767;

export class Book {
  /** @type {Map<number, Cell>} */
  #cells = new Map();
  #graph = new Graph();
  /** Behind the last row and column; never smaller than needed. */
  #rows = 0;
  #columns = 0;
  /** How formulas look into the sheet. */
  #view = {
    at: (/** @type {number} */ row, /** @type {number} */ column) => this.valueAt(keyOf(row, column)),
    within: (/** @type {Rect} */ rect) => ({
      ...rect,
      bottom: Math.min(rect.bottom, this.#rows - 1),
      right: Math.min(rect.right, this.#columns - 1),
    }),
  };

  get size() {
    return this.#cells.size;
  }

  /** @param {number} key */
  textAt = (key) => this.#cells.get(key)?.text ?? '';
  /** @param {number} key @returns {Value} */
  valueAt = (key) => this.#cells.get(key)?.value ?? null;
  /** @param {number} key */
  isFormula = (key) => this.#cells.get(key)?.tree !== undefined;

  /** Every cell with something in it, in no order. */
  keys() {
    return this.#cells.keys();
  }

  /** The smallest rectangle from A1 that holds everything, or null. @returns {Rect | null} */
  extent() {
    let [rows, columns] = [0, 0];
    for (const key of this.#cells.keys()) {
      rows = Math.max(rows, rowOf(key) + 1);
      columns = Math.max(columns, columnOf(key) + 1);
    }
    [this.#rows, this.#columns] = [rows, columns];
    return rows > 0 ? { top: 0, left: 0, bottom: rows - 1, right: columns - 1 } : null;
  }

  /** The keys in a rectangle that hold something, row by row. @param {Rect} rect */
  filled({ top, left, bottom, right }) {
    const area = (bottom - top + 1) * (right - left + 1);
    if (area > this.#cells.size) {
      const rect = { top, left, bottom, right };
      const inside = [...this.#cells.keys()].filter((key) => holds(rect, rowOf(key), columnOf(key)));
      return inside.sort((one, other) => one - other);
    }
    const found = [];
    for (let row = top; row <= bottom; row += 1)
      for (let column = left; column <= right; column += 1) {
        const key = keyOf(row, column);
        if (this.#cells.has(key)) found.push(key);
      }
    return found;
  }

  /**
   * Puts texts into cells, an empty one to clear it, and works out what that changes.
   * @param {Texts} texts
   * @returns {{ before: Texts, worked: Set<number> }} what was there, and the formulas that were worked out anew
   */
  put(texts) {
    /** @type {Texts} */
    const before = new Map();
    for (const [key, text] of texts) {
      const old = this.textAt(key);
      if (old === text) continue;
      before.set(key, old);
      this.#place(key, text);
    }
    const touched = this.#graph.touched(new Set(before.keys()));
    for (const { keys, isCircle } of this.#graph.inOrder(touched))
      for (const key of keys) {
        const cell = /** @type {Cell} */ (this.#cells.get(key));
        cell.value = isCircle ? CIRCLE : evaluate(cell.tree, this.#view);
      }
    return { before, worked: touched };
  }

  /** What a formula would give, without being anywhere. @param {string} formula */
  evaluate(formula) {
    const tree = treeOf(formula.replace(/^\s*=/, ''));
    return tree instanceof Wrong ? tree : evaluate(tree, this.#view);
  }

  /** @param {number} key @param {string} text */
  #place(key, text) {
    this.#graph.remove(key);
    if (text === '') {
      this.#cells.delete(key);
      return;
    }
    this.#rows = Math.max(this.#rows, rowOf(key) + 1);
    this.#columns = Math.max(this.#columns, columnOf(key) + 1);
    if (!/^\s*=./s.test(text)) {
      this.#cells.set(key, { text, value: typed(text) });
      return;
    }
    const tree = treeOf(text.trimStart().slice(1));
    if (tree instanceof Wrong) {
      this.#cells.set(key, { text, value: tree });
      return;
    }
    this.#cells.set(key, { text, value: null, tree });
    this.#graph.add(key, reads(tree));
  }

  /**
   * The texts that putting in (count above zero) or taking out rows or columns changes.
   * @param {'row' | 'column'} axis @param {number} at @param {number} count
   * @returns {Texts}
   */
  splice(axis, at, count) {
    const most = axis === 'row' ? ROWS : COLUMNS;
    const gone = count < 0 ? at - count : at;
    /** @type {Texts} */
    const after = new Map();
    for (const [key, { text }] of this.#cells) {
      const place = { row: rowOf(key), column: columnOf(key) };
      if (count < 0 && place[axis] >= at && place[axis] < gone) continue;
      if (place[axis] >= gone) place[axis] += count;
      if (place[axis] >= most)
        throw new RangeError(`that would push what is in ${axis} ${place[axis] - count + 1} off the sheet`);
      const moved = text.trimStart().startsWith('=') ? `=${spliced(text.trimStart().slice(1), axis, at, count)}` : text;
      after.set(keyOf(place.row, place.column), moved);
    }
    return this.#difference(after);
  }

  /**
   * The texts that sorting rows changes. Formulas keep pointing at their own row.
   * @param {Rect} rect @param {{ column: number, descending?: boolean }[]} by
   * @returns {Texts}
   */
  sort(rect, by) {
    const rows = Array.from({ length: rect.bottom - rect.top + 1 }, (_, index) => rect.top + index);
    const compare = (/** @type {number} */ one, /** @type {number} */ other) => {
      for (const { column, descending } of by) {
        const [left, right] = [this.valueAt(keyOf(one, column)), this.valueAt(keyOf(other, column))];
        const order = ordered(left, right);
        const isLast = (/** @type {Value} */ it) => it === null || it === '' || it instanceof Wrong;
        if (order !== 0) return descending && !isLast(left) && !isLast(right) ? -order : order;
      }
      return one - other;
    };
    const sorted = rows.toSorted(compare);
    /** @type {Texts} */
    const after = new Map();
    sorted.forEach((from, index) => {
      const to = rect.top + index;
      for (let column = rect.left; column <= rect.right; column += 1)
        after.set(keyOf(to, column), copied(this.textAt(keyOf(from, column)), to - from, 0));
    });
    return after;
  }

  /** @param {Texts} after everything, as it shall be */
  #difference(after) {
    /** @type {Texts} */
    const changes = new Map();
    for (const key of this.#cells.keys()) if (!after.has(key)) changes.set(key, '');
    for (const [key, text] of after) if (this.textAt(key) !== text) changes.set(key, text);
    return changes;
  }

  /** All texts, for keeping. */
  texts() {
    return Array.from(this.#cells, ([key, { text }]) => /** @type {[number, string]} */ ([key, text]));
  }

  /** @param {number} key */
  shownAt(key) {
    return shown(this.valueAt(key));
  }
}

/** @param {string} text */
function treeOf(text) {
  if (text.length > MOST_CHARS) return new Wrong('#ERROR!', 'the formula is too long');
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof Wrong) return error;
    throw error;
  }
}

/** What a cell holds once it was copied so far away. @param {string} text @param {number} rows @param {number} columns */
export function copied(text, rows, columns) {
  return text.trimStart().startsWith('=') ? `=${shifted(text.trimStart().slice(1), rows, columns)}` : text;
}
