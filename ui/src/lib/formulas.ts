// Finds formulas in Markdown: `$…$`, `$$…$$`, `\(…\)`, `\[…\]`. It only marks them; how they are set is decided in finish.ts.
import type { MarkedExtension, Tokens } from 'marked';
import { escaped } from './escape';

interface Formula extends Tokens.Generic {
  type: 'formula' | 'formulaBlock';
  text: string;
  display: boolean;
  /** Its end has not been written yet. */
  open: boolean;
}

/** A dollar sign that could be money is left alone: a formula does not begin or end with a space, and no digit follows it. */
const DOLLAR = /^\$(?![\s$])((?:\\[\s\S]|[^\\$\n])*?(?:\\[^\s]|[^\s\\$]))\$(?!\d)/;
const DOLLARS = /^\$\$(?!\$)((?:\\[\s\S]|[^\\$])+?)\$\$/;
const ROUND = /^\\\(([\s\S]+?)\\\)/;
const SQUARE = /^\\\[([\s\S]+?)\\\]/;

const BLOCK_DOLLARS = /^ {0,3}\$\$(?!\$)((?:\\[\s\S]|[^\\$])+?)\$\$[ \t]*(?:\n+|$)/;
const BLOCK_SQUARE = /^ {0,3}\\\[([\s\S]+?)\\\][ \t]*(?:\n+|$)/;
const BLOCK_BEGUN = /^ {0,3}(?:\$\$(?!\$)|\\\[)[\s\S]*$/;

/** `isOpen` says whether the text that is read now may still grow. */
export function formulas(isOpen: () => boolean): MarkedExtension {
  return {
    extensions: [
      {
        name: 'formulaBlock',
        level: 'block',
        start: (source) => source.match(/(?<=\n) {0,3}(?:\$\$|\\\[)/)?.index,
        tokenizer: (source): Formula | undefined => {
          const found = BLOCK_DOLLARS.exec(source) ?? BLOCK_SQUARE.exec(source);
          if (found && !found[1]!.includes('\n\n'))
            return { type: 'formulaBlock', raw: found[0], text: found[1]!.trim(), display: true, open: false };
          const begun = isOpen() ? BLOCK_BEGUN.exec(source) : null;
          if (!begun || begun[0].includes('\n\n')) return undefined;
          return { type: 'formulaBlock', raw: begun[0], text: begun[0].trim(), display: true, open: true };
        },
        renderer: (token) => shown(token as Formula),
      },
      {
        name: 'formula',
        level: 'inline',
        start: (source) => source.match(/\$|\\[([]/)?.index,
        tokenizer: (source): Formula | undefined => {
          const display = DOLLARS.exec(source) ?? SQUARE.exec(source);
          const found = display ?? DOLLAR.exec(source) ?? ROUND.exec(source);
          if (found)
            return { type: 'formula', raw: found[0], text: found[1]!.trim(), display: display !== null, open: false };
          if (!isOpen() || !/^\\[([]/.test(source)) return undefined;
          return { type: 'formula', raw: source, text: source, display: false, open: true };
        },
        renderer: (token) => shown(token as Formula),
      },
    ],
  };
}

function shown({ type, text, display, open }: Formula): string {
  const tag = type === 'formulaBlock' ? 'div' : 'span';
  const kind = open ? 'open' : display ? 'display' : 'inline';
  const formula = `<${tag} data-formula="${kind}"><code>${escaped(text)}</code></${tag}>`;
  return type === 'formulaBlock' ? `${formula}\n` : formula;
}
