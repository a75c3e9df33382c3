// Which formulas read which cells, and in what order they must be worked out when something changes.
import { columnOf, holds, keyOf, rowOf } from './places.js';

/** Beyond so many changes at once it is quicker to work everything out. */
const MANY = 2000;

export class Graph {
  /** What each formula reads. @type {Map<number, { cells: number[], rects: import('./places.js').Rect[] }>} */
  #reads = new Map();
  /** The formulas that read one cell by its name. @type {Map<number, Set<number>>} */
  #readers = new Map();
  /** The formulas that read a range which touches a column. @type {Map<number, Set<number>>} */
  #rangeReaders = new Map();

  /** @param {number} key @param {{ cells: { row: number, column: number }[], rects: import('./places.js').Rect[] }} reads */
  add(key, { cells, rects }) {
    const keys = cells.map((it) => keyOf(it.row, it.column));
    this.#reads.set(key, { cells: keys, rects });
    for (const read of keys) entry(this.#readers, read).add(key);
    for (const { left, right } of rects)
      for (let column = left; column <= right; column += 1) entry(this.#rangeReaders, column).add(key);
  }

  /** @param {number} key */
  remove(key) {
    const reads = this.#reads.get(key);
    if (!reads) return;
    this.#reads.delete(key);
    for (const read of reads.cells) leave(this.#readers, read, key);
    for (const { left, right } of reads.rects)
      for (let column = left; column <= right; column += 1) leave(this.#rangeReaders, column, key);
  }

  /** Every formula that a change of these cells can be seen in. @param {Set<number>} changed @returns {Set<number>} */
  touched(changed) {
    if (changed.size > MANY) return new Set(this.#reads.keys());
    const found = new Set([...changed].filter((key) => this.#reads.has(key)));
    const queue = [...changed];
    for (let key = queue.pop(); key !== undefined; key = queue.pop()) {
      for (const reader of this.#readersOf(key)) {
        if (found.has(reader)) continue;
        found.add(reader);
        queue.push(reader);
      }
    }
    return found;
  }

  /** @param {number} key */
  *#readersOf(key) {
    yield* this.#readers.get(key) ?? [];
    const [row, column] = [rowOf(key), columnOf(key)];
    for (const reader of this.#rangeReaders.get(column) ?? [])
      if (this.#reads.get(reader)?.rects.some((rect) => holds(rect, row, column))) yield reader;
  }

  /**
   * These formulas, each after those it reads; those that read each other in a circle come together.
   * Tarjan's way, without recursion: a column may well be one long chain.
   * @param {Set<number>} keys
   * @returns {Generator<{ keys: number[], isCircle: boolean }>}
   */
  *inOrder(keys) {
    const near = this.#withinReach(keys);
    /** @type {Map<number, { index: number, low: number, open: boolean }>} */
    const seen = new Map();
    /** @type {number[]} */
    const open = [];
    for (const root of keys) {
      if (seen.has(root)) continue;
      const path = [begin(root)];
      for (let top = path.at(-1); top; top = path.at(-1)) {
        const { key, mark, reads } = top;
        const next = reads[top.at++];
        if (next !== undefined) {
          const known = seen.get(next);
          if (!known) path.push(begin(next));
          else if (known.open) mark.low = Math.min(mark.low, known.index);
          continue;
        }
        path.pop();
        const above = path.at(-1);
        if (above) above.mark.low = Math.min(above.mark.low, mark.low);
        if (mark.low !== mark.index) continue;
        const group = open.splice(open.lastIndexOf(key));
        for (const each of group) /** @type {any} */ (seen.get(each)).open = false;
        yield { keys: group, isCircle: group.length > 1 || reads.includes(key) };
      }
    }

    /** @param {number} key */
    function begin(key) {
      const mark = { index: seen.size, low: seen.size, open: true };
      seen.set(key, mark);
      open.push(key);
      return { key, mark, reads: near(key), at: 0 };
    }
  }

  /** How to find those among the given formulas that one of them reads. @param {Set<number>} keys */
  #withinReach(keys) {
    /** @type {Map<number, number[]>} */
    const columns = new Map();
    for (const key of keys) {
      const rows = columns.get(columnOf(key));
      if (rows) rows.push(rowOf(key));
      else columns.set(columnOf(key), [rowOf(key)]);
    }
    for (const rows of columns.values()) rows.sort((one, other) => one - other);
    return (/** @type {number} */ key) => {
      const reads = this.#reads.get(key);
      const found = reads?.cells.filter((it) => keys.has(it)) ?? [];
      for (const { top, left, bottom, right } of reads?.rects ?? []) {
        for (const [column, rows] of columns) {
          if (column < left || column > right) continue;
          for (let at = firstFrom(rows, top); at < rows.length && /** @type {number} */ (rows[at]) <= bottom; at += 1)
            found.push(keyOf(/** @type {number} */ (rows[at]), column));
        }
      }
      return found;
    };
  }
}

/** @param {number[]} sorted @param {number} least */
function firstFrom(sorted, least) {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (/** @type {number} */ (sorted[middle]) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** @param {Map<number, Set<number>>} map @param {number} key */
function entry(map, key) {
  const found = map.get(key);
  if (found) return found;
  const fresh = new Set();
  map.set(key, fresh);
  return fresh;
}

/** @param {Map<number, Set<number>>} map @param {number} key @param {number} member */
function leave(map, key, member) {
  const found = map.get(key);
  found?.delete(member);
  if (found?.size === 0) map.delete(key);
}
