// An OpenAPI document as a reader wants it: chapters of operations. Pure; resolves references and hides the document's shape.
import { words } from '../lib/words';

export interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  title?: string;
  description?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  required?: string[];
  items?: Schema;
  oneOf?: Schema[];
  anyOf?: Schema[];
  allOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  example?: unknown;
  examples?: unknown[];
}

interface Content {
  schema?: Schema;
  example?: unknown;
  examples?: Record<string, { value?: unknown }>;
}

interface RawParameter {
  $ref?: string;
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema?: Schema;
}

interface RawOperation {
  operationId?: string;
  tags?: string[];
  summary?: string;
  description?: string;
  deprecated?: boolean;
  parameters?: RawParameter[];
  requestBody?: { $ref?: string; description?: string; required?: boolean; content?: Record<string, Content> };
  responses?: Record<string, { $ref?: string; description?: string; content?: Record<string, Content> }>;
}

export interface Document {
  openapi: string;
  info: { title: string; version: string; description?: string };
  tags?: { name: string; description?: string }[];
  paths?: Record<string, Record<string, unknown>>;
  components?: { schemas?: Record<string, Schema> };
}

export interface Body {
  /** The media type, or nothing when no content is described. */
  media: string;
  description: string;
  schema: Schema | undefined;
  example: unknown;
}

export interface Parameter {
  name: string;
  place: string;
  required: boolean;
  description: string;
  schema: Schema;
}

export interface Operation {
  anchor: string;
  method: string;
  path: string;
  summary: string;
  description: string;
  deprecated: boolean;
  parameters: Parameter[];
  request: (Body & { required: boolean }) | undefined;
  responses: (Body & { status: string })[];
}

export interface Chapter {
  tag: string;
  description: string;
  operations: Operation[];
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options'];

/** Operations by their first tag, in the order the document declares its tags. */
export function chapters(document: Document): Chapter[] {
  const found = new Map<string, Chapter>();
  for (const { name, description } of document.tags ?? []) {
    found.set(name, { tag: name, description: description ?? '', operations: [] });
  }
  for (const [path, item] of Object.entries(document.paths ?? {})) {
    for (const method of METHODS) {
      const raw = item[method] as RawOperation | undefined;
      if (!raw) continue;
      const tag = raw.tags?.[0] ?? words.docs.other;
      const chapter = found.get(tag) ?? { tag, description: '', operations: [] };
      chapter.operations.push(operation(document, path, method, raw, (item.parameters ?? []) as RawParameter[]));
      found.set(tag, chapter);
    }
  }
  return [...found.values()].filter((chapter) => chapter.operations.length > 0);
}

/** Keeps what every word of the query occurs in. */
export function filtered(all: Chapter[], query: string): Chapter[] {
  const wanted = query.toLowerCase().split(/\s+/).filter(Boolean);
  return all
    .map((chapter) => ({
      ...chapter,
      operations: chapter.operations.filter((it) => {
        const text = `${chapter.tag} ${it.method} ${it.path} ${it.summary} ${it.description}`.toLowerCase();
        return wanted.every((word) => text.includes(word));
      }),
    }))
    .filter((chapter) => chapter.operations.length > 0);
}

/** Follows `$ref` inside the document; what points nowhere is an empty description. */
export function resolve<T extends { $ref?: string }>(document: Document, value: T): T {
  let current: T | undefined = value;
  for (let steps = 0; current?.$ref && steps < 16; steps += 1) {
    const path = current.$ref.replace(/^#\//, '').split('/');
    current = path.reduce<unknown>(
      (at, part) => (at as Record<string, unknown> | undefined)?.[unescape(part)],
      document,
    ) as T | undefined;
  }
  return current ?? ({} as T);
}

function operation(
  document: Document,
  path: string,
  method: string,
  raw: RawOperation,
  shared: RawParameter[],
): Operation {
  const parameters = [...shared, ...(raw.parameters ?? [])].map((it) => parameter(resolve(document, it)));
  const request = raw.requestBody && resolve(document, raw.requestBody);
  const responses = Object.entries(raw.responses ?? {}).map(([status, it]) => {
    const { description, ...rest } = body(resolve(document, it));
    return { ...rest, status, description: description || (words.docs.meanings[status] ?? '') };
  });
  return {
    anchor: `${method}${path}`.replace(/[^a-zA-Z0-9]+/g, '-').replace(/-$/, ''),
    method: method.toUpperCase(),
    path,
    summary: raw.summary ?? '',
    description: raw.description ?? '',
    deprecated: raw.deprecated ?? false,
    parameters,
    request: request && { required: request.required ?? false, ...body(request) },
    responses,
  };
}

function parameter(raw: RawParameter): Parameter {
  const { name, in: place, required = false, description = '', schema = {} } = raw;
  return { name, place, required, description, schema };
}

function body(raw: { description?: string; content?: Record<string, Content> }): Body {
  const [media, content] = Object.entries(raw.content ?? {})[0] ?? ['', {}];
  const named = Object.values(content.examples ?? {})[0]?.value;
  return { media, description: raw.description ?? '', schema: content.schema, example: content.example ?? named };
}

function unescape(part: string): string {
  return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
}
