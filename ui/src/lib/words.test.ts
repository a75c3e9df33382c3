// That every sentence of the page is in the catalogue: none is left in what draws it, or in what it is drawn from.
import { parse } from 'svelte/compiler';
import ts from 'typescript';
import { expect, test } from 'vitest';

interface Node {
  type: string;
  [field: string]: unknown;
}

const components = import.meta.glob<string>('../**/*.svelte', { query: '?raw', import: 'default', eager: true });
const scripts = import.meta.glob<string>('../**/*.ts', { query: '?raw', import: 'default', eager: true });
/** What is lent to frames, and what is answered in their stead, speaks to whoever writes them; the catalogue is where sentences belong. */
const APART = [/\/applets\/runtime\//, /\/frames\/sdk\//, /\/frames\/bridge\.ts$/, /^\.\/en\//, /\.test\.ts$/];
/** Reading all of it takes a while on a machine that is busy, in milliseconds. */
const PATIENCE = 60_000;
/** Names, which are the same in every language. */
const NAMES = new Set(['Megaron', 'openapi.json', 'OpenAPI']);
/** What looks like a sentence, and is a name that the server gives. */
const GIVEN = new Set(['From the person']);
/** Attributes whose text somebody sees or hears, of elements. */
const VISIBLE = new Set(['aria-label', 'aria-description', 'aria-roledescription', 'title', 'placeholder', 'alt', 'label']);

const isWord = (text: string) => /\p{L}{2}/u.test(text) && !NAMES.has(text.trim());
const isSentence = (text: string) => /^\p{Lu}\p{Ll}*['’]?\p{Ll}*,? \p{L}/u.test(text) && !GIVEN.has(text);

/** Text that is written in the markup of a component, where words of the catalogue should be. */
function written(source: string): string[] {
  const found: string[] = [];
  visit(parse(source, { modern: true }).fragment as unknown as Node, found);
  return found;
}

function visit(node: Node, found: string[]) {
  if (node.type === 'Text' && isWord(String(node.data))) found.push(String(node.data).trim());
  if (node.type === 'ExpressionTag') found.push(...literals(node.expression as Node).filter(isWord));
  for (const attribute of (node.attributes ?? []) as Node[]) {
    const seen = VISIBLE.has(String(attribute.name));
    const [isGiven, isSeen] = [node.type === 'Component', node.type !== 'Component' && seen];
    if (isGiven || isSeen) found.push(...valueOf(attribute).filter(isSeen ? isWord : isSentence));
  }
  for (const field of ['fragment', 'body', 'fallback', 'consequent', 'alternate', 'pending', 'then', 'catch'])
    if (node[field]) visit(node[field] as Node, found);
  for (const inner of (node.nodes ?? []) as Node[]) visit(inner, found);
}

function valueOf({ value }: Node): string[] {
  const parts = (Array.isArray(value) ? value : [value]).filter((it): it is Node => typeof it === 'object' && it !== null);
  return parts.flatMap((it) => (it.type === 'Text' ? [String(it.data)] : literals(it.expression as Node)));
}

/** What an expression may come to as text: not what it compares with, looks up by, or passes on. */
function literals(node: Node | undefined): string[] {
  if (!node) return [];
  if (node.type === 'Literal') return typeof node.value === 'string' ? [node.value] : [];
  if (node.type === 'TemplateLiteral') {
    const texts = (node.quasis as { value: { cooked: string } }[]).map((it) => it.value.cooked);
    return [...texts, ...(node.expressions as Node[]).flatMap(literals)];
  }
  if (node.type === 'ConditionalExpression') return [...literals(node.consequent as Node), ...literals(node.alternate as Node)];
  if (node.type === 'LogicalExpression') return [...literals(node.left as Node), ...literals(node.right as Node)];
  if (node.type === 'BinaryExpression' && node.operator === '+')
    return [...literals(node.left as Node), ...literals(node.right as Node)];
  return [];
}

/** Strings in a script that read like the beginning of a sentence. */
function sentences(source: string): string[] {
  const found: string[] = [];
  const look = (node: ts.Node) => {
    if ((ts.isStringLiteralLike(node) || ts.isTemplateHead(node)) && isSentence(node.text)) found.push(node.text);
    ts.forEachChild(node, look);
  };
  look(ts.createSourceFile('it.ts', source, ts.ScriptTarget.Latest));
  return found;
}

const scriptOf = (source: string) => /<script[^>]*>([\s\S]*?)<\/script>/g[Symbol.matchAll](source);

test('what is looked for would be found', () => {
  const source = `<script>let a = 'Something went wrong.'; const kind = 'Component';</script>
    <p title="A title">Some text {a ? 'Yes' : \`No, \${a}\`}</p><Welcome heading="What shall we do?" shape="down" />
    {#if a === 'never seen'}<input placeholder="Find" class="Not seen" />{:else}<b>{words.a.b('key')}</b>{/if}`;
  expect(written(source)).toEqual(['A title', 'Some text', 'Yes', 'No, ', 'What shall we do?', 'Find']);
  expect([...scriptOf(source)].flatMap(([, script]) => sentences(script!))).toEqual(['Something went wrong.']);
});

test('no component has words of its own', { timeout: PATIENCE }, () => {
  const own = Object.entries(components).flatMap(([path, source]) => {
    const inScripts = [...scriptOf(source)].flatMap(([, script]) => sentences(script!));
    return [...written(source), ...inScripts].map((text) => `${path}: ${text}`);
  });
  expect(Object.keys(components).length).toBeGreaterThan(50);
  expect(own).toEqual([]);
});

test('no script has sentences of its own', { timeout: PATIENCE }, () => {
  const ours = Object.entries(scripts).filter(([path]) => !APART.some((it) => it.test(path)));
  const own = ours.flatMap(([path, source]) => sentences(source).map((text) => `${path}: ${text}`));
  expect(ours.length).toBeGreaterThan(50);
  expect(own).toEqual([]);
});
