// Works a formula's tree out, given how to look into cells.
import { Wrong } from './formula.js';
import { FUNCTIONS } from './functions.js';
import { asNumber, asText, compared, finite } from './values.js';

/**
 * @typedef {import('./values.js').Value} Value
 * @typedef {object} Cells
 * @property {(row: number, column: number) => Value} at
 * @property {(rect: import('./places.js').Rect) => import('./places.js').Rect} within the part of it that can hold anything
 */

/** What a formula gives; what goes wrong is a value as well. @param {any} tree @param {Cells} cells @returns {Value} */
export function evaluate(tree, cells) {
  try {
    // A formula is never empty: one that points at nothing shows a zero.
    return worth(tree, cells) ?? 0;
  } catch (error) {
    if (error instanceof Wrong) return error;
    throw error;
  }
}

/** @param {any} tree @param {Cells} cells @returns {Value} */
function worth(tree, cells) {
  switch (tree.kind) {
    case 'value':
      return sound(tree.value);
    case 'cell':
      return sound(cells.at(tree.row, tree.column));
    case 'range': {
      const { top, left, bottom, right } = tree.rect;
      if (top === bottom && left === right) return sound(cells.at(top, left));
      throw new Wrong('#VALUE!', 'a range stands where one value is expected');
    }
    case 'unary':
      return tree.op === '-' ? -asNumber(worth(tree.of, cells)) : worth(tree.of, cells);
    case 'percent':
      return asNumber(worth(tree.of, cells)) / 100;
    case 'binary':
      return joined(tree.op, worth(tree.left, cells), worth(tree.right, cells));
    default:
      return called(tree, cells);
  }
}

/** @param {Value} value */
function sound(value) {
  if (value instanceof Wrong) throw value;
  return value;
}

/** @param {string} op @param {Value} left @param {Value} right @returns {Value} */
export function joined(op, left, right) {
  switch (op) {
    case '+':
      return finite(asNumber(left) + asNumber(right));
    case '-':
      return finite(asNumber(left) - asNumber(right));
    case '*':
      return finite(asNumber(left) * asNumber(right));
    case '/': {
      const by = asNumber(right);
      const of = asNumber(left);
      if (by === 0) throw new Wrong('#DIV/0!', 'division by zero');
      return finite(of / by);
    }
    case '^':
      return finite(asNumber(left) ** asNumber(right));
    case '&':
      return asText(left) + asText(right);
    case '=':
      return compared(left, right) === 0;
    case '<>':
      return compared(left, right) !== 0;
    case '<':
      return compared(left, right) < 0;
    case '>':
      return compared(left, right) > 0;
    case '<=':
      return compared(left, right) <= 0;
    default:
      return compared(left, right) >= 0;
  }
}

/** @param {{ name: string, parts: any[] }} call @param {Cells} cells */
function called({ name, parts }, cells) {
  const known = FUNCTIONS[name];
  if (!known) throw new Wrong('#NAME?', `there is no function ${name}`);
  const [least, most, run] = known;
  if (parts.length < least || parts.length > most) {
    const expected = least === most ? `${least}` : most > 100 ? `at least ${least}` : `${least} to ${most}`;
    throw new Wrong('#ERROR!', `${name} takes ${expected} things, and got ${parts.length}`);
  }
  return run(parts, hand(cells));
}

/** @param {Cells} cells @returns {import('./functions.js').Hand} */
function hand(cells) {
  const isRange = (/** @type {any} */ part) => part.kind === 'range' || part.kind === 'cell';
  const rectOf = (/** @type {any} */ part) =>
    part.kind === 'range' ? part.rect : { top: part.row, left: part.column, bottom: part.row, right: part.column };
  return {
    value: (part) => worth(part, cells),
    isRange,
    *all(part) {
      if (!isRange(part)) {
        yield evaluatedPart(part, cells);
        return;
      }
      const whole = rectOf(part);
      const { top, left, bottom, right } = part.kind === 'cell' ? whole : cells.within(whole);
      for (let row = top; row <= bottom; row += 1)
        for (let column = left; column <= right; column += 1) yield cells.at(row, column);
    },
    table(part) {
      if (!isRange(part)) throw new Wrong('#VALUE!', 'a range is expected');
      const { top, left, bottom, right } = rectOf(part);
      const at = (/** @type {number} */ row, /** @type {number} */ column) => cells.at(top + row, left + column);
      const used = cells.within(rectOf(part));
      // What lies below everything holds nothing that could be found.
      return { width: right - left + 1, height: Math.max(0, Math.min(bottom, used.bottom) - top + 1), at };
    },
  };
}

/** @param {any} part @param {Cells} cells @returns {Value} */
function evaluatedPart(part, cells) {
  try {
    return worth(part, cells);
  } catch (error) {
    if (error instanceof Wrong) return error;
    throw error;
  }
}
