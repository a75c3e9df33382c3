import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Book, copied } from '../../../apps/sheet/book.js';
import { evaluate } from '../../../apps/sheet/evaluate.js';
import { Wrong, parse, spliced } from '../../../apps/sheet/formula.js';
import {
  COLUMNS,
  ROWS,
  columnName,
  columnNumber,
  keyOf,
  placeOf,
  rectName,
  rectOf,
} from '../../../apps/sheet/places.js';
import { typed } from '../../../apps/sheet/values.js';

type Texts = Record<string, string>;
type Rect = import('../../../apps/sheet/places.js').Rect;

const key = (name: string) => {
  const { row, column } = placeOf(name)!;
  return keyOf(row, column);
};
const put = (book: Book, texts: Texts) =>
  book.put(new Map(Object.entries(texts).map(([name, text]) => [key(name), text])));

function sheet(texts: Texts) {
  const book = new Book();
  put(book, texts);
  return book;
}

/** What formulas give, each beside the same cells. */
function worth(formulas: string[], texts: Texts = {}) {
  const book = sheet(texts);
  return formulas.map((formula) => plain(book.evaluate(formula)));
}
const plain = (value: unknown) => (value instanceof Wrong ? value.code : value);
const values = (book: Book, ...names: string[]) => names.map((name) => plain(book.valueAt(key(name))));

describe('places', () => {
  test('have names, and names have places', () => {
    expect([0, 25, 26, 51, 52, 701].map(columnName)).toEqual(['A', 'Z', 'AA', 'AZ', 'BA', 'ZZ']);
    fc.assert(fc.property(fc.nat(COLUMNS - 1), (column) => columnNumber(columnName(column)) === column));
    expect(placeOf('b$12')).toEqual({ row: 11, column: 1 });
    for (const none of ['', 'A', '1', 'A0', 'A01x', 'AAA1', `A${ROWS + 1}`, 'A1:B2', '-A1'])
      expect(placeOf(none)).toBeNull();
  });

  test('span ranges, whichever corner is named first', () => {
    expect(rectOf('B3:a1')).toEqual({ top: 0, left: 0, bottom: 2, right: 1 });
    expect(rectOf('C:B')).toEqual({ top: 0, left: 1, bottom: ROWS - 1, right: 2 });
    expect(rectOf('2:2')).toEqual({ top: 1, left: 0, bottom: 1, right: COLUMNS - 1 });
    expect(rectName({ top: 0, left: 0, bottom: 0, right: 0 })).toBe('A1');
    for (const none of ['A1:', ':A1', 'A1:B2:C3', 'A', '5', 'nothing']) expect(rectOf(none)).toBeNull();
  });
});

describe('what is typed', () => {
  test('is a number, a text, yes or no', () => {
    const cases = {
      '12': 12,
      '-1.5': -1.5,
      '.5': 0.5,
      '1e3': 1000,
      '50%': 0.5,
      ' 7 ': 7,
      TRUE: true,
      false: false,
      '': null,
    };
    for (const [text, value] of Object.entries(cases)) expect(typed(text)).toBe(value);
    for (const text of ['abc', '1,5', '007', '1e999', '--1', '1 2', '2026-11-15']) expect(typed(text)).toBe(text);
    expect(typed("'12")).toBe('12');
  });
});

describe('a formula', () => {
  test('is read in the order of every other spreadsheet', () => {
    expect(
      worth(['=1+2*3', '=(1+2)*3', '=2^3^2', '=-2^2', '=10-4-3', '=8/4/2', '=50%*2', '=1&2+3', '=1+1=2', '="a"&"""b"']),
    ).toEqual([7, 9, 64, 4, 3, 1, 1, '15', true, 'a"b']);
  });

  test('compares numbers, texts and nothing', () => {
    expect(worth(['="A"="a"', '=1<"a"', '="b">"a"', '=A1=0', '=A1=""', '=TRUE>9', '=1<>2', '=2>=2'])).toEqual(
      Array(8).fill(true),
    );
  });

  test('says what is wrong with it', () => {
    expect(
      worth([
        '=1/0',
        '=NOPE(1)',
        '=NOPE',
        '="a"+1',
        '=A1:A2',
        '=ZZZ1',
        '=#REF!+1',
        '=SQRT(-1)',
        '=10^400',
        '=1+',
        '=(1',
        '=1 2',
        '=SUM(',
        '=IF(1)',
      ]),
    ).toEqual([
      '#DIV/0!',
      '#NAME?',
      '#NAME?',
      '#VALUE!',
      '#VALUE!',
      '#REF!',
      '#REF!',
      '#NUM!',
      '#NUM!',
      ...Array(5).fill('#ERROR!'),
    ]);
    const why = (formula: string) => (new Book().evaluate(formula) as Wrong).why;
    expect(why('=ABS(1;2)')).toBe('ABS takes 1 things, and got 2');
    expect(why('=(1')).toBe('expected ) but got the end');
  });

  test('can call functions over ranges', () => {
    const texts = { A1: '1', A2: '2', A3: 'x', A4: 'TRUE', A5: '4', B1: 'a', B2: 'b', B3: 'a', B5: 'a' };
    expect(
      worth(
        [
          '=SUM(A1:A5)',
          '=sum(A:A)',
          '=AVERAGE(A1:A5)',
          '=MIN(A1:A5)',
          '=MAX(A1:A5,9)',
          '=COUNT(A1:B5)',
          '=COUNTA(A1:A9)',
          '=MEDIAN(A:A)',
          '=PRODUCT(A1:A5)',
        ],
        texts,
      ),
    ).toEqual([7, 7, 7 / 3, 1, 9, 3, 5, 2, 8]);
    expect(
      worth(
        [
          '=SUMIF(B1:B5,"a",A1:A5)',
          '=COUNTIF(B:B,"a")',
          '=COUNTIF(A:A,">1")',
          '=COUNTIF(B:B,"?")',
          '=AVERAGEIF(A1:A5,"<4")',
          '=SUM(2:2)',
          '=COUNTIF(A1:A3,"<>1")',
        ],
        texts,
      ),
    ).toEqual([5, 3, 2, 4, 1.5, 2, 2]);
    expect(
      worth(
        [
          '=INDEX(A1:B5,2,2)',
          '=MATCH("b",B1:B5,0)',
          '=VLOOKUP(2,A1:B5,2,FALSE)',
          '=VLOOKUP(9,A1:B5,2,FALSE)',
          '=INDEX(A1:B2,3,1)',
        ],
        texts,
      ),
    ).toEqual(['b', 2, 'b', '#N/A', '#REF!']);
  });

  test('can call functions of one value', () => {
    expect(
      worth([
        '=ROUND(1.005,2)',
        '=ROUND(-2.5)',
        '=ROUND(1234,-2)',
        '=ROUNDUP(1.1)',
        '=ROUNDDOWN(-1.9)',
        '=ABS(-3)',
        '=INT(-1.5)',
        '=MOD(-1,3)',
        '=POWER(2,10)',
        '=SIGN(-2)',
      ]),
    ).toEqual([1.01, -3, 1200, 2, -1, 3, -2, 2, 1024, -1]);
    expect(
      worth([
        '=LEN("äb")',
        '=CONCAT("a",1,TRUE)',
        '=UPPER("a")',
        '=TRIM("  a  b ")',
        '=LEFT("abc",2)',
        '=RIGHT("abc",2)',
        '=MID("abc",2,5)',
        '=SUBSTITUTE("a-b-c","-","+")',
      ]),
    ).toEqual([2, 'a1TRUE', 'A', 'a b', 'ab', 'bc', 'bc', 'a+b+c']);
    expect(
      worth([
        '=AND(TRUE,1)',
        '=OR(FALSE,0)',
        '=NOT(0)',
        '=IF(2>1,"yes","no")',
        '=IF(FALSE,1)',
        '=IFERROR(1/0,"none")',
        '=ISBLANK(A1)',
        '=ISNUMBER("1")',
        '=ISERROR(1/0)',
      ]),
    ).toEqual([true, false, true, 'yes', false, 'none', true, false, true]);
  });

  test('works out only the branch that counts', () => {
    expect(worth(['=IF(TRUE,1,1/0)', '=IF(FALSE,1/0,2)', '=IF(1/0,1,2)'])).toEqual([1, 2, '#DIV/0!']);
  });

  test('is refused when it is endless, and does not bring the house down', () => {
    expect(worth([`=${'('.repeat(5000)}1${')'.repeat(5000)}`, `=${'-'.repeat(5000)}1`])).toEqual([
      '#ERROR!',
      '#ERROR!',
    ]);
    expect(worth([`=${Array(5000).fill('1').join('+')}`])).toEqual([5000]);
    fc.assert(fc.property(fc.string(), (text) => void new Book().evaluate(`=${text}`)));
    const odd = fc.array(fc.constantFrom(...'()+-*/^&=<>%,;:"$A1.#'.split(''), 'SUM(', 'A1:B2', 'IF(', '1e'), {
      maxLength: 12,
    });
    fc.assert(fc.property(odd, (parts) => void sheet({ A1: `=${parts.join('')}` })));
  });
});

/** Arithmetic, written as a formula and worked out by hand. */
type Sum = { text: string; value: number };
const { sum } = fc.letrec<{ sum: Sum }>((again) => ({
  sum: fc.oneof(
    { depthSize: 'small' },
    fc.nat(99).map((value) => ({ text: `${value}`, value })),
    fc.tuple(again('sum'), fc.constantFrom('+', '-', '*'), again('sum')).map(([left, op, right]) => ({
      text: `(${left.text}${op}${right.text})`,
      value: op === '+' ? left.value + right.value : op === '-' ? left.value - right.value : left.value * right.value,
    })),
    again('sum').map(({ text, value }) => ({ text: `-${text}`, value: -value })),
    fc.array(again('sum'), { minLength: 1, maxLength: 3 }).map((all) => ({
      text: `SUM(${all.map((it) => it.text).join(', ')})`,
      value: all.reduce((total, it) => total + it.value, 0),
    })),
  ),
}));

test('arithmetic gives what arithmetic gives', () => {
  const cells = { at: () => null, within: (rect: Rect) => rect };
  fc.assert(
    fc.property(sum, ({ text, value }) => {
      expect(Number(evaluate(parse(text), cells)) + 0).toBeCloseTo(value + 0, 6);
    }),
  );
});

/** Formulas in a small corner, so that they meet and go in circles. */
const name = fc
  .tuple(fc.constantFrom('A', 'B', 'C'), fc.integer({ min: 1, max: 4 }))
  .map(([column, row]) => `${column}${row}`);
const content = fc.oneof(
  fc.constant(''),
  fc.integer({ min: -9, max: 9 }).map(String),
  fc.constantFrom('x', 'TRUE', '=1/0'),
  name.map((it) => `=${it}`),
  fc.tuple(name, fc.constantFrom('+', '*', '&', '<', '/'), name).map(([one, op, other]) => `=${one}${op}${other}`),
  fc
    .tuple(fc.constantFrom('SUM', 'COUNT', 'MAX', 'CONCAT', 'COUNTA'), name, name)
    .map(([fn, from, to]) => `=${fn}(${from}:${to})`),
  fc.tuple(name, name, name).map(([test, yes, no]) => `=IF(${test}>0,${yes},${no})`),
);

/** Looks at every cell anew for every question, and finds circles by walking. */
function slowly(texts: Map<number, string>) {
  const tree = (at: number) => {
    const text = texts.get(at) ?? '';
    return text.startsWith('=') ? parse(text.slice(1)) : undefined;
  };
  const reading = (node: any): number[] => {
    if (node.kind === 'cell') return [keyOf(node.row, node.column)];
    if (node.kind === 'range') {
      const found = [];
      for (let row = node.rect.top; row <= node.rect.bottom; row += 1)
        for (let column = node.rect.left; column <= node.rect.right; column += 1) found.push(keyOf(row, column));
      return found;
    }
    return [node.left, node.right, node.of, ...(node.parts ?? [])].filter(Boolean).flatMap(reading);
  };
  const leadsTo = (from: number, goal: number, seen = new Set<number>()): boolean => {
    const node = tree(from);
    return (node ? reading(node) : []).some((it) => {
      if (it === goal) return true;
      if (seen.has(it)) return false;
      seen.add(it);
      return leadsTo(it, goal, seen);
    });
  };
  const value = (at: number): unknown => {
    const node = tree(at);
    if (!node) return typed(texts.get(at) ?? '');
    if (leadsTo(at, at)) return new Wrong('#CYCLE!');
    return evaluate(node, {
      at: (row: number, column: number) => value(keyOf(row, column)) as never,
      within: (it: Rect) => it,
    });
  };
  return value;
}

test('after any changes every cell is worth what a slow reader finds', () => {
  const corner = ['A', 'B', 'C'].flatMap((column) => [1, 2, 3, 4].map((row) => key(`${column}${row}`)));
  const changes = fc.array(fc.dictionary(name, content, { maxKeys: 4 }), { maxLength: 8 });
  fc.assert(
    fc.property(changes, (steps) => {
      const book = new Book();
      const texts = new Map<number, string>();
      for (const step of steps) {
        for (const [at, text] of Object.entries(step)) texts.set(key(at), text);
        put(book, step);
        const slow = slowly(texts);
        expect(corner.map((at) => plain(book.valueAt(at)))).toEqual(corner.map((at) => plain(slow(at))));
      }
    }),
    { numRuns: 300 },
  );
}, 60_000);

describe('a sheet', () => {
  test('works out what depends on a change, however far', () => {
    const book = sheet({ A1: '100', B1: '=A1*2', C1: '=B1+A1', D1: '=SUM(A1:C1)' });
    expect(values(book, 'B1', 'C1', 'D1')).toEqual([200, 300, 600]);
    const { worked } = put(book, { A1: '1' });
    expect(values(book, 'B1', 'C1', 'D1')).toEqual([2, 3, 6]);
    expect(worked).toEqual(new Set(['B1', 'C1', 'D1'].map(key)));
    expect(put(book, { E9: '1' }).worked.size).toBe(0);
  });

  test('finds circles, spares those outside, and recovers', () => {
    const book = sheet({ A1: '=B1', B1: '=C1', C1: '=A1', D1: '=A1+1', E1: '=E1', F1: '=IFERROR(A1,0)' });
    expect(values(book, 'A1', 'B1', 'C1', 'D1', 'E1', 'F1')).toEqual([...Array(5).fill('#CYCLE!'), 0]);
    put(book, { C1: '5' });
    expect(values(book, 'A1', 'B1', 'C1', 'D1', 'F1')).toEqual([5, 5, 5, 6, 5]);
  });

  test('carries a chain far longer than any stack is deep', () => {
    const texts = new Map([[keyOf(0, 0), '1']]);
    for (let row = 1; row < 20_000; row += 1) texts.set(keyOf(row, 0), `=A${row}+1`);
    const book = new Book();
    book.put(texts);
    expect(book.valueAt(keyOf(19_999, 0))).toBe(20_000);
    put(book, { A1: '2' });
    expect(book.valueAt(keyOf(19_999, 0))).toBe(20_001);
  }, 60_000);

  test('moves what formulas point at along with rows and columns', () => {
    const moved = (text: string, axis: 'row' | 'column', at: number, count: number) => spliced(text, axis, at, count);
    expect(moved('A1+A5+$A$5+SUM(A1:A5)', 'row', 2, 2)).toBe('A1+A7+$A$7+SUM(A1:A7)');
    expect(moved('A1+A5+SUM(A2:A5)+SUM(A2:A3)+"A5"', 'row', 1, -2)).toBe('A1+A3+SUM(A2:A3)+SUM(#REF!)+"A5"');
    expect(moved('SUM(A:C)+SUM(2:4)', 'row', 1, 1)).toBe('SUM(A:C)+SUM(3:5)');
    expect(moved('SUM(A:C)+B1', 'column', 1, 1)).toBe('SUM(A:D)+C1');
    expect(moved('B1+C1', 'column', 1, -1)).toBe('#REF!+B1');
  });

  test('copies formulas with what is held fast', () => {
    expect(copied('=A1+$A1+A$1+$A$1', 2, 1)).toBe('=B3+$A3+B$1+$A$1');
    expect(copied('=A1', -1, 0)).toBe('=#REF!');
    expect(copied('=LOG10(A1)&"A1"', 1, 0)).toBe('=LOG10(A2)&"A1"');
    expect(copied('A1', 1, 1)).toBe('A1');
  });

  test('puts rows in and takes them out again without a trace', () => {
    const texts = { A1: '1', A2: '=A1+1', A3: '=SUM(A1:A2)', C9: '=A3' };
    const book = sheet(texts);
    book.put(book.splice('row', 1, 3));
    expect(values(book, 'A1', 'A2', 'A5', 'A6', 'C12')).toEqual([1, null, 2, 3, 3]);
    book.put(book.splice('row', 1, -3));
    expect(new Map(book.texts())).toEqual(new Map(sheet(texts).texts()));
    expect(() => book.splice('row', 0, ROWS)).toThrow('off the sheet');
  });

  test('sorts rows, with what is empty last and formulas in their own row', () => {
    const book = sheet({ A1: '3', B1: '=A1*10', A2: 'b', A3: '1', B3: '=A3*10', A5: 'A' });
    const rect = rectOf('A1:B5')!;
    book.put(book.sort(rect, [{ column: 0 }]));
    expect(values(book, 'A1', 'B1', 'A2', 'B2', 'A3', 'A4', 'A5')).toEqual([1, 10, 3, 30, 'A', 'b', null]);
    book.put(book.sort(rect, [{ column: 0, descending: true }]));
    expect(values(book, 'A1', 'A2', 'A3', 'B4', 'A5')).toEqual(['b', 'A', 3, 10, null]);
  });
});
