// A session's past as a row of parts, of which only some are at hand: pure arranging of what was fetched.
import { empty, fold, takenBack, tied, type Conversation, type Item } from './conversation';
import type { EventFrame, EventsAnswer, NumberedEvent, SessionEvent } from './wire';

/** A stretch of the past that is at hand: the numbers from `low` up to, not including, `high`. */
export interface Chapter {
  kind: 'chapter';
  key: string;
  low: number;
  high: number;
  conversation: Conversation;
  /** What the part after it has told it. */
  told?: readonly SessionEvent[];
}

/** A stretch that is not at hand, and how much room it takes up. */
export interface Gap {
  kind: 'gap';
  key: string;
  low: number;
  high: number;
  height: number;
}

export type Part = Chapter | Gap;

/** From the oldest to the newest, without holes; the last is always a chapter, and grows. */
export type Past = readonly Part[];

/** How many facts are asked for at once. */
export const PAGE = 200;
/** The newest chapter is cut in two when it has more items than this. */
export const LONG = 400;
/** Browsers do not scroll further than some millions of pixels. */
const TALLEST = 8_000_000;

let made = 0;

/** The past of a session in which nothing has happened, or of which nothing is known yet. */
export const unwritten = (conversation: Conversation = empty): Past => [chapter(0, Infinity, conversation)];

/** The past as it is known from its newest page. `room` is what a fact takes up, more or less. */
export function opened(page: EventsAnswer, waiting: Conversation['waiting'], room: number): Past {
  const low = page.before ?? 0;
  const conversation = fold({ ...empty, last: low }, numbered(page.frames));
  const newest = chapter(low, Infinity, { ...conversation, waiting, last: page.last });
  return low > 0 ? [gap(0, low, low * room), newest] : [newest];
}

export function newest(past: Past): Chapter {
  return past.at(-1) as Chapter;
}

/** The past with another end, of which earlier parts learn what concerns them. */
export function grown(past: Past, conversation: Conversation): Past {
  const end = newest(past);
  return cut(tie([...past.slice(0, -1), { ...end, conversation }]));
}

/** The past without what these events took back. It is not asked for again, as it would come. */
export function rewound(past: Past, events: NumberedEvent[]): Past {
  return events.reduce((left, { type, data, seq = Infinity }) => {
    return type === 'session.rewound' ? without(left, (data as { before: number }).before, seq) : left;
  }, past);
}

function without(past: Past, before: number, until: number): Past {
  return past.flatMap((part, at): Part[] => {
    const isEnd = at === past.length - 1;
    if (part.high <= before || part.low >= until) return [part];
    if (!isEnd && part.low >= before && part.high <= until) return [];
    if (part.kind === 'chapter') return [{ ...part, conversation: takenBack(part.conversation, before, until) }];
    // What came after it is fetched from the end, and the server leaves out the rest.
    if (part.high > until) return [part];
    return [gap(part.low, before, (part.height * (before - part.low)) / (part.high - part.low))];
  });
}

/** What to ask for, to fill a gap from its end, from its beginning, or in between. */
export function wanted(gap: Gap, where: 'end' | 'beginning' | number): number {
  if (where === 'end') return gap.high;
  const from = where === 'beginning' ? gap.low : gap.low + (gap.high - gap.low) * where - PAGE / 2;
  return Math.min(gap.high, Math.max(gap.low, Math.round(from)) + PAGE);
}

/** The past with a page in the gap it was asked for; unchanged if the gap is not there any more. */
export function filled(past: Past, asked: Gap, before: number, page: EventsAnswer): Past {
  const at = past.indexOf(asked);
  if (at < 0) return past;
  const events = since(numbered(page.frames), asked.low);
  const low = Math.max(asked.low, page.before ?? 0);
  const share = (from: number, to: number) => (asked.height * (to - from)) / (asked.high - asked.low);
  const parts: Part[] = [];
  if (low > asked.low) parts.push(gap(asked.low, low, share(asked.low, low)));
  parts.push(chapter(low, before, fold({ ...empty, last: low }, events)));
  if (before < asked.high) parts.push(gap(before, asked.high, share(before, asked.high)));
  return rewound(tie([...past.slice(0, at), ...parts, ...past.slice(at + 1)]), events);
}

/** The past without a chapter that is far away; it can be fetched again. The end is never let go. */
export function letGo(past: Past, far: Chapter, height: number): Past {
  const at = past.indexOf(far);
  if (at < 0 || at === past.length - 1) return past;
  const parts = past.with(at, gap(far.low, far.high, height));
  return parts.reduce<Part[]>((joined, part) => {
    const before = joined.at(-1);
    if (part.kind === 'gap' && before?.kind === 'gap')
      return joined.with(-1, gap(before.low, part.high, before.height + part.height));
    return [...joined, part];
  }, []);
}

/** Hands on, from the newest to the oldest, what happened to things of an earlier part. */
function tie(past: Part[]): Past {
  for (let at = past.length - 1; at > 0; at -= 1) {
    const [earlier, later] = [past[at - 1]!, past[at]!];
    if (earlier.kind === 'gap' || later.kind === 'gap' || later.conversation.loose.length === 0) continue;
    const known = new Set(earlier.told);
    const news = later.conversation.loose.filter((event) => !known.has(event));
    if (news.length > 0)
      past[at - 1] = { ...earlier, conversation: tied(earlier.conversation, news), told: later.conversation.loose };
  }
  return past;
}

/** Parts a long end at the last message, so that what came before can be let go. */
function cut(past: Past): Past {
  const end = newest(past);
  const { items } = end.conversation;
  if (items.length <= LONG) return past;
  const at = items.findLastIndex((item) => item.kind === 'said');
  const first = items[at];
  if (!first || at === 0) return past;
  // What is under way stays in sight wherever it began.
  const carried = items.slice(0, at).filter((item) => item.kind === 'plan' && item.state === 'open');
  const later = carried.map((item) => ({ ...item, begun: false }) as Item);
  const before = { ...empty, items: items.slice(0, at), loose: end.conversation.loose, last: first.at - 1 };
  const after = { ...end.conversation, items: [...later, ...items.slice(at)], loose: [] };
  return [...past.slice(0, -1), { ...end, high: first.at, conversation: before }, chapter(first.at, Infinity, after)];
}

/** Without what belongs to facts before this number. Of several frames of a fact only the last has it. */
function since(events: NumberedEvent[], low: number): NumberedEvent[] {
  return events.slice(events.findLastIndex((event) => event.seq !== undefined && event.seq < low) + 1);
}

export function numbered(frames: EventFrame[]): NumberedEvent[] {
  return frames.map(({ event, seq }) => (seq === undefined ? event : { ...event, seq }));
}

function chapter(low: number, high: number, conversation: Conversation): Chapter {
  return { kind: 'chapter', key: `${(made += 1)}`, low, high, conversation };
}

function gap(low: number, high: number, height: number): Gap {
  return { kind: 'gap', key: `${low} ${high}`, low, high, height: Math.min(TALLEST, Math.round(height)) };
}
