// The conversation as rows of known or guessed height: which of them are near the reader, and what should be fetched.
import type { Item } from './conversation';
import type { Chapter, Gap, Past } from './history';
import type { Finding } from './wire';

export interface ItemRow {
  kind: 'item';
  key: string;
  item: Item;
}

export interface GapRow {
  kind: 'gap';
  key: string;
  gap: Gap;
}

export type Row = ItemRow | GapRow;

/** How far from the reader the past is fetched, and how far away it is let go, in pixels. */
export const NEAR = 3_000;
export const FAR = 9_000;
/** So many chapters stay whatever their distance. */
const FEW = 3;

const made = new WeakMap<Item, ItemRow>();

/** What is there to see, in order. An item that did not change keeps its row. */
export function rowsOf(past: Past): Row[] {
  return past.flatMap((part): Row[] => {
    if (part.kind === 'gap') return [{ kind: 'gap', key: `gap ${part.key}`, gap: part }];
    return part.conversation.items.filter(isSeen).map((item) => rowOf(part, item));
  });
}

/** A plan that is under way is shown elsewhere, and one that was made earlier stands there. */
function isSeen(item: Item): boolean {
  return item.kind !== 'plan' || (item.begun && item.state !== 'open');
}

function rowOf(chapter: Chapter, item: Item): ItemRow {
  const id = (item.kind === 'tool' && item.written) || item.id;
  const key = `${chapter.key} ${item.kind} ${id}`;
  const known = made.get(item);
  if (known?.key === key) return known;
  const row: ItemRow = { kind: 'item', key, item };
  made.set(item, row);
  return row;
}

/** A guess, until it has been drawn. */
export function guessed(row: Row): number {
  if (row.kind === 'gap') return row.gap.height;
  const { item } = row;
  if (item.kind === 'said') return 76 + 24 * Math.floor(item.text.length / 70);
  if (item.kind === 'answer') return 44 + 27 * Math.floor(item.text.length / 90);
  return 64;
}

/** Where each row begins, and last where all of them end. */
export function tops(rows: Row[], height: (row: Row) => number): Float64Array {
  const tops = new Float64Array(rows.length + 1);
  rows.forEach((row, at) => (tops[at + 1] = tops[at]! + height(row)));
  return tops;
}

/** The row that covers this height, or the nearest; -1 where there is none. */
export function rowAt(tops: Float64Array, y: number): number {
  let [low, high] = [0, tops.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (tops[middle]! <= y) low = middle;
    else high = middle - 1;
  }
  return Math.min(low, tops.length - 2);
}

/** The rows from the first to before the last that are to be seen between two heights. */
export function between(tops: Float64Array, from: number, to: number): [first: number, last: number] {
  if (tops.length === 1) return [0, 0];
  return [Math.max(0, rowAt(tops, from)), rowAt(tops, to) + 1];
}

export interface Sight {
  top: number;
  bottom: number;
}

export interface Wish {
  gap: Gap;
  where: 'end' | 'beginning' | number;
}

/** Where something is among the rows: a row, or how far into a gap that must be filled first. */
export interface Spot {
  row: number;
  share: number;
}

/** Where a finding is; nothing if it was taken back. */
export function spotOf(past: Past, rows: Row[], { seq, kind, toolCallId }: Finding): Spot | undefined {
  const part = past.find(({ low, high }) => low <= seq && seq < high);
  if (!part) return undefined;
  if (part.kind === 'gap') {
    const row = rows.findIndex((it) => it.kind === 'gap' && it.gap === part);
    return { row, share: (seq - part.low) / (part.high - part.low) };
  }
  const kinds = { message: 'said', answer: 'answer', tool: 'tool' } as const;
  const isIt = (it: Item) => it.kind === kinds[kind] && (toolCallId === undefined || it.id === toolCallId);
  // Of an answer in several frames only the last bears its number, so it may seem to come before it.
  const upTo = part.conversation.items.filter((it) => isSeen(it) && it.at <= seq);
  const item = upTo.findLast(isIt) ?? part.conversation.items.find((it) => isIt(it)) ?? upTo.at(-1);
  const row = rows.findIndex((it) => it.kind === 'item' && it.item === item);
  return row < 0 ? undefined : { row, share: 0 };
}

/** What the reader is about to miss: the gap in sight, or else the nearest of those that are near. */
export function missed(rows: Row[], tops: Float64Array, sight: Sight): Wish | undefined {
  const middle = (sight.top + sight.bottom) / 2;
  let [nearest, wish]: [number, Wish | undefined] = [Infinity, undefined];
  rows.forEach((row, at) => {
    if (row.kind !== 'gap') return;
    const [top, bottom] = [tops[at]!, tops[at + 1]!];
    const distance = Math.max(0, top - sight.bottom, sight.top - bottom);
    if (distance > NEAR || distance >= nearest) return;
    nearest = distance;
    wish = { gap: row.gap, where: side(top, bottom, middle) };
  });
  return wish;
}

/** Where to begin with a gap: at the edge the reader comes from, or around them. */
function side(top: number, bottom: number, middle: number): Wish['where'] {
  if (bottom - middle < NEAR && bottom - middle < middle - top) return 'end';
  if (middle - top < NEAR) return 'beginning';
  return (middle - top) / (bottom - top);
}

/** Whether it has a widget that is shown over the page, and goes when the row does. */
export function isKept(row: Row, kept: ReadonlySet<string>): boolean {
  return row.kind === 'item' && row.item.kind === 'tool' && kept.has(row.item.id);
}

/** A chapter that is so far away that it may go, and the height it leaves. */
export function faraway(past: Past, rows: Row[], tops: Float64Array, sight: Sight, kept: ReadonlySet<string>) {
  const chapters = past.filter((part) => part.kind === 'chapter').slice(0, -1);
  if (chapters.length <= FEW) return undefined;
  for (const chapter of chapters) {
    const prefix = `${chapter.key} `;
    const first = rows.findIndex((row) => row.key.startsWith(prefix));
    const last = rows.findLastIndex((row) => row.key.startsWith(prefix));
    const [top, bottom] = first < 0 ? [0, 0] : [tops[first]!, tops[last + 1]!];
    if (kept.size > 0 && rows.slice(first, last + 1).some((row) => isKept(row, kept))) continue;
    if (first >= 0 && Math.max(top - sight.bottom, sight.top - bottom) > FAR)
      return { chapter, height: bottom - top, keys: rows.slice(first, last + 1).map((row) => row.key) };
  }
  return undefined;
}
