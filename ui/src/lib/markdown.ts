// Turns Markdown of a model into HTML, block by block, so that growing text redraws only its end. Trusts nothing to be safe: see safe.ts.
import { Marked, Renderer, type Token, type Tokens, type TokensList } from 'marked';
import { escaped } from './escape';
import { formulas } from './formulas';
import { words } from './words';

let growing = false;

const marked = new Marked(
  {
    gfm: true,
    renderer: {
      code: ({ text, lang }: Tokens.Code) => codeBlock(text, lang),
      // What can be wider than the page scrolls in itself, and so must be reachable by keyboard.
      table(token: Tokens.Table) {
        return `<div tabindex="0">${Renderer.prototype.table.call(this, token)}</div>`;
      },
      checkbox: ({ checked }) =>
        `<input type="checkbox" disabled aria-label="${checked ? words.chat.stepDone : words.chat.stepOpen}"${checked ? ' checked' : ''}> `,
      // What a model writes as HTML is shown as written, but for the line break that tables need.
      html: ({ text }) => (/^<br\s*\/?>$/i.test(text.trim()) ? '<br>' : escaped(text)),
      // A picture from elsewhere would tell that server what is being read, so it stays a link.
      image: ({ href, text }) =>
        /^(\/(?!\/)|data:image\/)/.test(href)
          ? `<img src="${escaped(href)}" alt="${escaped(text)}">`
          : `<a href="${escaped(href)}">${escaped(text || href)}</a>`,
    },
  },
  formulas(() => growing),
);

export interface Block {
  html: string;
  /** Nothing that is still to come can change it. */
  finished: boolean;
}

/** One text that may grow: what stands is read once, only its last block is read again. */
export class Growing {
  private taken = '';
  private standing: Block[] = [];

  read(text: string, open: boolean): Block[] {
    // A definition at the end may give links further up their addresses.
    if (!text.startsWith(this.taken) || (!open && DEFINITION.test(text))) this.forget();
    const rest = text.slice(this.taken.length);
    growing = open;
    const tokens = marked.lexer(open ? steady(rest) : rest);
    const last = tokens.findLastIndex((token) => token.type !== 'space');
    const blocks = tokens.map((token, at) => ({ html: html(token, tokens.links), finished: !open || at < last }));
    growing = false;
    const standing = open ? this.keep(tokens.slice(0, Math.max(0, last)), blocks, rest) : 0;
    return [...this.standing, ...blocks.slice(standing).filter((block) => block.html !== '')];
  }

  /** All but the last block stand, if they are what was written: line ends may have been changed on the way. */
  private keep(tokens: Token[], blocks: Block[], rest: string): number {
    const raw = tokens.map((token) => token.raw).join('');
    if (!rest.startsWith(raw)) return 0;
    this.taken += raw;
    this.standing = [...this.standing, ...blocks.slice(0, tokens.length).filter((block) => block.html !== '')];
    return tokens.length;
  }

  private forget() {
    this.taken = '';
    this.standing = [];
  }
}

const DEFINITION = /^ {0,3}\[[^\]\n]+\]:/m;

/** The HTML of each block. `open` text may end anywhere, so marks that only look like structure are held back. */
export function blocks(markdown: string, open = false): string[] {
  return new Growing().read(markdown, open).map((block) => block.html);
}

/** Withholds an unfinished last line that would read as a rule, heading or list for a moment, and closes open emphasis. */
export function steady(markdown: string): string {
  const fences = markdown.match(/^ {0,3}(```|~~~)/gm)?.length ?? 0;
  if (fences % 2 === 1)
    return markdown.replace(/\n {0,3}(?:`{1,3}|~{1,3})$/, (mark) => (mark.trim().length < 3 ? '' : mark));
  const text = untabled(markdown).replace(/(^|\n)[ \t]*(?:[-=*+#>~_]+|`{1,2}|\d{1,3}[.)]?)[ \t]*$/, '$1');
  const paragraph = text.slice(text.lastIndexOf('\n\n') + 1);
  if (paragraph.includes('```') || /^\s*(?:\$\$|\\\[)/.test(paragraph)) return text;
  if (count(paragraph, '`') % 2 === 1) return paragraph.endsWith('`') ? text.slice(0, -1) : `${text}\``;
  if (count(paragraph, '**') % 2 === 1) return paragraph.endsWith('**') ? text.slice(0, -2) : `${text.trimEnd()}**`;
  return text;
}

/** Without the head of a table whose first row has not begun: until then it would read as a paragraph full of bars. */
function untabled(markdown: string): string {
  const head = /(^|\n)[ \t]*\|[^\n]*(?:\n[ \t:|-]*\n?)?$/.exec(markdown);
  if (!head) return markdown;
  const before = markdown.slice(0, head.index).split('\n').at(-1) ?? '';
  return before.trimStart().startsWith('|') ? markdown : markdown.slice(0, head.index) + head[1];
}

/** The bar above the code is there from the first line on, so that nothing moves when the last has come. */
function codeBlock(text: string, info: string | undefined): string {
  const language = info?.match(/^[^\s{]+/)?.[0] ?? '';
  const { copy, copyCode } = words.chat;
  const bar = `<span>${escaped(language || words.chat.plainCode)}</span><button type="button" data-copy aria-label="${copyCode}">${copy}</button>`;
  const code = `<pre tabindex="0"><code>${escaped(text)}\n</code></pre>`;
  return `<figure data-code="${escaped(language.toLowerCase())}"><figcaption>${bar}</figcaption>${code}</figure>\n`;
}

function html(token: Token, links: TokensList['links']): string {
  return marked.parser(Object.assign([token], { links }));
}

function count(text: string, mark: string): number {
  return text.split(mark).length - 1;
}
