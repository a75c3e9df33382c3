// A form made from a JSON Schema, where the schema is plain enough; pure.
import { words } from './words';

export interface Field {
  name: string;
  label: string;
  hint: string;
  required: boolean;
  kind: 'text' | 'number' | 'boolean' | 'choice';
  /** What the browser should expect to be typed. */
  input: 'text' | 'email' | 'url' | 'date' | 'number';
  options: { label: string; value: unknown }[];
  initial: string | boolean;
  schema: Schema;
}

export type Values = Record<string, string | boolean>;

interface Schema {
  type?: string;
  title?: string;
  description?: string;
  default?: unknown;
  format?: string;
  enum?: unknown[];
  enumNames?: string[];
  oneOf?: { const?: unknown; title?: string }[];
  properties?: Record<string, Schema>;
  required?: string[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
}

const INPUTS: Record<string, Field['input']> = { email: 'email', uri: 'url', date: 'date' };

/** The fields of an object of plain values, in order; nothing if any part of it is more than that. */
export function fields(schema: unknown): Field[] | undefined {
  if (!isObject(schema)) return undefined;
  const { type, properties, required = [] } = schema as Schema;
  if ((type !== undefined && type !== 'object') || !isObject(properties)) return undefined;
  const read = Object.entries(properties).map(([name, it]) => field(name, it, required.includes(name)));
  return read.length > 0 && read.every((it) => it !== undefined) ? read : undefined;
}

export function initial(of: Field[]): Values {
  return Object.fromEntries(of.map(({ name, initial }) => [name, initial]));
}

/** What was filled in, as the schema wants it, and what is wrong with it, by field. */
export function filled(
  of: Field[],
  values: Values,
): { value: Record<string, unknown>; problems: Record<string, string> } {
  const value: Record<string, unknown> = {};
  const problems: Record<string, string> = {};
  for (const it of of) {
    const given = values[it.name] ?? '';
    if (given === '') {
      if (it.required) problems[it.name] = it.kind === 'choice' ? words.forms.chooseOne : words.forms.needed;
      continue;
    }
    const read = it.kind === 'choice' ? it.options[Number(given)]?.value : it.kind === 'number' ? Number(given) : given;
    const problem = wrong(it, read);
    if (problem) problems[it.name] = problem;
    else value[it.name] = read;
  }
  return { value, problems };
}

/** Values typed as JSON, for schemas that are more than a list of fields. */
export function typed(text: string): { value: Record<string, unknown>; problem: string } {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return { value: value as Record<string, unknown>, problem: '' };
    return { value: {}, problem: words.forms.noObject };
  } catch (error) {
    return { value: {}, problem: words.forms.noJson((error as Error).message) };
  }
}

function field(name: string, schema: Schema, required: boolean): Field | undefined {
  if (!isObject(schema)) return undefined;
  const base = {
    name,
    required,
    schema,
    label: schema.title ?? name,
    hint: schema.description ?? '',
    input: INPUTS[schema.format ?? ''] ?? ('text' as const),
    options: options(schema),
  };
  const before = schema.default;
  if (base.options.length > 0) {
    const chosen = base.options.findIndex((it) => it.value === before);
    return { ...base, kind: 'choice', initial: chosen < 0 ? '' : String(chosen) };
  }
  if (schema.type === 'boolean') return { ...base, kind: 'boolean', initial: before === true };
  if (schema.type === 'string') return { ...base, kind: 'text', initial: typeof before === 'string' ? before : '' };
  if (schema.type !== 'number' && schema.type !== 'integer') return undefined;
  return { ...base, kind: 'number', input: 'number', initial: typeof before === 'number' ? String(before) : '' };
}

function options({ enum: values, enumNames, oneOf }: Schema): Field['options'] {
  if (Array.isArray(values)) return values.map((value, at) => ({ value, label: enumNames?.[at] ?? String(value) }));
  if (!Array.isArray(oneOf) || !oneOf.every((it) => isObject(it) && 'const' in it)) return [];
  return oneOf.map((it) => ({ value: it.const, label: it.title ?? String(it.const) }));
}

function wrong({ kind, schema, input }: Field, value: unknown): string {
  if (kind === 'number') return wrongNumber(schema, value as number);
  if (kind !== 'text') return '';
  const text = value as string;
  const { minLength = 0, maxLength = Infinity, pattern } = schema;
  if (text.length < minLength) return words.forms.tooShort(minLength);
  if (text.length > maxLength) return words.forms.tooLong(maxLength);
  if (input === 'email' && !/^\S+@\S+$/.test(text)) return words.forms.noMail;
  if (input === 'url' && !URL.canParse(text)) return words.forms.noAddress;
  if (pattern && !matches(pattern, text)) return words.forms.unlike(pattern);
  return '';
}

function wrongNumber({ type, minimum = -Infinity, maximum = Infinity }: Schema, value: number): string {
  if (!Number.isFinite(value)) return words.forms.noNumber;
  if (type === 'integer' && !Number.isInteger(value)) return words.forms.noInteger;
  if (value < minimum) return words.forms.tooSmall(minimum);
  return value > maximum ? words.forms.tooLarge(maximum) : '';
}

/** A pattern that cannot be read here is left to whoever asked. */
function matches(pattern: string, text: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(text);
  } catch {
    return true;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
