import { deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse, separatorOf, write } from '../../../apps/sheet/csv.js';
import { read } from '../../../apps/sheet/xlsx.js';

describe('a table as text', () => {
  test('is read with quotes, newlines and any of the usual separators', () => {
    expect(parse('a,b\r\n1,2\n')).toEqual([['a', 'b'], ['1', '2']]);
    expect(parse('"a ""b"", c","line\nbreak"\n')).toEqual([['a "b", c', 'line\nbreak']]);
    expect(parse('a;b\n1,5;2')).toEqual([['a', 'b'], ['1,5', '2']]);
    expect(parse('a\tb\n1\t')).toEqual([['a', 'b'], ['1', '']]);
    expect(parse('sep=|\na|b')).toEqual([['a', 'b']]);
    expect(parse('\uFEFFa,b')).toEqual([['a', 'b']]);
    expect(parse('a,\n,')).toEqual([['a', ''], ['', '']]);
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

/** A zip archive of these files, the odd ones deflated. */
function zip(files: Record<string, string>): Uint8Array {
  const local: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  Object.entries(files).forEach(([name, text], index) => {
    const data = Buffer.from(text);
    const packed = index % 2 ? data : deflateRawSync(data);
    const head = Buffer.alloc(30);
    head.writeUInt32LE(0x04034b50, 0);
    head.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(index % 2 ? 0 : 8, 10);
    entry.writeUInt32LE(packed.length, 20);
    entry.writeUInt32LE(data.length, 24);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(offset, 42);
    local.push(head, Buffer.from(name), packed);
    central.push(entry, Buffer.from(name));
    offset += head.length + name.length + packed.length;
  });
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Object.keys(files).length, 10);
  end.writeUInt32LE(offset, 16);
  return new Uint8Array(Buffer.concat([...local, ...central, end]));
}

const workbook = {
  'xl/workbook.xml': '<workbook><sheets><sheet name="Stores &amp; oil" sheetId="1" r:id="rId7"/><sheet name="Other" r:id="rId8"/></sheets></workbook>',
  'xl/_rels/workbook.xml.rels': '<Relationships><Relationship Id="rId8" Target="worksheets/b.xml"/><Relationship Target="worksheets/a.xml" Id="rId7"/></Relationships>',
  'xl/sharedStrings.xml': '<sst><si><t>Oil</t></si><si><r><t>Ho</t></r><r><rPr/><t xml:space="preserve">ney &lt;</t></r><rPh><t>no</t></rPh></si><si><t>007</t></si></sst>',
  'xl/worksheets/a.xml':
    '<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1"><v>12.5</v></c></row><row r="3"><c r="A3" t="s"><v>1</v></c><c r="B3"><f>B1*2</f><v>25</v></c><c r="C3" t="b"><v>1</v></c><c r="D3" t="inlineStr"><is><t>=1+1</t></is></c><c r="E3" s="4"/><c r="F3" t="e"><v>#DIV/0!</v></c><c r="AAA1"><v>1</v></c></row></sheetData></worksheet>',
};

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
