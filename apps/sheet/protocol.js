// What an agent may read of the sheet and do to it.
import { named } from './desk.js';
import { COLUMNS, ROWS, columnName, columnNumber, keyOf, placeOf, rectName, rectOf } from './places.js';
import { MOST_CELLS, MOST_COLUMNS, MOST_ROWS, cells, done, numbers, summary, told, values } from './reading.js';

/** @typedef {import('./desk.js').Desk} Desk */

const range = { type: 'string', description: 'A range like A1, A1:C10, A:C (whole columns) or 2:5 (whole rows)' };
const change = { type: 'integer', description: 'Number of the change; pass it to undo to take back exactly this' };
const changed = { ...change, type: ['integer', 'null'] };

/** @param {Desk} desk */
export function registration(desk) {
  return {
    appId: 'sheet',
    name: 'Sheet',
    state: state(desk),
    // The person edits as well, and no repeating of commands would bring that back: the whole sheet is kept instead,
    // and commands are repeated only where nothing can be kept.
    commands: commands(desk),
  };
}

/** @param {Desk} desk */
function state(desk) {
  return {
    cells: {
      description: `What every filled cell holds and shows, by name: {"A1": {"input": "=B1*2", "value": 8}}. At most ${MOST_CELLS} cells, row by row; use the command readCells for a part of a larger sheet.`,
      schema: {
        type: 'object',
        properties: { range: { type: ['string', 'null'] }, cells: { type: 'object' }, left: { type: 'integer' } },
      },
      handler: () => cells(desk, desk.book.extent()),
    },
    values: {
      description: `The values as rows of a table, from A1 to the last used cell. At most ${MOST_ROWS} rows and ${MOST_COLUMNS} columns.`,
      schema: {
        type: 'object',
        properties: { range: { type: ['string', 'null'] }, rows: { type: 'array' }, left: { type: 'integer' } },
      },
      handler: () => values(desk, desk.book.extent()),
    },
    selection: {
      description:
        'What the person has selected: its range, the active cell, the values, and their sum, average and count.',
      schema: { type: 'object' },
      handler: () => {
        const rect = named(desk, rectName(desk.selection)) ?? desk.selection;
        const active = rectName({
          top: desk.anchor.row,
          bottom: desk.anchor.row,
          left: desk.anchor.column,
          right: desk.anchor.column,
        });
        return { range: rectName(desk.selection), active, ...numbers(desk, rect), values: values(desk, rect).rows };
      },
    },
    summary: {
      description:
        'An overview: how large the sheet is, and for each column its first cell and the count, sum, smallest and largest of its numbers. Read this first.',
      schema: { type: 'object' },
      handler: () => summary(desk),
    },
  };
}

/** @param {Desk} desk */
function commands(desk) {
  const changes = { inverse: 'undo' };
  const returns = { type: 'object', properties: { ok: { const: true }, change: changed } };
  return {
    setCells: {
      description:
        'Put something into cells, by name: {"cells": {"A1": "100", "B1": "=A1*2"}}. What begins with = is a formula, an empty text or null clears. Gives the values of these cells and of every formula that changed by it.',
      params: object(
        {
          cells: {
            type: 'object',
            description: 'Texts, numbers or formulas by cell name',
            minProperties: 1,
            propertyNames: { pattern: '^\\$?[A-Za-z]{1,3}\\$?[1-9][0-9]{0,6}$' },
            additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
          },
        },
        'cells',
      ),
      returns,
      aliases: ['setCell', 'writeCells'],
      ...changes,
      handler: ({ cells }) => done(desk, desk.change('set cells', textsOf(cells))),
    },
    readCells: {
      description: 'The inputs and values of a range.',
      params: object({ range }, 'range'),
      replay: 'never',
      handler: ({ range }) => cells(desk, named(desk, range)),
    },
    evaluate: {
      description: 'Work out a formula over the sheet without writing it anywhere, such as =SUM(A1:A10).',
      params: object({ formula: { type: 'string' } }, 'formula'),
      replay: 'never',
      handler: ({ formula }) => told(desk.book.evaluate(formula)),
    },
    clear: {
      description: 'Empty a range, or the whole sheet if none is given.',
      params: object({ range }),
      returns,
      ...changes,
      handler: ({ range } = {}) =>
        done(desk, desk.clear(named(desk, range) ?? { top: 0, left: 0, bottom: 0, right: 0 })),
    },
    insertRows: splice(desk, 'row', 1, 'Insert empty rows before row `at` (counted from 1); formulas follow.'),
    deleteRows: splice(desk, 'row', -1, 'Delete rows from row `at` (counted from 1) on; formulas follow.'),
    insertColumns: splice(desk, 'column', 1, 'Insert empty columns before column `at` (a letter); formulas follow.'),
    deleteColumns: splice(desk, 'column', -1, 'Delete columns from column `at` (a letter) on; formulas follow.'),
    sort: {
      description: 'Sort the rows of a range, or of everything, by one or more columns. Empty cells come last.',
      params: object(
        {
          range,
          by: {
            anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' }, minItems: 1 }],
            description: 'Column letters, the most important first',
          },
          descending: { type: 'boolean' },
          header: { type: 'boolean', description: 'Whether the first row stays where it is' },
        },
        'by',
      ),
      returns,
      ...changes,
      handler: ({ range, by, descending = false, header = false }) => {
        const rect = named(desk, range);
        if (!rect) throw new Error('there is nothing to sort');
        const columns = [by].flat().map((it) => ({ column: columnOfName(it), descending }));
        return done(desk, desk.sort({ ...rect, top: Math.min(rect.bottom, rect.top + (header ? 1 : 0)) }, columns));
      },
    },
    fill: {
      description:
        'Continue a pattern: {"from": "A1:A2", "to": "A1:A10"}. Numbers go on at even steps, formulas are copied with their places moved along.',
      params: object({ from: range, to: range }, 'from', 'to'),
      returns,
      ...changes,
      handler: ({ from, to }) => done(desk, desk.fill(rectNamed(from), rectNamed(to))),
    },
    openFile: {
      description: 'Replace everything by a file: the text of a CSV file, or an Excel workbook in base64.',
      params: object(
        {
          content: { type: 'string' },
          name: { type: 'string' },
          encoding: { enum: ['text', 'base64'] },
          separator: { type: 'string', minLength: 1, maxLength: 1 },
        },
        'content',
      ),
      timeoutMs: 60_000,
      ...changes,
      handler: async ({ content, name = '', encoding, separator }) => {
        const isPacked = encoding === 'base64' || /^UEsDB/.test(content);
        const { left, change } = await desk.open(isPacked ? bytes(content) : content, name, separator);
        return {
          ok: true,
          ...summary(desk),
          change: change?.id ?? null,
          ...(left ? { left: `${left} cells lay beyond column ${columnName(COLUMNS - 1)} or row ${ROWS}` } : {}),
        };
      },
    },
    exportCsv: {
      description: 'The values of a range, or of everything, as the text of a CSV file.',
      params: object({ range, separator: { type: 'string', minLength: 1, maxLength: 1 } }),
      replay: 'never',
      timeoutMs: 30_000,
      handler: ({ range, separator } = {}) => desk.csv(named(desk, range), separator),
    },
    select: {
      description: 'Select a range and bring it into view, to show it to the person.',
      params: object({ range }, 'range'),
      // Only where one looked last counts.
      replay: 'last',
      handler: ({ range }) => {
        desk.show(rectNamed(range));
        return { ok: true };
      },
    },
    setColumnWidth: {
      description: 'Make columns wider or narrower, in pixels from 32 to 800.',
      params: object(
        {
          columns: { type: 'string', description: 'A letter, or two like A:C' },
          width: { type: 'number', minimum: 32, maximum: 800 },
        },
        'columns',
        'width',
      ),
      handler: ({ columns, width }) => {
        const [from, to = from] = String(columns).split(':').map(columnOfName);
        for (let column = from ?? 0; column <= (to ?? 0); column += 1) desk.widen(column, width);
        return { ok: true };
      },
    },
    undo: {
      description: 'Take back the last change, whoever made it. With `change`, only if that was the last one.',
      params: object({ change }),
      inverse: 'redo',
      handler: ({ change } = {}) => {
        const { id, words } = desk.undo(change);
        return { ok: true, undone: words, change: id };
      },
    },
    redo: {
      description: 'Do again what was undone last. With `change`, only if that was undone last.',
      params: object({ change }),
      inverse: 'undo',
      handler: ({ change } = {}) => {
        const { id, words } = desk.redo(change);
        return { ok: true, redone: words, change: id };
      },
    },
  };
}

/** @param {Record<string, object>} properties @param {string[]} required */
function object(properties, ...required) {
  return { type: 'object', properties, required, additionalProperties: false };
}

/** @param {Desk} desk @param {'row' | 'column'} axis @param {number} sign @param {string} description */
function splice(desk, axis, sign, description) {
  const at =
    axis === 'row' ? { type: 'integer', minimum: 1, maximum: ROWS } : { type: 'string', pattern: '^[A-Za-z]{1,3}$' };
  return {
    description,
    params: object({ at, count: { type: 'integer', minimum: 1, maximum: 10_000, default: 1 } }, 'at'),
    inverse: 'undo',
    handler: ({ at, count = 1 }) =>
      done(desk, desk.splice(axis, axis === 'row' ? at - 1 : columnOfName(at), sign * count)),
  };
}

/** @param {Record<string, unknown>} cells */
function textsOf(cells) {
  return new Map(
    Object.entries(cells).map(([name, value]) => {
      const place = placeOf(name);
      if (!place)
        throw new Error(`"${name}" is no cell of this sheet: it goes from A1 to ${columnName(COLUMNS - 1)}${ROWS}`);
      return [
        keyOf(place.row, place.column),
        value === null ? '' : typeof value === 'boolean' ? String(value).toUpperCase() : String(value),
      ];
    }),
  );
}

/** @param {unknown} text */
function rectNamed(text) {
  const rect = rectOf(text);
  if (!rect) throw new Error(`"${text}" is no range: expected something like A1, A1:C10, A:C or 2:5`);
  return rect;
}

/** @param {unknown} name */
function columnOfName(name) {
  const column = /^[A-Za-z]{1,3}$/.test(String(name).trim()) ? columnNumber(String(name).trim()) : COLUMNS;
  if (column >= COLUMNS)
    throw new Error(`"${name}" is no column: expected a letter from A to ${columnName(COLUMNS - 1)}`);
  return column;
}

/** @param {string} base64 */
function bytes(base64) {
  try {
    return Uint8Array.from(atob(base64.replace(/\s/g, '')), (it) => it.charCodeAt(0));
  } catch {
    throw new Error('the content is not base64');
  }
}
