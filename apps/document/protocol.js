// What an agent may read of the document and do to it.
import { counts, lineAt, occurrences, outline, startOf } from './text.js';

const change = { type: 'integer', description: 'Number of the change; pass it to undo to take back exactly this' };
const text = { type: 'string', description: 'Markdown' };
const AROUND = 60;

/**
 * @param {import('./text.js').Text} document
 * @param {{ goTo: (line: number) => void, setView: (view: string) => void, selection: () => object }} view
 */
export function registration(document, view) {
  return {
    appId: 'document',
    name: 'Document',
    state: {
      text: {
        description: 'The whole document, as Markdown.',
        schema: { type: 'string' },
        handler: () => document.value,
      },
      outline: {
        description: 'Its headings: level, title and line, counted from 1.',
        schema: { type: 'array', items: { type: 'object' } },
        handler: () => outline(document.value),
      },
      summary: {
        description:
          'Name of the file if there is one, number of words, characters and lines, and the headings. Read this first when the document may be long.',
        schema: { type: 'object' },
        handler: () => ({
          file: document.name || undefined,
          ...counts(document.value),
          outline: outline(document.value),
        }),
      },
      selection: {
        description: 'What the person has selected or where their cursor is: text, first and last line.',
        schema: { type: 'object' },
        handler: view.selection,
      },
    },
    // The person writes as well, and no repeating of commands would bring that back: the whole text is kept instead,
    // and commands are repeated only where nothing can be kept.
    commands: {
      setText: {
        description: 'Replace the whole document. To change a part use replace, which cannot lose the rest.',
        params: object({ text }, 'text'),
        inverse: 'undo',
        handler: ({ text }) => done(document, document.set(text, 'replace everything')),
      },
      append: {
        description: 'Add Markdown at the end, after a blank line.',
        params: object({ text }, 'text'),
        inverse: 'undo',
        handler: ({ text }) => done(document, document.set(joined(document.value, text), 'append')),
      },
      insert: {
        description: 'Insert Markdown before a line, counted from 1.',
        params: object({ text, line: { type: 'integer', minimum: 1 } }, 'text', 'line'),
        inverse: 'undo',
        handler: ({ text, line }) => {
          const at = startOf(document.value, line);
          const before = document.value.slice(0, at);
          const gap = before && !before.endsWith('\n') ? '\n' : '';
          const after = document.value.slice(at);
          return done(
            document,
            document.set(`${before}${gap}${text}${after && !text.endsWith('\n') ? '\n' : ''}${after}`, 'insert'),
          );
        },
      },
      replace: {
        description: 'Replace a text that occurs exactly once by another; with `all`, every occurrence. Case counts.',
        params: object(
          { find: { type: 'string', minLength: 1 }, with: { type: 'string' }, all: { type: 'boolean' } },
          'find',
          'with',
        ),
        inverse: 'undo',
        handler: ({ find, with: by, all = false }) => {
          const count = document.value.split(find).length - 1;
          if (count === 0) throw new Error('the text to replace does not occur');
          if (count > 1 && !all)
            throw new Error(`the text to replace occurs ${count} times: give more of what is around it, or set all`);
          return {
            ...done(
              document,
              document.set(
                document.value.replaceAll(find, () => by),
                'replace',
              ),
            ),
            replaced: count,
          };
        },
      },
      find: {
        description: 'Where a text occurs, whatever its case: lines and what is around it. At most 50.',
        params: object({ text: { type: 'string', minLength: 1 } }, 'text'),
        replay: 'never',
        handler: ({ text }) => {
          const all = occurrences(document.value, text);
          const near = ({ start, end }) =>
            document.value.slice(Math.max(0, start - AROUND), end + AROUND).replace(/\s+/g, ' ');
          return {
            count: all.length,
            found: all.slice(0, 50).map((it) => ({ line: lineAt(document.value, it.start), near: near(it) })),
          };
        },
      },
      openFile: {
        description: 'Replace the document by the text of a file.',
        params: object({ content: { type: 'string' }, name: { type: 'string' } }, 'content'),
        inverse: 'undo',
        handler: ({ content, name = '' }) => {
          document.name = name;
          return done(
            document,
            document.set(content.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n'), `open ${name || 'a file'}`),
          );
        },
      },
      goTo: {
        description: 'Bring a line or a heading into view, to show it to the person.',
        params: { ...object({ line: { type: 'integer', minimum: 1 }, heading: { type: 'string' } }), minProperties: 1 },
        // Only where one looked last counts.
        replay: 'last',
        handler: ({ line, heading }) => {
          const wanted = outline(document.value).find(
            (it) => it.title.toLowerCase() === String(heading ?? '').toLowerCase(),
          );
          if (heading !== undefined && !wanted) throw new Error(`there is no heading "${heading}"`);
          view.goTo(wanted?.line ?? line);
          return { ok: true, line: wanted?.line ?? line };
        },
      },
      setView: {
        description: 'Show the text, how it reads, or both side by side.',
        params: object({ view: { enum: ['write', 'read', 'both'] } }, 'view'),
        replay: 'last',
        handler: ({ view: wanted }) => {
          view.setView(wanted);
          return { ok: true };
        },
      },
      undo: {
        description: 'Take back the last change, whoever made it. With `change`, only if that was the last one.',
        params: object({ change }),
        inverse: 'redo',
        handler: ({ change } = {}) => {
          const { id, words } = document.undo(change);
          return { ok: true, undone: words, change: id };
        },
      },
      redo: {
        description: 'Do again what was undone last. With `change`, only if that was undone last.',
        params: object({ change }),
        inverse: 'undo',
        handler: ({ change } = {}) => {
          const { id, words } = document.redo(change);
          return { ok: true, redone: words, change: id };
        },
      },
    },
  };
}

/** @param {Record<string, object>} properties @param {string[]} required */
function object(properties, ...required) {
  return { type: 'object', properties, required, additionalProperties: false };
}

function done(document, step) {
  const { words, lines } = counts(document.value);
  return { ok: true, changed: step !== null, words, lines, change: step?.id ?? null };
}

/** @param {string} before @param {string} text */
function joined(before, text) {
  const start = before.trimEnd();
  return start ? `${start}\n\n${text}` : text;
}
