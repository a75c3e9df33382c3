// The functions that formulas can call, each with how many things it takes.
import { Wrong } from './formula.js';
import { asNumber, asText, asTruth, compared, finite } from './values.js';

/**
 * What a function is given to look at its parts; a part that nobody looks at is never worked out.
 * @typedef {import('./values.js').Value} Value
 * @typedef {object} Hand
 * @property {(part: any) => Value} value one value; throws what went wrong
 * @property {(part: any) => Iterable<Value>} all every value of a range, wrong ones as they are
 * @property {(part: any) => boolean} isRange
 * @property {(part: any) => { width: number, height: number, at: (row: number, column: number) => Value }} table
 */

const MANY = 255;

/** Numbers: all of them in ranges, and what can pass for one where it stands by itself. @param {any[]} parts @param {Hand} hand */
function* numbers(parts, hand) {
  for (const part of parts) {
    if (!hand.isRange(part)) {
      yield asNumber(hand.value(part));
      continue;
    }
    for (const value of hand.all(part)) {
      if (value instanceof Wrong) throw value;
      if (typeof value === 'number') yield value;
    }
  }
}

/** @param {any[]} parts @param {Hand} hand */
function* truths(parts, hand) {
  for (const part of parts) {
    if (!hand.isRange(part)) {
      yield asTruth(hand.value(part));
      continue;
    }
    for (const value of hand.all(part)) {
      if (value instanceof Wrong) throw value;
      if (typeof value === 'number' || typeof value === 'boolean') yield Boolean(value);
    }
  }
}

/** @param {any[]} parts @param {Hand} hand */
function count(parts, hand, counts = (/** @type {Value} */ it) => typeof it === 'number') {
  let sum = 0;
  for (const part of parts) for (const value of hand.all(part)) if (counts(value)) sum += 1;
  return sum;
}

/** @param {Iterable<number>} all */
function average(all) {
  const list = [...all];
  if (list.length === 0) throw new Wrong('#DIV/0!', 'there is no number to average');
  return list.reduce((sum, it) => sum + it, 0) / list.length;
}

/** @param {Iterable<number>} all */
function median(all) {
  const list = [...all].sort((one, other) => one - other);
  if (list.length === 0) throw new Wrong('#NUM!', 'there is no number');
  const middle = list.length >> 1;
  return list.length % 2 ? (list[middle] ?? 0) : ((list[middle - 1] ?? 0) + (list[middle] ?? 0)) / 2;
}

/** Away from zero at the half, and by what is written in decimals: 1.005 to two places is 1.01. */
function rounded(/** @type {number} */ number, /** @type {number} */ places, step = Math.round) {
  const scale = 10 ** Math.trunc(places);
  const moved = Number((Math.abs(number) * scale).toPrecision(15));
  return finite((Math.sign(number) * step(moved)) / scale);
}

/** `">10"`, `"<>x"`, `"ap*"` or a plain value, as a test. @param {Value} wanted */
function criterion(wanted) {
  const [, op = '=', rest = ''] = typeof wanted === 'string' ? (/^(<>|<=|>=|=|<|>)?([\s\S]*)$/.exec(wanted) ?? []) : [];
  const number = typeof wanted === 'string' ? (rest.trim() === '' ? NaN : Number(rest)) : NaN;
  const right = typeof wanted !== 'string' ? wanted : Number.isNaN(number) ? rest : number;
  const isPattern = typeof right === 'string' && /[*?]/.test(right);
  const pattern =
    isPattern &&
    new RegExp(
      `^${right
        .replace(/[.+^${}()|[\]\\]/g, '\\$&')
        .replaceAll('*', '[\\s\\S]*')
        .replaceAll('?', '[\\s\\S]')}$`,
      'i',
    );
  return (/** @type {Value} */ value) => {
    if (value instanceof Wrong) return false;
    if (pattern) return (typeof value === 'string' && pattern.test(value)) === (op !== '<>');
    const isAlike = typeof value === typeof right || (right === '' && value === null);
    if (op === '<>') return !isAlike || compared(value, right) !== 0;
    if (!isAlike) return false;
    const order = compared(value, right);
    return { '=': order === 0, '<': order < 0, '>': order > 0, '<=': order <= 0, '>=': order >= 0 }[op] ?? false;
  };
}

/** The values beside those that pass. @param {any[]} parts @param {Hand} hand */
function chosen([range, wanted, from], hand) {
  const passes = criterion(hand.value(wanted));
  const values = [...hand.all(range)];
  const beside = from ? [...hand.all(from)] : values;
  const found = beside.filter((_, index) => index < values.length && passes(values[index] ?? null));
  return found.filter((it) => typeof it === 'number');
}

/** @param {any} part @param {Hand} hand @param {number} otherwise */
const numberOr = (part, hand, otherwise) => (part ? asNumber(hand.value(part)) : otherwise);

/** Where a value stands in a list, counted from one. @param {any[]} parts @param {Hand} hand */
function match([wanted, list, kind], hand) {
  const value = hand.value(wanted);
  const how = Math.sign(numberOr(kind, hand, 1));
  let found = 0;
  let at = 0;
  for (const each of hand.all(list)) {
    at += 1;
    if (each instanceof Wrong || each === null || typeof each !== typeof value) continue;
    const order = compared(each, value);
    if (how === 0 ? order === 0 : order * how <= 0) found = at;
    if (how === 0 ? found : found !== at) break;
  }
  if (!found) throw new Wrong('#N/A', 'it was not found');
  return found;
}

/** @param {any[]} parts @param {Hand} hand */
function lookUp([wanted, table, column, near], hand) {
  const { width, height, at } = hand.table(table);
  const index = asNumber(hand.value(column));
  if (index < 1 || index > width) throw new Wrong('#REF!', `the table has ${width} columns`);
  const value = hand.value(wanted);
  const isNear = near ? asTruth(hand.value(near)) : true;
  let found = -1;
  for (let row = 0; row < height; row += 1) {
    const each = at(row, 0);
    if (each instanceof Wrong || typeof each !== typeof value) continue;
    const order = compared(each, value);
    if (order === 0 || (isNear && order < 0)) found = row;
    if (order === 0 && !isNear) break;
    if (isNear && order > 0) break;
  }
  if (found < 0) throw new Wrong('#N/A', 'it was not found');
  return at(found, Math.trunc(index) - 1);
}

/** @param {any[]} parts @param {Hand} hand */
function index([table, row, column], hand) {
  const { width, height, at } = hand.table(table);
  let [down, right] = [asNumber(hand.value(row)), numberOr(column, hand, 1)];
  if (!column && height === 1) [down, right] = [1, down];
  if (down < 1 || right < 1 || down > height || right > width) throw new Wrong('#REF!', 'that is outside the range');
  return at(Math.trunc(down) - 1, Math.trunc(right) - 1);
}

/** @param {any[]} parts @param {Hand} hand */
function concat(parts, hand) {
  let text = '';
  for (const part of parts) for (const value of hand.all(part)) text += asText(value);
  if (text.length > 32_767) throw new Wrong('#VALUE!', 'the text is too long');
  return text;
}

/** @param {any} part @param {Hand} hand */
const text = (part, hand) => asText(hand.value(part));
/** @param {any} part @param {Hand} hand */
const number = (part, hand) => asNumber(hand.value(part));
/** @param {(value: Value) => boolean} test */
const asks =
  (test) =>
  (/** @type {any[]} */ [part], /** @type {Hand} */ hand) => {
    const [value = null] = hand.all(part);
    return test(value);
  };

/** @param {any[]} parts @param {Hand} hand */
function modulo([left, right], hand) {
  const by = number(right, hand);
  if (by === 0) throw new Wrong('#DIV/0!', 'division by zero');
  const of = number(left, hand);
  return of - by * Math.floor(of / by);
}

/** @type {Record<string, [least: number, most: number, run: (parts: any[], hand: Hand) => Value]>} */
export const FUNCTIONS = Object.assign(Object.create(null), {
  SUM: [
    1,
    MANY,
    (parts, hand) => {
      let sum = 0;
      for (const it of numbers(parts, hand)) sum += it;
      return sum;
    },
  ],
  PRODUCT: [1, MANY, (parts, hand) => [...numbers(parts, hand)].reduce((product, it) => product * it, 1)],
  AVERAGE: [1, MANY, (parts, hand) => average(numbers(parts, hand))],
  MEDIAN: [1, MANY, (parts, hand) => median(numbers(parts, hand))],
  MIN: [
    1,
    MANY,
    (parts, hand) => {
      let least = Infinity;
      for (const it of numbers(parts, hand)) least = Math.min(least, it);
      return least === Infinity ? 0 : least;
    },
  ],
  MAX: [
    1,
    MANY,
    (parts, hand) => {
      let most = -Infinity;
      for (const it of numbers(parts, hand)) most = Math.max(most, it);
      return most === -Infinity ? 0 : most;
    },
  ],
  COUNT: [1, MANY, (parts, hand) => count(parts, hand)],
  COUNTA: [1, MANY, (parts, hand) => count(parts, hand, (it) => it !== null)],
  COUNTIF: [2, 2, ([range, wanted], hand) => count([range], hand, criterion(hand.value(wanted)))],
  SUMIF: [2, 3, (parts, hand) => chosen(parts, hand).reduce((sum, it) => sum + Number(it), 0)],
  AVERAGEIF: [2, 3, (parts, hand) => average(chosen(parts, hand))],
  IF: [2, 3, ([test, yes, no], hand) => (asTruth(hand.value(test)) ? hand.value(yes) : no ? hand.value(no) : false)],
  IFERROR: [
    2,
    2,
    ([part, otherwise], hand) => {
      try {
        return hand.value(part);
      } catch (error) {
        if (error instanceof Wrong) return hand.value(otherwise);
        throw error;
      }
    },
  ],
  AND: [1, MANY, (parts, hand) => [...truths(parts, hand)].every(Boolean)],
  OR: [1, MANY, (parts, hand) => [...truths(parts, hand)].some(Boolean)],
  NOT: [1, 1, ([part], hand) => !asTruth(hand.value(part))],
  ROUND: [1, 2, ([part, places], hand) => rounded(number(part, hand), numberOr(places, hand, 0))],
  ROUNDUP: [1, 2, ([part, places], hand) => rounded(number(part, hand), numberOr(places, hand, 0), Math.ceil)],
  ROUNDDOWN: [1, 2, ([part, places], hand) => rounded(number(part, hand), numberOr(places, hand, 0), Math.floor)],
  INT: [1, 1, ([part], hand) => Math.floor(number(part, hand))],
  ABS: [1, 1, ([part], hand) => Math.abs(number(part, hand))],
  SIGN: [1, 1, ([part], hand) => Math.sign(number(part, hand))],
  SQRT: [1, 1, ([part], hand) => finite(Math.sqrt(number(part, hand)))],
  POWER: [2, 2, ([base, by], hand) => finite(number(base, hand) ** number(by, hand))],
  MOD: [2, 2, modulo],
  PI: [0, 0, () => Math.PI],
  CONCAT: [1, MANY, concat],
  CONCATENATE: [1, MANY, concat],
  LEN: [1, 1, ([part], hand) => text(part, hand).length],
  UPPER: [1, 1, ([part], hand) => text(part, hand).toUpperCase()],
  LOWER: [1, 1, ([part], hand) => text(part, hand).toLowerCase()],
  TRIM: [1, 1, ([part], hand) => text(part, hand).trim().replace(/ +/g, ' ')],
  LEFT: [1, 2, ([part, length], hand) => text(part, hand).slice(0, Math.max(0, numberOr(length, hand, 1)))],
  RIGHT: [
    1,
    2,
    ([part, length], hand) => {
      const from = text(part, hand);
      return from.slice(Math.max(0, from.length - Math.max(0, numberOr(length, hand, 1))));
    },
  ],
  MID: [
    3,
    3,
    ([part, start, length], hand) => {
      const at = number(start, hand) - 1;
      if (at < 0) throw new Wrong('#VALUE!', 'texts are counted from one');
      return text(part, hand).slice(at, at + Math.max(0, number(length, hand)));
    },
  ],
  SUBSTITUTE: [
    3,
    3,
    ([part, from, to], hand) => {
      const wanted = text(from, hand);
      return wanted ? text(part, hand).replaceAll(wanted, () => text(to, hand)) : text(part, hand);
    },
  ],
  ISBLANK: [1, 1, asks((it) => it === null)],
  ISNUMBER: [1, 1, asks((it) => typeof it === 'number')],
  ISTEXT: [1, 1, asks((it) => typeof it === 'string')],
  ISERROR: [1, 1, asks((it) => it instanceof Wrong)],
  INDEX: [2, 3, index],
  MATCH: [2, 3, match],
  VLOOKUP: [3, 4, lookUp],
});
