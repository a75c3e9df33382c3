// JSON Schemas in words: a type's name, a flat table of fields, and an example. Pure.
import { resolve, type Document, type Schema } from './openapi';

export interface Field {
  /** The way to the field, such as `models[].id`. */
  name: string;
  type: string;
  required: boolean;
  description: string;
}

const DEEPEST = 5;

/** Every field of an object, its inner objects' fields after it. A type inside itself is named, not opened again. */
export function fields(document: Document, schema: Schema, prefix = '', above: Schema[] = []): Field[] {
  const whole = merged(document, schema);
  if (above.includes(whole.key) || above.length > DEEPEST) return [];
  const inside = [...above, whole.key];
  if (whole.schema.items) return fields(document, whole.schema.items, `${prefix}[]`, inside);

  const rows: Field[] = [];
  for (const [key, property] of Object.entries(whole.schema.properties ?? {})) {
    const name = prefix ? `${prefix}.${key}` : key;
    const description = property.description ?? merged(document, property).schema.description ?? '';
    rows.push({
      name,
      type: typeName(document, property),
      required: whole.schema.required?.includes(key) ?? false,
      description,
    });
    rows.push(...fields(document, property, name, inside));
  }
  const others = whole.schema.additionalProperties;
  if (typeof others === 'object') {
    const name = prefix ? `${prefix}.<key>` : '<key>';
    rows.push({ name, type: typeName(document, others), required: false, description: others.description ?? '' });
    rows.push(...fields(document, others, name, inside));
  }
  return rows;
}

export function typeName(document: Document, schema: Schema): string {
  const it = resolve(document, schema);
  if (it.const !== undefined) return JSON.stringify(it.const);
  if (it.enum) return it.enum.map((value) => JSON.stringify(value)).join(' | ');
  const choices = it.oneOf ?? it.anyOf;
  if (choices) return [...new Set(choices.map((choice) => typeName(document, choice)))].join(' | ');
  if (it.allOf) return it.allOf.length === 1 ? typeName(document, it.allOf[0]!) : 'object';
  if (it.items) return many(typeName(document, it.items));
  const types = [it.type ?? (it.properties ? 'object' : 'any')].flat();
  const detailed = it.format && !['int32', 'int64', 'double', 'float'].includes(it.format) ? ` (${it.format})` : '';
  return types.join(' | ') + detailed;
}

/** Something that would be valid, preferring what the document gives as an example. */
export function example(document: Document, schema: Schema, above: Schema[] = []): unknown {
  const { schema: it, key } = merged(document, schema);
  const given = it.example ?? it.examples?.[0] ?? it.const ?? it.default ?? it.enum?.[0];
  if (given !== undefined) return given;
  if (above.includes(key) || above.length > DEEPEST) return {};
  const inside = [...above, key];
  if (it.items) return [example(document, it.items, inside)];
  if (it.properties || it.additionalProperties) {
    const entries = Object.entries(it.properties ?? {}).map(([name, property]) => [
      name,
      example(document, property, inside),
    ]);
    return Object.fromEntries(entries);
  }
  const [type] = [it.type ?? 'object'].flat();
  const simple: Record<string, unknown> = {
    string: it.format === 'date-time' ? '2026-01-01T12:00:00.000Z' : 'text',
    integer: 1,
    number: 1,
    boolean: true,
    null: null,
  };
  return type && type in simple ? simple[type] : {};
}

/** A schema with its reference followed, `allOf` joined, and alternatives laid over each other; `key` knows it again. */
function merged(document: Document, schema: Schema): { schema: Schema; key: Schema } {
  const key = resolve(document, schema);
  let whole = key;
  for (const part of key.allOf ?? []) {
    const next = merged(document, part).schema;
    whole = {
      ...next,
      ...whole,
      properties: { ...next.properties, ...whole.properties },
      required: [...(next.required ?? []), ...(whole.required ?? [])],
    };
  }
  const choices = (key.oneOf ?? key.anyOf ?? [])
    .map((it) => merged(document, it))
    .filter((it) => it.schema.type !== 'null');
  if (choices.length === 1) return choices[0]!;
  return {
    schema:
      choices.length > 1
        ? overlaid(
            whole,
            choices.map((it) => it.schema),
          )
        : whole,
    key,
  };
}

/** Every field any of the alternatives has; required is what all of them require. */
function overlaid(whole: Schema, choices: Schema[]): Schema {
  const properties = Object.assign({}, ...choices.toReversed().map((it) => it.properties)) as Record<string, Schema>;
  if (Object.keys(properties).length === 0) return choices[0]!;
  const required = Object.keys(properties).filter((name) => choices.every((it) => it.required?.includes(name)));
  return { ...choices[0], ...whole, properties, required };
}

function many(type: string): string {
  return type.includes(' ') ? `(${type})[]` : `${type}[]`;
}
