// Reads the first sheet of an Excel workbook: the values that were worked out when it was saved. Writes none.
import { placeOf } from './places.js';

const MOST_BYTES = 64 * 1024 * 1024;

/**
 * @param {Uint8Array} bytes
 * @returns {Promise<{ name: string, cells: { row: number, column: number, text: string }[], left: number }>}
 */
export async function read(bytes) {
  const files = archive(bytes);
  const part = async (/** @type {string} */ name) => {
    const file = files.get(name);
    return file ? new TextDecoder().decode(await inflated(file)) : '';
  };
  const workbook = await part('xl/workbook.xml');
  if (!workbook) throw new Error('this is no Excel workbook: it has no xl/workbook.xml');
  const [sheet] = tags(workbook, 'sheet');
  if (!sheet) throw new Error('the workbook has no sheet');
  const relation = tags(await part('xl/_rels/workbook.xml.rels'), 'Relationship').find(
    (it) => it.at('Id') === sheet.at('r:id'),
  );
  const target = relation?.at('Target') ?? 'worksheets/sheet1.xml';
  const xml = await part(target.startsWith('/') ? target.slice(1) : `xl/${target}`);
  if (!xml) throw new Error(`the workbook names ${target}, which is not in it`);
  const shared = tags(await part('xl/sharedStrings.xml'), 'si').map((it) => textIn(it.inside));
  const cells = [];
  let left = 0;
  for (const cell of tags(xml, 'c')) {
    const place = placeOf(cell.at('r'));
    const text = cellText(cell, shared);
    if (text === '') continue;
    if (place) cells.push({ ...place, text });
    else left += 1;
  }
  return { name: sheet.at('name') || 'Sheet1', cells, left };
}

/** @param {Tag} cell @param {string[]} shared */
function cellText(cell, shared) {
  const value = unescaped(tags(cell.inside, 'v')[0]?.inside ?? '');
  switch (cell.at('t')) {
    case 's':
      return asText(shared[Number(value)] ?? '');
    case 'inlineStr':
      return asText(textIn(cell.inside));
    case 'str':
      return asText(value);
    case 'b':
      return value === '1' ? 'TRUE' : 'FALSE';
    default:
      return value;
  }
}

/** A text that would be taken for something else is marked as one. @param {string} text */
function asText(text) {
  return /^\s*=|^'|^\s*[-+.\d][\d.e+-]*%?\s*$|^\s*(?:true|false)\s*$/i.test(text) ? `'${text}` : text;
}

/** All texts, without those that only tell how others are spoken. @param {string} xml */
function textIn(xml) {
  const spoken = xml.replace(/<rPh\b[\s\S]*?<\/rPh>/g, '');
  return tags(spoken, 't')
    .map((it) => unescaped(it.inside))
    .join('');
}

/** @typedef {{ inside: string, at: (name: string) => string }} Tag */

/** Every element of a name that does not lie in another of the same name. @param {string} xml @param {string} name @returns {Tag[]} */
function tags(xml, name) {
  const found = new RegExp(
    `<(?:\\w+:)?${name}(\\s(?:[^>"']|"[^"]*"|'[^']*')*?)?(?:/>|>([\\s\\S]*?)</(?:\\w+:)?${name}\\s*>)`,
    'g',
  );
  return Array.from(xml.matchAll(found), ([, attributes = '', inside = '']) => ({
    inside,
    at: (wanted) => unescaped(new RegExp(`\\s${wanted}\\s*=\\s*["']([^"']*)["']`).exec(attributes)?.[1] ?? ''),
  }));
}

const NAMED = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** @param {string} text */
function unescaped(text) {
  return text
    .replace(/<!\[CDATA\[([\s\S]*?)\]\]>/g, '$1')
    .replace(/&(#x[\da-f]+|#\d+|amp|lt|gt|quot|apos);/gi, (whole, code) => {
      if (!code.startsWith('#')) return NAMED[/** @type {keyof typeof NAMED} */ (code.toLowerCase())] ?? whole;
      const point = Number(code.startsWith('#x') ? `0${code.slice(1)}` : code.slice(1));
      return point <= 0x10ffff ? String.fromCodePoint(point) : whole;
    })
    .replace(/_x([\dA-F]{4})_/g, (_, code) => String.fromCharCode(parseInt(code, 16)));
}

/** @typedef {{ method: number, packed: Uint8Array, size: number }} Packed */

/** What an archive says it holds, by its list at the end. @param {Uint8Array} bytes @returns {Map<string, Packed>} */
function archive(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const broken = () => new Error('the file is no zip archive, or a broken one');
  let end = bytes.length - 22;
  while (end >= 0 && view.getUint32(end, true) !== 0x06054b50) end -= 1;
  if (end < 0) throw broken();
  /** @type {Map<string, Packed>} */
  const files = new Map();
  try {
    let at = view.getUint32(end + 16, true);
    for (let left = view.getUint16(end + 10, true); left > 0; left -= 1) {
      if (view.getUint32(at, true) !== 0x02014b50) throw broken();
      const [nameLength, extra, comment] = [28, 30, 32].map((offset) => view.getUint16(at + offset, true));
      const name = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + (nameLength ?? 0)));
      const [packedSize, size, local] = [20, 24, 42].map((offset) => view.getUint32(at + offset, true));
      const start =
        (local ?? 0) + 30 + view.getUint16((local ?? 0) + 26, true) + view.getUint16((local ?? 0) + 28, true);
      const packed = bytes.subarray(start, start + (packedSize ?? 0));
      files.set(name, { method: view.getUint16(at + 10, true), packed, size: size ?? 0 });
      at += 46 + (nameLength ?? 0) + (extra ?? 0) + (comment ?? 0);
    }
  } catch (error) {
    throw error instanceof RangeError ? broken() : error;
  }
  return files;
}

/** What a file of an archive says of its size is not believed. @param {Packed} file */
async function inflated({ method, packed }) {
  if (method === 0) return packed;
  if (method !== 8) throw new Error('the archive is packed in a way that is not known here');
  const stream = new Blob([/** @type {any} */ (packed)]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  /** @type {Uint8Array[]} */
  const chunks = [];
  let size = 0;
  for (const reader = stream.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > MOST_BYTES) {
      await reader.cancel();
      throw new Error(`a part of the workbook has more than ${MOST_BYTES / 1024 / 1024} MiB`);
    }
    chunks.push(value);
  }
  const whole = new Uint8Array(size);
  chunks.reduce((at, chunk) => (whole.set(chunk, at), at + chunk.length), 0);
  return whole;
}
