import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse, separatorOf, write } from '../../../apps/sheet/csv.js';
import { read } from '../../../apps/sheet/xlsx.js';
import { workbook, zip } from '../../e2e/apps/workbook.mjs';

describe('a table as text', () => {
  test('is read with quotes, newlines and any of the usual separators', () => {
    expect(parse('a,b\r\n1,2\n')).toEqual([
      ['a', 'b'],
      ['1', '2'],
    ]);
    expect(parse('"a ""b"", c","line\nbreak"\n')).toEqual([['a "b", c', 'line\nbreak']]);
    expect(parse('a;b\n1,5;2')).toEqual([
      ['a', 'b'],
      ['1,5', '2'],
    ]);
    expect(parse('a\tb\n1\t')).toEqual([
      ['a', 'b'],
      ['1', ''],
    ]);
    expect(parse('sep=|\na|b')).toEqual([['a', 'b']]);
    expect(parse('\uFEFFa,b')).toEqual([['a', 'b']]);
    expect(parse('a,\n,')).toEqual([
      ['a', ''],
      ['', ''],
    ]);
    expect(parse('a\r\rb')).toEqual([['a'], [''], ['b']]);
    expect(parse('"never closed\nb')).toEqual([['never closed\nb']]);
    expect(parse('"a"b,c')).toEqual([['ab', 'c']]);
    expect(parse('')).toEqual([]);
  });

  test('is known by the separator that cuts its lines alike', () => {
    expect(separatorOf('a;b;c\n1,5;2,5;3,5')).toBe(';');
    expect(separatorOf('"a;b",c\n1,2')).toBe(',');
    expect(separatorOf('only words')).toBe(',');
  });

  test('is what it was, once written and read again', () => {
    const field = fc.oneof(fc.string(), fc.constantFrom('"', ',', '\n', '\r\n', ';', '\t', ' a ', '""'));
    const rows = fc.array(fc.array(field, { minLength: 1, maxLength: 4 }), { maxLength: 5 });
    fc.assert(
      fc.property(rows, fc.constantFrom(',', ';', '\t'), (table, separator) => {
        const text = write(table, separator);
        fc.pre(!/^(\uFEFF|sep=)/i.test(text));
        expect(parse(text, separator)).toEqual(table);
      }),
    );
  });
});

describe('a workbook', () => {
  test('gives the values of its first sheet', async () => {
    expect(await read(zip(workbook))).toEqual({
      name: 'Stores & oil',
      cells: [
        { row: 0, column: 0, text: 'Oil' },
        { row: 0, column: 1, text: '12.5' },
        { row: 2, column: 0, text: 'Honey <' },
        { row: 2, column: 1, text: '25' },
        { row: 2, column: 2, text: 'TRUE' },
        { row: 2, column: 3, text: "'=1+1" },
        { row: 2, column: 5, text: '#DIV/0!' },
      ],
      left: 1,
    });
  });

  test('is refused with a reason when it is none', async () => {
    await expect(read(new Uint8Array(3))).rejects.toThrow('no zip archive');
    await expect(read(new TextEncoder().encode('a,b\n'.repeat(50)))).rejects.toThrow('no zip archive');
    await expect(read(zip({ 'word/document.xml': '<x/>' }))).rejects.toThrow('no Excel workbook');
    await expect(read(zip({ 'xl/workbook.xml': '<workbook/>' }))).rejects.toThrow('no sheet');
    const { 'xl/worksheets/a.xml': _, ...rest } = workbook;
    await expect(read(zip(rest))).rejects.toThrow('worksheets/a.xml, which is not in it');
  });

  test('that is broken anywhere fails, and does no more than that', async () => {
    const whole = zip(workbook);
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.nat(255), async (at, byte) => {
        const broken = whole.slice();
        broken[at] = byte;
        await read(broken).catch((error: unknown) => expect(error).toBeInstanceOf(Error));
      }),
      { numRuns: 200 },
    );
  }, 60_000);

  test('that swells beyond all measure is let go', async () => {
    const swollen = ' '.repeat(65 * 1024 * 1024);
    await expect(read(zip({ 'xl/workbook.xml': swollen }))).rejects.toThrow('more than 64 MiB');
  }, 60_000);
});
