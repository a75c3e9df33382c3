import { expect, test } from 'vitest';
import { fields, filled, initial, typed } from './form';

const schema = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Your name', description: 'As on the list', minLength: 2, maxLength: 5 },
    mail: { type: 'string', format: 'email' },
    guests: { type: 'integer', minimum: 1, maximum: 9, default: 2 },
    wine: { type: 'boolean', default: true },
    seat: { type: 'string', enum: ['n', 's'], enumNames: ['North', 'South'] },
    course: { oneOf: [{ const: 1, title: 'Fish' }, { const: 2 }] },
  },
  required: ['name', 'seat'],
};

test('plain properties become fields, in order', () => {
  const read = fields(schema)!;
  expect(read.map(({ name, label, kind, input, required }) => [name, label, kind, input, required])).toEqual([
    ['name', 'Your name', 'text', 'text', true],
    ['mail', 'mail', 'text', 'email', false],
    ['guests', 'guests', 'number', 'number', false],
    ['wine', 'wine', 'boolean', 'text', false],
    ['seat', 'seat', 'choice', 'text', true],
    ['course', 'course', 'choice', 'text', false],
  ]);
  expect(initial(read)).toEqual({ name: '', mail: '', guests: '2', wine: true, seat: '', course: '' });
  expect(read[5]!.options).toEqual([
    { label: 'Fish', value: 1 },
    { label: '2', value: 2 },
  ]);
});

test('what was filled in has the types of the schema, and what is empty is left out', () => {
  const read = fields(schema)!;
  const values = { name: 'Helen', mail: '', guests: '3', wine: false, seat: '1', course: '0' };
  expect(filled(read, values)).toEqual({
    value: { name: 'Helen', guests: 3, wine: false, seat: 's', course: 1 },
    problems: {},
  });
});

test('each field says what is wrong with it', () => {
  const read = fields(schema)!;
  expect(filled(read, { name: '', guests: '1.5', seat: '', mail: 'nobody' }).problems).toEqual({
    name: 'This is needed.',
    mail: 'This is not an address for mail.',
    guests: 'Write a whole number.',
    seat: 'Choose one.',
  });
  expect(filled(read, { name: 'x', guests: '0', seat: '0' }).problems).toEqual({
    name: 'Write at least 2 characters.',
    guests: 'Write 1 or more.',
  });
  expect(filled(read, { name: 'Telemachus', guests: '10', seat: '0' }).problems).toEqual({
    name: 'Write at most 5 characters.',
    guests: 'Write 9 or less.',
  });
});

test('a pattern is checked, and one that cannot be read is passed over', () => {
  const of = (pattern: string) => fields({ properties: { a: { type: 'string', pattern } } })!;
  expect(filled(of('^\\d+$'), { a: 'x' }).problems).toEqual({ a: 'It must be like ^\\d+$' });
  expect(filled(of('('), { a: 'x' })).toEqual({ value: { a: 'x' }, problems: {} });
});

test('a schema that is more than plain values makes no form', () => {
  for (const odd of [
    undefined,
    'text',
    { type: 'array' },
    { type: 'object' },
    { type: 'object', properties: {} },
    { type: 'object', properties: { deep: { type: 'object', properties: {} } } },
    { type: 'object', properties: { any: true } },
  ])
    expect(fields(odd)).toBeUndefined();
});

test('typed JSON must be an object', () => {
  expect(typed('{"a": 1}')).toEqual({ value: { a: 1 }, problem: '' });
  expect(typed('[1]').problem).toBe('It must be an object, in braces.');
  expect(typed('{').problem).toMatch(/^That is not JSON: /);
});
