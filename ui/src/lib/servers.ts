// Servers of tools, in words, and a new one as the server wants it told; pure.
import type { ToolServer } from './wire';
import { words } from './words';

export interface Draft {
  name: string;
  kind: 'command' | 'address';
  command: string;
  url: string;
  /** A line each: NAME=value for a program, Name: value for an address. */
  secrets: string;
}

export const blank: Draft = { name: '', kind: 'command', command: '', url: '', secrets: '' };

const { problems, states, tools: counts } = words.settings.servers;

export function stateName(state: ToolServer['state']): string {
  return states[state] ?? state;
}

/** How many of its tools are on. */
export function offered({ tools }: ToolServer): string {
  const on = tools.filter((it) => it.enabled).length;
  return on === tools.length ? counts.all(on) : counts.some(on, tools.length);
}

/** The settings of a new server, or what is wrong with them. */
export function settings(draft: Draft): { settings: object; problem: string } {
  const wrong = (problem: string) => ({ settings: {}, problem });
  const name = draft.name.trim();
  if (!name) return wrong(problems.name);
  if (draft.kind === 'address') {
    const url = draft.url.trim();
    if (!/^https?:\/\//.test(url) || !URL.canParse(url))
      return wrong(problems.address);
    const headers = pairs(draft.secrets, ':');
    if (!headers) return wrong(problems.headers);
    return { settings: { name, url, ...(hasAny(headers) ? { headers } : {}) }, problem: '' };
  }
  const words = split(draft.command);
  if (!words) return wrong(problems.quotation);
  const [command, ...args] = words;
  if (!command) return wrong(problems.command);
  const env = pairs(draft.secrets, '=');
  if (!env) return wrong(problems.variables);
  return { settings: { name, command, args, ...(hasAny(env) ? { env } : {}) }, problem: '' };
}

/** A command line into words, as a shell would, with quotation marks and backslashes but nothing cleverer. */
export function split(line: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let at = 0; at < line.length; at += 1) {
    const char = line[at]!;
    if (char === '\\' && quote !== "'" && at + 1 < line.length) word = (word ?? '') + line[(at += 1)]!;
    else if (quote) {
      if (char === quote) quote = '';
      else word = (word ?? '') + char;
    } else if (char === '"' || char === "'") {
      quote = char;
      word ??= '';
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + char;
  }
  if (quote) return undefined;
  return word === undefined ? words : [...words, word];
}

function pairs(text: string, sign: string): Record<string, string> | undefined {
  const read: Record<string, string> = {};
  for (const line of text.split('\n').filter((it) => it.trim() !== '')) {
    const at = line.indexOf(sign);
    const name = line.slice(0, Math.max(0, at)).trim();
    if (!name) return undefined;
    read[name] = line.slice(at + 1).trim();
  }
  return read;
}

function hasAny(record: object): boolean {
  return Object.keys(record).length > 0;
}
