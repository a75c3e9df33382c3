// Where cells are: names like A1, the ranges between them, and a number for each.

export const ROWS = 200_000;
export const COLUMNS = 702;

/**
 * Both ends belong to it.
 * @typedef {{ top: number, left: number, bottom: number, right: number }} Rect
 */

/** @param {number} row @param {number} column */
export const keyOf = (row, column) => row * COLUMNS + column;
/** @param {number} key */
export const rowOf = (key) => Math.floor(key / COLUMNS);
/** @param {number} key */
export const columnOf = (key) => key % COLUMNS;

/** @param {number} column @returns {string} */
export function columnName(column) {
  const last = String.fromCharCode(65 + (column % 26));
  return column < 26 ? last : columnName(Math.floor(column / 26) - 1) + last;
}

/** @param {string} name */
export function columnNumber(name) {
  return [...name.toUpperCase()].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

/** @param {number} row @param {number} column */
export const nameOf = (row, column) => columnName(column) + (row + 1);

/** @param {number} key */
export const keyName = (key) => nameOf(rowOf(key), columnOf(key));

/** @param {Rect} rect */
export function rectName({ top, left, bottom, right }) {
  const first = nameOf(top, left);
  return top === bottom && left === right ? first : `${first}:${nameOf(bottom, right)}`;
}

/** The place of a cell by its name, or null where there is none. @param {unknown} name */
export function placeOf(name) {
  const found = /^\$?([A-Z]{1,3})\$?([1-9]\d{0,6})$/i.exec(String(name).trim());
  if (!found) return null;
  const [row, column] = [Number(found[2]) - 1, columnNumber(found[1] ?? '')];
  return row < ROWS && column < COLUMNS ? { row, column } : null;
}

/** `A1`, `A1:B9`, `A:C` or `2:5` as a rectangle, or null. @param {unknown} text @returns {Rect | null} */
export function rectOf(text) {
  const [from = '', to = from, ...more] = String(text).trim().replaceAll('$', '').split(':');
  if (more.length > 0) return null;
  const isRange = String(text).includes(':');
  if (isRange && /^[A-Z]{1,3}$/i.test(from) && /^[A-Z]{1,3}$/i.test(to))
    return bounded(0, columnNumber(from), ROWS - 1, columnNumber(to));
  if (isRange && /^[1-9]\d{0,6}$/.test(from) && /^[1-9]\d{0,6}$/.test(to))
    return bounded(Number(from) - 1, 0, Number(to) - 1, COLUMNS - 1);
  const [one, other] = [placeOf(from), placeOf(to)];
  return one && other ? bounded(one.row, one.column, other.row, other.column) : null;
}

/** @param {number} row @param {number} column @param {number} toRow @param {number} toColumn */
function bounded(row, column, toRow, toColumn) {
  const rect = {
    top: Math.min(row, toRow),
    left: Math.min(column, toColumn),
    bottom: Math.max(row, toRow),
    right: Math.max(column, toColumn),
  };
  return rect.bottom < ROWS && rect.right < COLUMNS ? rect : null;
}

/** @param {Rect} rect @param {number} row @param {number} column */
export function holds({ top, left, bottom, right }, row, column) {
  return row >= top && row <= bottom && column >= left && column <= right;
}
