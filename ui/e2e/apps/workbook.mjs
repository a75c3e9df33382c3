// A small Excel workbook, put together by hand.
import { deflateRawSync } from 'node:zlib';

/**
 * A zip archive of these files, every other one deflated.
 * @param {Record<string, string>} files
 * @returns {Uint8Array}
 */
export function zip(files) {
  const local = [];
  const central = [];
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

export const workbook = {
  'xl/workbook.xml':
    '<workbook><sheets><sheet name="Stores &amp; oil" sheetId="1" r:id="rId7"/><sheet name="Other" r:id="rId8"/></sheets></workbook>',
  'xl/_rels/workbook.xml.rels':
    '<Relationships><Relationship Id="rId8" Target="worksheets/b.xml"/><Relationship Target="worksheets/a.xml" Id="rId7"/></Relationships>',
  'xl/sharedStrings.xml':
    '<sst><si><t>Oil</t></si><si><r><t>Ho</t></r><r><rPr/><t xml:space="preserve">ney &lt;</t></r><rPh><t>no</t></rPh></si></sst>',
  'xl/worksheets/a.xml':
    '<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1"><v>12.5</v></c></row><row r="3"><c r="A3" t="s"><v>1</v></c><c r="B3"><f>B1*2</f><v>25</v></c><c r="C3" t="b"><v>1</v></c><c r="D3" t="inlineStr"><is><t>=1+1</t></is></c><c r="E3" s="4"/><c r="F3" t="e"><v>#DIV/0!</v></c><c r="AAA1"><v>1</v></c></row></sheetData></worksheet>',
};
