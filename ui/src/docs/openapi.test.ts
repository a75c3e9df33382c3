// What must hold of the API reader: any OpenAPI 3.1 document becomes chapters, tables and examples.
import { expect, test } from 'vitest';
import { chapters, filtered, type Document } from './openapi';
import { example, fields, typeName } from './schema';

const document: Document = {
  openapi: '3.1.0',
  info: { title: 'Test', version: '1' },
  tags: [{ name: 'Sessions', description: 'Talks.' }, { name: 'Unused' }],
  paths: {
    '/api/sessions/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
      delete: { tags: ['Sessions'], summary: 'Delete', responses: { 200: { description: 'Gone' } } },
    },
    '/api/sessions': {
      get: {
        tags: ['Sessions'],
        summary: 'List',
        responses: {
          200: {
            description: 'All',
            content: { 'application/json': { schema: { $ref: '#/components/schemas/List' } } },
          },
        },
      },
    },
    '/health': { get: { responses: {} } },
  },
  components: {
    schemas: {
      List: {
        type: 'object',
        required: ['items'],
        properties: {
          items: { type: 'array', items: { $ref: '#/components/schemas/Item' } },
          next: { type: ['string', 'null'] },
        },
      },
      Item: {
        type: 'object',
        required: ['id'],
        properties: {
          id: { type: 'string', description: 'Who.' },
          kind: { enum: ['a', 'b'] },
          parent: { oneOf: [{ type: 'null' }, { $ref: '#/components/schemas/Item' }] },
        },
      },
    },
  },
};

test('operations are grouped by tag and those without one come last', () => {
  expect(chapters(document).map((it) => [it.tag, it.operations.map((one) => `${one.method} ${one.path}`)])).toEqual([
    ['Sessions', ['DELETE /api/sessions/{id}', 'GET /api/sessions']],
    ['Other', ['GET /health']],
  ]);
});

test('parameters of a path belong to each of its operations, and anchors tell operations apart', () => {
  const [remove] = chapters(document)[0]!.operations;
  expect(remove).toMatchObject({
    anchor: 'delete-api-sessions-id',
    parameters: [{ name: 'id', place: 'path', required: true }],
  });
});

test('the filter wants every word', () => {
  const found = filtered(chapters(document), 'sessions delete');
  expect(found.flatMap((it) => it.operations).map((it) => it.method)).toEqual(['DELETE']);
});

test('a schema becomes one flat table, and a type inside itself ends it', () => {
  const rows = fields(document, { $ref: '#/components/schemas/List' });
  expect(rows.map((it) => `${it.name}: ${it.type}${it.required ? ' !' : ''}`)).toEqual([
    'items: object[] !',
    'items[].id: string !',
    'items[].kind: "a" | "b"',
    'items[].parent: null | object',
    'next: string | null',
  ]);
});

test('an example is made of the schema where none is given', () => {
  expect(example(document, { $ref: '#/components/schemas/List' })).toEqual({
    items: [{ id: 'text', kind: 'a', parent: {} }],
    next: 'text',
  });
});

test('arrays of alternatives are bracketed', () => {
  expect(typeName(document, { type: 'array', items: { type: ['string', 'integer'] } })).toBe('(string | integer)[]');
});
