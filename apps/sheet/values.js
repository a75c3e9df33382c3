// What is in a cell, once worked out: numbers, texts, yes and no, nothing, or what went wrong; and how one passes for another.
import { Wrong } from './formula.js';

/** @typedef {number | string | boolean | null | Wrong} Value */

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?%?$/i;

/** What somebody typed, as a value. `'` before it makes it a text whatever it looks like. @param {string} text @returns {Value} */
export function typed(text) {
  if (text === '') return null;
  if (text.startsWith("'")) return text.slice(1);
  const trimmed = text.trim();
  if (/^true$/i.test(trimmed)) return true;
  if (/^false$/i.test(trimmed)) return false;
  // Zeros in front belong to numbers of houses, telephones and articles.
  if (/^[+-]?0\d/.test(trimmed)) return text;
  return numberIn(trimmed) ?? text;
}

/** @param {string} text @returns {number | null} */
function numberIn(text) {
  if (!NUMBER.test(text)) return null;
  const value = text.endsWith('%') ? Number(text.slice(0, -1)) / 100 : Number(text);
  return Number.isFinite(value) ? value : null;
}

/** A value as a person reads it. @param {Value} value */
export function shown(value) {
  if (value === null) return '';
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
  if (typeof value === 'number') return String(Number(value.toPrecision(12)));
  return String(value);
}

/** @param {Value} value @returns {number} */
export function asNumber(value) {
  if (value instanceof Wrong) throw value;
  if (value === null) return 0;
  if (typeof value === 'boolean') return value ? 1 : 0;
  const number = typeof value === 'number' ? value : numberIn(value.trim());
  if (number === null) throw new Wrong('#VALUE!', `"${value}" is not a number`);
  return number;
}

/** @param {Value} value @returns {string} */
export function asText(value) {
  if (value instanceof Wrong) throw value;
  return shown(value);
}

/** @param {Value} value @returns {boolean} */
export function asTruth(value) {
  if (value instanceof Wrong) throw value;
  if (typeof value !== 'string') return Boolean(value);
  if (/^true$/i.test(value)) return true;
  if (/^false$/i.test(value)) return false;
  throw new Wrong('#VALUE!', `"${value}" is neither true nor false`);
}

/** @param {Value} value */
const rank = (value) => (typeof value === 'number' ? 0 : typeof value === 'string' ? 1 : 2);

/** Numbers come before texts, texts before yes and no; nothing is like zero or like an empty text. @param {Value} one @param {Value} other */
export function compared(one, other) {
  if (one instanceof Wrong) throw one;
  if (other instanceof Wrong) throw other;
  const left = one ?? (typeof other === 'string' ? '' : typeof other === 'boolean' ? false : 0);
  const right = other ?? (typeof one === 'string' ? '' : typeof one === 'boolean' ? false : 0);
  if (rank(left) !== rank(right)) return rank(left) - rank(right);
  if (typeof left === 'string' && typeof right === 'string') {
    const [a, b] = [left.toLowerCase(), right.toLowerCase()];
    return a < b ? -1 : a > b ? 1 : 0;
  }
  return Number(left) - Number(right);
}

/** For sorting: what went wrong and what is empty come last. @param {Value} one @param {Value} other */
export function ordered(one, other) {
  const last = (/** @type {Value} */ it) => (it === null || it === '' ? 2 : it instanceof Wrong ? 1 : 0);
  if (last(one) || last(other)) return last(one) - last(other);
  return compared(one, other);
}

/** @param {number} number */
export function finite(number) {
  if (Number.isFinite(number)) return number;
  throw new Wrong('#NUM!', 'the number is too large, or there is none');
}
