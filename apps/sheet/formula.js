// Formulas as text and as trees: reads one, and rewrites the places it names. Works nothing out.
import { COLUMNS, ROWS, columnName, columnNumber } from './places.js';

/** What a cell shows when it cannot show a value. Not an `Error`: thousands are made at once. */
export class Wrong {
  /** @param {string} code @param {string} [why] */
  constructor(code, why = '') {
    this.code = code;
    this.why = why;
  }
  toString() {
    return this.code;
  }
  toJSON() {
    return this.code;
  }
}

const CELL = String.raw`\$?[A-Za-z]{1,3}\$?[1-9]\d{0,6}(?![\w(.])`;
const KINDS = ['space', 'text', 'error', 'range', 'cell', 'number', 'name', 'sign', 'odd'];
const PIECES = new RegExp(
  [
    String.raw`(\s+)`,
    String.raw`("(?:[^"]|"")*")`,
    String.raw`(#(?:DIV/0!|REF!|NAME\?|VALUE!|NUM!|N/A|CYCLE!|ERROR!))`,
    String.raw`(${CELL}:${CELL}|\$?[A-Za-z]{1,3}:\$?[A-Za-z]{1,3}(?![\w(.])|\$?[1-9]\d{0,6}:\$?[1-9]\d{0,6})`,
    `(${CELL})`,
    String.raw`((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)`,
    String.raw`([A-Za-z_][\w.]*)`,
    String.raw`(<>|<=|>=|[-+*/^&=<>%(),;])`,
    String.raw`([\s\S])`,
  ].join('|'),
  'g',
);

/** @param {string} text without the `=` */
function pieces(text) {
  return Array.from(text.matchAll(PIECES), (found) => {
    const written = found[0];
    return { kind: KINDS[found.indexOf(written, 1) - 1] ?? 'odd', written };
  });
}

/** From weakest to strongest; within a row from left to right. */
const LEVELS = [['=', '<>', '<', '>', '<=', '>='], ['&'], ['+', '-'], ['*', '/'], ['^']];

/** Deeper ones would not be read by a person either, and the stack is not endless. */
const DEEPEST = 200;

/**
 * The tree of a formula; throws a `Wrong` that says what was unexpected.
 * @param {string} text without the `=`
 */
export function parse(text) {
  const tokens = pieces(text).filter((it) => it.kind !== 'space');
  let at = 0;
  let depth = 0;
  const next = () => tokens[at];
  const takes = (/** @type {string[]} */ ...signs) => {
    const token = next();
    if (token?.kind !== 'sign' || !signs.includes(token.written)) return undefined;
    at += 1;
    return token.written;
  };

  function level(/** @type {number} */ which) {
    const signs = LEVELS[which];
    if (!signs) return signed();
    let tree = level(which + 1);
    for (let op = takes(...signs); op; op = takes(...signs))
      tree = { kind: 'binary', op, left: tree, right: level(which + 1) };
    return tree;
  }
  /** Stronger than `^`, as in every other spreadsheet: -2^2 is 4. */
  function signed() {
    if (++depth > DEEPEST) throw new Wrong('#ERROR!', 'the formula is nested too deeply');
    const op = takes('-', '+');
    const tree = op ? { kind: 'unary', op, of: signed() } : percent();
    depth -= 1;
    return tree;
  }
  function percent() {
    let tree = single();
    while (takes('%')) tree = { kind: 'percent', of: tree };
    return tree;
  }
  function single() {
    const token = next();
    if (!token) throw new Wrong('#ERROR!', 'the formula ends too early');
    if (takes('(')) {
      const tree = level(0);
      if (!takes(')')) throw new Wrong('#ERROR!', `expected ) but got ${next()?.written ?? 'the end'}`);
      return tree;
    }
    at += 1;
    switch (token.kind) {
      case 'number':
        return { kind: 'value', value: Number(token.written) };
      case 'text':
        return { kind: 'value', value: token.written.slice(1, -1).replaceAll('""', '"') };
      case 'error':
        return { kind: 'value', value: new Wrong(token.written) };
      case 'cell':
      case 'range':
        return placed(token.written);
      case 'name':
        return named(token.written.toUpperCase());
      default:
        throw new Wrong('#ERROR!', `did not expect ${token.written}`);
    }
  }
  function named(/** @type {string} */ name) {
    if (!takes('(')) {
      if (name === 'TRUE' || name === 'FALSE') return { kind: 'value', value: name === 'TRUE' };
      return { kind: 'value', value: new Wrong('#NAME?', `${name} is neither a cell nor a function`) };
    }
    const parts = [];
    if (takes(')')) return { kind: 'call', name, parts };
    do parts.push(isLeftOut() ? { kind: 'value', value: null } : level(0));
    while (takes(',', ';'));
    if (!takes(')')) throw new Wrong('#ERROR!', `expected , or ) in ${name}, but got ${next()?.written ?? 'the end'}`);
    return { kind: 'call', name, parts };
  }
  const isLeftOut = () => next()?.kind === 'sign' && [',', ';', ')'].includes(next()?.written ?? '');

  const tree = level(0);
  if (next()) throw new Wrong('#ERROR!', `did not expect ${next()?.written}`);
  return tree;
}

function placed(/** @type {string} */ written) {
  const area = areaOf(written);
  const { from, to } = area;
  if (to.row >= ROWS || to.column >= COLUMNS || from.row >= ROWS || from.column >= COLUMNS)
    return { kind: 'value', value: new Wrong('#REF!', `${written} is beyond the sheet`) };
  const rect = {
    top: Math.min(from.row, to.row),
    bottom: Math.max(from.row, to.row),
    left: Math.min(from.column, to.column),
    right: Math.max(from.column, to.column),
  };
  return area.isCell ? { kind: 'cell', row: from.row, column: from.column } : { kind: 'range', rect };
}

/**
 * The same formula with every place in it moved.
 * @param {string} text without the `=`
 * @param {(area: Area) => Area | null} move gives null for a place that is no more
 */
export function rewritten(text, move) {
  return pieces(text)
    .map(({ kind, written }) => {
      if (kind !== 'cell' && kind !== 'range') return written;
      const moved = move(areaOf(written));
      return moved ? areaText(moved) : '#REF!';
    })
    .join('');
}

/**
 * A place as written: whole rows and columns have an end that is not written, and `$` holds an end fast.
 * @typedef {{ row: number, column: number, rowFast: boolean, columnFast: boolean }} End
 * @typedef {{ from: End, to: End, isCell: boolean, whole: '' | 'rows' | 'columns' }} Area
 */

/** @param {string} written @returns {Area} */
function areaOf(written) {
  const [first = '', second = first] = written.split(':');
  const whole = /\d/.test(first) ? (/[A-Za-z]/.test(first) ? '' : 'rows') : 'columns';
  return { from: end(first, 0, 0), to: end(second, ROWS - 1, COLUMNS - 1), isCell: !written.includes(':'), whole };
}

/** @param {string} text @param {number} row @param {number} column @returns {End} */
function end(text, row, column) {
  const [, columnSign = '', letters = '', rowSign = '', digits = ''] = /^(\$?)([A-Za-z]*)(\$?)(\d*)$/.exec(text) ?? [];
  return {
    row: digits ? Number(digits) - 1 : row,
    column: letters ? columnNumber(letters) : column,
    // Of `$5` the sign stands before letters that are not there.
    rowFast: (letters ? rowSign : columnSign || rowSign) === '$',
    columnFast: columnSign === '$',
  };
}

/** @param {Area} area */
function areaText({ from, to, isCell, whole }) {
  const one = (/** @type {End} */ it) =>
    (whole === 'rows' ? '' : (it.columnFast ? '$' : '') + columnName(it.column)) +
    (whole === 'columns' ? '' : (it.rowFast ? '$' : '') + (it.row + 1));
  return isCell ? one(from) : `${one(from)}:${one(to)}`;
}

/** As when a cell is copied elsewhere: what is not held fast moves along. @param {string} text @param {number} rows @param {number} columns */
export function shifted(text, rows, columns) {
  const along = (/** @type {End} */ it, /** @type {string} */ whole) => ({
    ...it,
    row: it.rowFast || whole === 'columns' ? it.row : it.row + rows,
    column: it.columnFast || whole === 'rows' ? it.column : it.column + columns,
  });
  const exists = (/** @type {End} */ it) => it.row >= 0 && it.row < ROWS && it.column >= 0 && it.column < COLUMNS;
  return rewritten(text, (area) => {
    const moved = { ...area, from: along(area.from, area.whole), to: along(area.to, area.whole) };
    return exists(moved.from) && exists(moved.to) ? moved : null;
  });
}

/**
 * As when rows or columns are put in (count above zero) or taken out (below).
 * @param {string} text @param {'row' | 'column'} axis @param {number} at @param {number} count
 */
export function spliced(text, axis, at, count) {
  const most = axis === 'row' ? ROWS : COLUMNS;
  return rewritten(text, (area) => {
    if (area.whole === (axis === 'row' ? 'columns' : 'rows')) return area;
    let [first, last] = [area.from[axis], area.to[axis]];
    const isTurned = first > last;
    if (isTurned) [first, last] = [last, first];
    if (count > 0) {
      if (first >= at) first += count;
      if (last >= at) last += count;
    } else {
      const gone = at - count;
      first = first >= gone ? first + count : Math.min(first, at);
      last = last >= gone ? last + count : Math.min(last, at - 1);
    }
    if (first > last || first >= most) return null;
    last = Math.min(last, most - 1);
    if (isTurned) [first, last] = [last, first];
    return { ...area, from: { ...area.from, [axis]: first }, to: { ...area.to, [axis]: last } };
  });
}

/**
 * Which places a formula reads.
 * @param {any} tree
 * @param {{ cells: { row: number, column: number }[], rects: import('./places.js').Rect[] }} found
 */
export function reads(tree, found = { cells: [], rects: [] }) {
  if (tree.kind === 'cell') found.cells.push(tree);
  if (tree.kind === 'range') found.rects.push(tree.rect);
  for (const part of [tree.left, tree.right, tree.of, ...(tree.parts ?? [])]) if (part) reads(part, found);
  return found;
}
