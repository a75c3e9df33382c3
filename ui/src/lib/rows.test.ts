// What must hold of the rows: the right ones are drawn, and what is missing near the reader is asked for.
import { describe, expect, test } from 'vitest';
import { empty, fold } from './conversation';
import { opened, unwritten, type Gap, type Past } from './history';
import { between, FAR, faraway, guessed, isKept, missed, NEAR, rowAt, rowsOf, spotOf, tops, type Row } from './rows';
import { answer, delta, said, toolStart } from './transcript';

const sized = (heights: number[]): Float64Array =>
  tops(
    heights.map((height, at): Row => ({
      kind: 'gap',
      key: `${at}`,
      gap: { kind: 'gap', key: `${at}`, low: 0, high: 1, height },
    })),
    guessed,
  );

describe('places', () => {
  test('rows begin where those before them end', () => {
    expect([...sized([10, 20, 30])]).toEqual([0, 10, 30, 60]);
    expect([...sized([])]).toEqual([0]);
  });

  test('the row at a height is the one that covers it, or the nearest', () => {
    const places = sized([10, 20, 30]);
    expect([-5, 0, 9, 10, 29, 30, 59, 60, 99].map((y) => rowAt(places, y))).toEqual([0, 0, 0, 1, 1, 2, 2, 2, 2]);
    expect(rowAt(sized([]), 0)).toBe(-1);
  });

  test('what lies between two heights is drawn, and nothing else', () => {
    const places = sized(Array.from({ length: 1000 }, () => 50));
    expect(between(places, 1000, 2000)).toEqual([20, 41]);
    expect(between(places, -900, 100)).toEqual([0, 3]);
    expect(between(sized([]), 0, 100)).toEqual([0, 0]);
  });
});

describe('rows', () => {
  test('an item that did not change keeps its row', () => {
    const conversation = fold(empty, [said('hi'), delta('m', 'a')]);
    const past = unwritten(conversation);
    const [first, second] = rowsOf(past);
    const grown = [{ ...past[0]!, conversation: fold(conversation, [delta('m', 'b')]) }] as Past;
    const [same, other] = rowsOf(grown);
    expect(same).toBe(first);
    expect(other).not.toBe(second);
    expect(other!.key).toBe(second!.key);
  });

  test('the same id in two parts of the past makes two rows', () => {
    const chapter = (id: string) => unwritten(fold(empty, [answer(id, 'text')]))[0]!;
    const keys = rowsOf([chapter('m1'), chapter('m1')]).map((row) => row.key);
    expect(new Set(keys).size).toBe(2);
  });
});

describe('what is missing', () => {
  const page = { frames: [], before: 1001, last: 1200 };
  const past = opened(page, [], 100);
  const [gap] = past as [Gap];
  const rows = rowsOf(past);
  const places = tops(rows, guessed);
  const at = (top: number) => missed(rows, places, { top, bottom: top + 800 });

  test('a reader who comes near its end gets its end, long before they see it', () => {
    expect(at(gap.height + NEAR - 1)).toEqual({ gap, where: 'end' });
    expect(at(gap.height + NEAR + 1)).toBeUndefined();
  });

  test('a reader at its beginning gets its beginning', () => {
    expect(at(0)).toEqual({ gap, where: 'beginning' });
  });

  test('a reader in the middle of it gets what is around them', () => {
    expect(at(gap.height / 2 - 400)).toEqual({ gap, where: 0.5 });
  });
});

const none: ReadonlySet<string> = new Set();

test('of many parts the far ones are let go, and the newest never is', () => {
  const chapter = (text: string) => unwritten(fold(empty, [said(text)]))[0]!;
  const past = ['a', 'b', 'c', 'd', 'e'].map(chapter);
  const rows = rowsOf(past);
  const places = tops(rows, () => FAR);
  const near = { top: 0, bottom: 800 };
  expect(faraway(past, rows, places, near, none)).toEqual({ chapter: past[2], height: FAR, keys: [rows[2]!.key] });
  expect(
    faraway(
      past.slice(2),
      rows.slice(2),
      tops(rows.slice(2), () => FAR),
      near,
      none,
    ),
  ).toBeUndefined();
});

test('a part with a widget that is shown over the page stays, however far it is', () => {
  const chapter = (text: string) => unwritten(fold(empty, [toolStart(text, 'show')]))[0]!;
  const past = ['a', 'b', 'c', 'd', 'e'].map(chapter);
  const rows = rowsOf(past);
  const places = tops(rows, () => FAR);
  const gone = (kept: string[]) => faraway(past, rows, places, { top: 0, bottom: 800 }, new Set(kept))?.chapter;
  expect([gone([]), gone(['c']), gone(['c', 'd'])]).toEqual([past[2], past[3], undefined]);
  expect(rows.map((row) => isKept(row, new Set(['b'])))).toEqual([false, true, false, false, false]);
});

describe('what is sought', () => {
  const finding = (seq: number, kind: 'message' | 'answer') => ({ seq, kind, excerpt: '', timestamp: '' });
  const numbered = (...events: Parameters<typeof fold>[1]) => events.map((event, at) => ({ ...event, seq: at + 101 }));
  const told = numbered(said('one'), answer('m1', 'first'), said('two'), answer('m2', 'second'));
  const chapter = { kind: 'chapter' as const, key: 'c', low: 100, high: Infinity, conversation: fold(empty, told) };
  const gap: Gap = { kind: 'gap', key: 'g', low: 0, high: 100, height: 4000 };
  const past: Past = [gap, chapter];
  const rows = rowsOf(past);
  const at = (seq: number, kind: 'message' | 'answer') => spotOf(past, rows, finding(seq, kind));

  test('is the row of its kind at its number', () => {
    expect([at(101, 'message'), at(102, 'answer'), at(103, 'message'), at(104, 'answer')]).toEqual(
      [1, 2, 3, 4].map((row) => ({ row, share: 0 })),
    );
  });

  test('may lie in a gap, so far from its beginning', () => {
    expect(at(25, 'answer')).toEqual({ row: 0, share: 0.25 });
  });

  test('is nowhere once it was taken back', () => {
    expect(spotOf([chapter], rowsOf([chapter]), finding(25, 'answer'))).toBeUndefined();
  });
});
