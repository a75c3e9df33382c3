// What must hold of the past: parts come and go in any order, and always add up to what one fold of everything would.
import { describe, expect, test } from 'vitest';
import { empty, fold, type Item } from './conversation';
import {
  filled,
  grown,
  letGo,
  LONG,
  newest,
  numbered,
  opened,
  PAGE,
  rewound,
  unwritten,
  wanted,
  type Chapter,
  type Gap,
  type Past,
} from './history';
import { answer, facts, idle, message, said, toolDone, toolStart } from './transcript';
import type { EventFrame, EventsAnswer, NumberedEvent, SessionEvent } from './wire';

/** Turns of a question, a tool whose result is a fact of its own, and an answer. */
function turns(count: number): EventFrame[] {
  return facts(
    Array.from({ length: count }, (_, at) => [
      [message(said(`question ${at}`, {}, `u${at}`))],
      [message(toolStart(`c${at}`, 'read', {}, `t${at}`))],
      [message(toolDone(`c${at}`, `result ${at}`, `r${at}`))],
      [message(answer(`m${at}`, `answer ${at}`, `a${at}`)), message(idle(`i${at}`))],
    ]).flat(),
  );
}

/** The server, in short: the newest facts before a number. */
function serve(frames: EventFrame[], before = Infinity, limit = PAGE): EventsAnswer {
  const groups: EventFrame[][] = [[]];
  for (const frame of frames) {
    groups.at(-1)!.push(frame);
    if (frame.seq !== undefined) groups.push([]);
  }
  const seq = (group: EventFrame[]) => group.at(-1)!.seq!;
  const whole = groups.filter((group) => group.length > 0);
  const earlier = whole.filter((group) => seq(group) < before);
  const page = earlier.slice(-limit);
  const more = earlier.length > page.length;
  return { frames: page.flat(), before: more ? seq(page[0]!) : null, last: seq(whole.at(-1)!) };
}

const bare = ({ kind, id, ...more }: Item) => ({ kind, id, state: 'state' in more ? more.state : '' });
const items = (past: Past) => past.flatMap((part) => (part.kind === 'gap' ? [] : part.conversation.items)).map(bare);
const shape = (past: Past) => past.map(({ kind, low, high }) => `${kind} ${low}-${high}`);
const gaps = (past: Past) => past.filter((part): part is Gap => part.kind === 'gap');

/** Fetches as a reader who scrolls up would, a few facts at a time, until nothing is missing. */
function readAll(past: Past, frames: EventFrame[], where: 'end' | 'beginning' | number, limit: number): Past {
  for (let gap = gaps(past)[0]; gap; gap = gaps(past)[0]) {
    const before = wanted(gap, where);
    past = filled(past, gap, before, serve(frames, before, limit));
  }
  return past;
}

describe('reading a long past', () => {
  const frames = turns(300);
  const whole = fold(empty, numbered(frames)).items.map(bare);

  test('the newest page comes first, and what is before it takes up its room', () => {
    const past = opened(serve(frames), [], 40);
    const low = newest(past).low;
    expect(shape(past)).toEqual([`gap 0-${low}`, `chapter ${low}-Infinity`]);
    expect(gaps(past)[0]!.height).toBe(low * 40);
    expect(items(past)).toEqual(whole.slice(-items(past).length));
  });

  test('a short past has no gap', () => {
    expect(shape(opened(serve(turns(2)), [], 40))).toEqual(['chapter 0-Infinity']);
  });

  // Pages of 7 facts cut most turns in two, between a call and its result.
  for (const limit of [7, 50, PAGE])
    for (const where of ['end', 'beginning', 0.5] as const)
      test(`pages of ${limit}, from the ${where}, add up to the whole`, () => {
        expect(items(readAll(opened(serve(frames, Infinity, limit), [], 40), frames, where, limit))).toEqual(whole);
      });

  test('what was let go is fetched again, and is the same', () => {
    let past = readAll(opened(serve(frames), [], 40), frames, 'end', PAGE);
    for (const part of past.slice(0, -1)) past = letGo(past, part as Chapter, 1234);
    expect(shape(past)).toEqual([`gap 0-${newest(past).low}`, `chapter ${newest(past).low}-Infinity`]);
    expect(gaps(past)[0]!.height % 1234).toBe(0);
    expect(items(readAll(past, frames, 'end', PAGE))).toEqual(whole);
  });

  test('the end is never let go', () => {
    const past = opened(serve(frames), [], 40);
    expect(letGo(past, newest(past), 10)).toBe(past);
  });

  test('a page for a gap that is not there any more changes nothing', () => {
    const past = opened(serve(frames), [], 40);
    const [gap] = gaps(past);
    const full = filled(past, gap!, gap!.high, serve(frames, gap!.high));
    expect(filled(full, gap!, gap!.high, serve(frames, gap!.high))).toBe(full);
  });

  test('gaps never reach further than a browser scrolls', () => {
    const [gap] = gaps(opened({ ...serve(frames), before: 10_000_000, last: 10_000_500 }, [], 40));
    expect(gap!.height).toBeLessThan(16_000_000);
  });
});

describe('a past that grows', () => {
  const tell = (past: Past, events: SessionEvent[]) => grown(past, fold(newest(past).conversation, events));

  test('a result that comes later reaches its call in an earlier part', () => {
    const frames = facts([
      [message(said('read'))],
      [message(toolStart('c1', 'read'))],
      [message(toolDone('c1', 'text'))],
    ]);
    const late = opened(serve(frames, Infinity, 1), [], 40);
    const [gap] = gaps(late);
    const past = filled(late, gap!, gap!.high, serve(frames, gap!.high, 2));
    expect(items(past)).toEqual([
      { kind: 'said', id: expect.any(String), state: '' },
      { kind: 'tool', id: 'c1', state: 'succeeded' },
    ]);
  });

  test('a result that is told live reaches its call in an earlier part', () => {
    const frames = facts([[message(said('read'))], [message(toolStart('c1', 'read'))], [message(said('and?'))]]);
    const late = opened(serve(frames, Infinity, 1), [], 40);
    const [gap] = gaps(late);
    const before = filled(late, gap!, gap!.high, serve(frames, gap!.high, 2));
    const past = tell(before, [toolDone('c1', 'text')]);
    expect(items(past).map(({ state }) => state)).toEqual(['', 'succeeded', '']);
  });

  test('a long end is cut at its last message, and can be let go and fetched again', () => {
    const frames = turns(LONG);
    let past = unwritten();
    for (let at = 0; at < frames.length; at += 10) past = tell(past, numbered(frames.slice(at, at + 10)));
    expect(past.length).toBeGreaterThan(1);
    expect(newest(past).conversation.items.length).toBeLessThanOrEqual(LONG);
    const whole = fold(empty, numbered(frames)).items.map(bare);
    expect(items(past)).toEqual(whole);
    for (const part of past.slice(0, -1)) past = letGo(past, part as Chapter, 10);
    expect(items(readAll(past, frames, 'end', PAGE))).toEqual(whole);
  });

  test('a plan that is under way stays at hand when the end is cut', () => {
    const plan = { type: 'task.created', data: { task: { id: 'p', title: 'Plan', steps: [] } }, id: 'p' };
    let past = tell(unwritten(), [{ ...said('go'), seq: 1 } as SessionEvent, plan]);
    const many = numbered(turns(LONG / 2)).map((event) =>
      event.seq === undefined ? event : { ...event, seq: event.seq + 5 },
    );
    past = tell(past, many);
    expect(past.length).toBeGreaterThan(1);
    expect(newest(past).conversation.items[0]).toMatchObject({ kind: 'plan', id: 'p', begun: false });
  });
});

describe('taking back', () => {
  const frames = turns(60);
  const seq = (id: string) => frames.find((frame) => frame.event.id === id)!.seq!;
  const back = (before: number, seq?: number) =>
    [{ type: 'session.rewound', data: { before }, seq }] as NumberedEvent[];

  test('everything from a number on goes, in every part', () => {
    const past = readAll(opened(serve(frames, Infinity, 30), [], 40), frames, 'end', 30);
    expect(items(rewound(past, back(seq('u3')))).at(-1)).toEqual({ kind: 'answer', id: 'm2', state: '' });
  });

  test('what is not at hand is not asked for beyond that number', () => {
    const past = opened(serve(frames, Infinity, 30), [], 40);
    const [before] = gaps(past);
    const half = before!.high / 2;
    const [after] = gaps(rewound(past, back(half)));
    expect(after).toMatchObject({ low: 0, high: half, height: before!.height / 2 });
    expect(items(rewound(past, back(1)))).toEqual([]);
  });

  test('a part that tells of it corrects those that were fetched before it', () => {
    const past = opened(serve(frames, Infinity, 30), [], 40);
    const [gap] = gaps(past);
    // Its beginning was looked at first, and what came later took back all from the third question to the ninth.
    const first = filled(past, gap!, 61, serve(frames, 61, 100));
    expect(items(first)).toContainEqual({ kind: 'said', id: 'u5', state: '' });
    const told = { ...message(back(seq('u3'))[0]!), seq: seq('u9') };
    const later = frames.filter((frame) => (frame.seq ?? 0) > seq('u9'));
    const [rest] = gaps(first);
    const page = { ...serve(later, rest!.high, 30), before: 61 };
    const corrected = items(filled(first, rest!, rest!.high, { ...page, frames: [told, ...page.frames] }));
    expect(
      corrected
        .filter(({ kind }) => kind === 'said')
        .map(({ id }) => id)
        .slice(0, 3),
    ).toEqual(['u0', 'u1', 'u2']);
    expect(corrected).not.toContainEqual({ kind: 'said', id: 'u5', state: '' });
  });
});
