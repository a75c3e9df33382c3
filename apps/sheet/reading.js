// What the sheet says of itself to an agent, short enough to be read.
import { touchedBy } from './desk.js';
import { Wrong } from './formula.js';
import { columnName, columnOf, keyName, keyOf, rectName } from './places.js';

/** @typedef {import('./desk.js').Desk} Desk */

export const MOST_CELLS = 1000;
export const MOST_ROWS = 200;
export const MOST_COLUMNS = 50;

/** What came of a change, short enough to be read. @param {Desk} desk @param {{ change: import('./desk.js').Change | null, worked: Set<number> }} done */
export function done(desk, { change, worked }) {
  // Without a change there is nothing to undo, which is said so that nothing else is.
  if (!change) return { ok: true, changed: 0, change: null };
  const changed = [...change.before.keys()];
  const recalculated = [...worked].filter((key) => !change.before.has(key));
  return {
    ok: true,
    changed: changed.length,
    in: rectName(touchedBy(change)),
    values: valuesOf(desk, changed),
    ...(recalculated.length > 0 ? { recalculated: valuesOf(desk, recalculated) } : {}),
    ...wrongs(desk, [...changed, ...recalculated]),
    change: change.id,
  };
}

const FEW = 40;

/** @param {Desk} desk @param {number[]} keys */
function valuesOf(desk, keys) {
  return Object.fromEntries(keys.slice(0, FEW).map((key) => [keyName(key), desk.book.valueAt(key)]));
}

/** @param {Desk} desk @param {number[]} keys */
function wrongs(desk, keys) {
  const found = keys.filter((key) => desk.book.valueAt(key) instanceof Wrong).slice(0, FEW);
  if (found.length === 0) return {};
  return { errors: Object.fromEntries(found.map((key) => [keyName(key), explained(desk.book.valueAt(key))])) };
}

/** @param {import('./values.js').Value} value */
function explained(value) {
  return value instanceof Wrong && value.why ? `${value.code}: ${value.why}` : String(value);
}

/** @param {import('./values.js').Value} value */
export function told(value) {
  return value instanceof Wrong ? { value: value.code, error: value.why } : { value };
}

/** @param {Desk} desk @param {import('./places.js').Rect | null} rect */
export function cells(desk, rect) {
  const keys = rect ? desk.book.filled(rect) : [];
  const shown = keys.slice(0, MOST_CELLS);
  const cells = shown.map((key) => [keyName(key), { input: desk.book.textAt(key), value: plain(desk, key) }]);
  return { range: rect ? rectName(rect) : null, cells: Object.fromEntries(cells), ...left(keys.length - shown.length) };
}

/** @param {Desk} desk @param {import('./places.js').Rect | null} rect */
export function values(desk, rect) {
  if (!rect) return { range: null, rows: [] };
  const part = {
    ...rect,
    bottom: Math.min(rect.bottom, rect.top + MOST_ROWS - 1),
    right: Math.min(rect.right, rect.left + MOST_COLUMNS - 1),
  };
  const rows = desk.rows(part, (key) => /** @type {any} */ (plain(desk, key)));
  return { range: rectName(part), rows, ...left(rect.bottom - part.bottom, 'rows') };
}

/** @param {Desk} desk @param {number} key */
function plain(desk, key) {
  const value = desk.book.valueAt(key);
  return value instanceof Wrong ? value.code : value;
}

/** @param {number} count */
const left = (count, what = 'cells') => (count > 0 ? { left: `${count} more ${what}` } : {});

/** @param {Desk} desk @param {import('./places.js').Rect} rect */
export function numbers(desk, rect) {
  const all = desk.book.filled(rect).map((key) => desk.book.valueAt(key));
  const found = all.filter((it) => typeof it === 'number');
  const sum = found.reduce((total, it) => total + it, 0);
  return { filled: all.length, count: found.length, sum, ...(found.length > 0 ? { average: sum / found.length } : {}) };
}

/** @param {Desk} desk */
export function summary(desk) {
  const extent = desk.book.extent();
  if (!extent) return { range: null, rows: 0, columns: 0, filled: 0, formulas: 0, file: desk.fileName || undefined };
  const columns = Array.from({ length: Math.min(extent.right + 1, MOST_COLUMNS) }, () => ({
    count: 0,
    sum: 0,
    least: Infinity,
    most: -Infinity,
  }));
  let [formulas, errors] = [0, 0];
  for (const key of desk.book.keys()) {
    const value = desk.book.valueAt(key);
    if (desk.book.isFormula(key)) formulas += 1;
    if (value instanceof Wrong) errors += 1;
    const column = columns[columnOf(key)];
    if (typeof value !== 'number' || !column) continue;
    column.count += 1;
    column.sum += value;
    column.least = Math.min(column.least, value);
    column.most = Math.max(column.most, value);
  }
  return {
    range: rectName(extent),
    rows: extent.bottom + 1,
    columns: extent.right + 1,
    filled: desk.book.size,
    formulas,
    errors,
    file: desk.fileName || undefined,
    byColumn: Object.fromEntries(
      columns.map(({ count, sum, least, most }, column) => [
        columnName(column),
        { first: plain(desk, keyOf(0, column)), numbers: count, ...(count > 0 ? { sum, min: least, max: most } : {}) },
      ]),
    ),
  };
}
