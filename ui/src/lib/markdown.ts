// Turns Markdown of a model into HTML, block by block, so that growing text redraws only its end. Trusts nothing to be safe: see safe.ts.
import { Marked, Renderer, type Token, type Tokens, type TokensList } from 'marked';

const marked = new Marked({
  gfm: true,
  renderer: {
    // What can be wider than the page scrolls, and so must be reachable by keyboard.
    code(token: Tokens.Code) {
      return Renderer.prototype.code.call(this, token).replace('<pre>', '<pre tabindex="0">');
    },
    table(token: Tokens.Table) {
      return `<div tabindex="0">${Renderer.prototype.table.call(this, token)}</div>`;
    },
    // What a model writes as HTML is shown as written, but for the line break that tables need.
    html: ({ text }) => (/^<br\s*\/?>$/i.test(text.trim()) ? '<br>' : escaped(text)),
    // A picture from elsewhere would tell that server what is being read, so it stays a link.
    image: ({ href, text }) =>
      /^(\/(?!\/)|data:image\/)/.test(href)
        ? `<img src="${escaped(href)}" alt="${escaped(text)}">`
        : `<a href="${escaped(href)}">${escaped(text || href)}</a>`,
  },
});

/** The HTML of each block. `open` text may end anywhere, so marks that only look like structure are held back. */
export function blocks(markdown: string, open = false): string[] {
  const tokens = marked.lexer(open ? steady(markdown) : markdown);
  return tokens.filter((token) => token.type !== 'space').map((token) => html(token, tokens.links));
}

/** Withholds an unfinished last line that would read as a rule, heading or list for a moment, and closes open emphasis. */
export function steady(markdown: string): string {
  const text = markdown.replace(/(^|\n)[ \t]*(?:[-=*+#>|~_]+|`{1,2}|\d{1,3}[.)]?)[ \t]*$/, '$1');
  const paragraph = text.slice(text.lastIndexOf('\n\n') + 1);
  const fences = text.match(/^ {0,3}(```|~~~)/gm)?.length ?? 0;
  if (fences % 2 === 1 || paragraph.includes('```')) return text;
  if (count(paragraph, '`') % 2 === 1) return paragraph.endsWith('`') ? text.slice(0, -1) : `${text}\``;
  if (count(paragraph, '**') % 2 === 1) return paragraph.endsWith('**') ? text.slice(0, -2) : `${text.trimEnd()}**`;
  return text;
}

function html(token: Token, links: TokensList['links']): string {
  return marked.parser(Object.assign([token], { links }));
}

function escaped(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
  return text.replace(/[&<>"']/g, (character) => entities[character]!);
}

function count(text: string, mark: string): number {
  return text.split(mark).length - 1;
}
