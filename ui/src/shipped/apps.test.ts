import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Board } from '../../../apps/board/board.js';
import { Text, counts, lineAt, occurrences, outline, startOf } from '../../../apps/document/text.js';
import markedHere from '../../../apps/document/vendor/marked.js?raw';
import purifyHere from '../../../apps/document/vendor/purify.js?raw';
import { bounded, decoded, fitting, kindOf, turned } from '../../../apps/images/picture.js';
import { Desk } from '../../../apps/sheet/desk.js';
import { rectOf } from '../../../apps/sheet/places.js';
import { registration } from '../../../apps/sheet/protocol.js';
import marked from '../../node_modules/marked/lib/marked.esm.js?raw';
import purify from '../../node_modules/dompurify/dist/purify.min.js?raw';

describe('what apps carry along', () => {
  test('is what the page uses, to the letter', () => {
    const plain = (text: string) => text.replace(/\n?\/\/# sourceMappingURL=.*\n?/g, '').trim();
    expect(plain(markedHere) === plain(marked)).toBe(true);
    expect(plain(purifyHere) === plain(purify)).toBe(true);
  });
});

describe('a text', () => {
  test('is undone and redone step by step, what was typed without a pause in one', () => {
    const text = new Text();
    text.type('a', 0);
    text.type('ab', 100);
    text.type('abc', 2000);
    text.set('replaced', 'replace');
    const seen = () => text.value;
    expect(
      [text.undo(), seen(), text.undo(), seen(), text.undo(), seen()].filter((it) => typeof it === 'string'),
    ).toEqual(['abc', 'ab', '']);
    expect(() => text.undo()).toThrow('nothing to undo');
    text.redo();
    expect(text.value).toBe('ab');
    text.type('ab!', 2100);
    expect(text.canRedo).toBe(false);
  });

  test('that was changed meanwhile does not lose a change in between', () => {
    const text = new Text();
    const step = text.set('one', 'first')!;
    text.set('two', 'second');
    expect(() => text.undo(step.id)).toThrow('change 1 cannot be undone by itself: the last one was 2, second');
    expect(text.set('two', 'again')).toBeNull();
  });

  test('has an outline that is blind to code', () => {
    const written = '# One #\n\ntext\n====\n\n```\n# no\n```\n## *Two* [x](y)\nThree\n---\n\n- a\n---\n~~~\n# no\n';
    expect(outline(written)).toEqual([
      { level: 1, title: 'One', line: 1 },
      { level: 1, title: 'text', line: 3 },
      { level: 2, title: 'Two x', line: 9 },
      { level: 2, title: 'Three', line: 10 },
    ]);
  });

  test('is counted and found in', () => {
    expect(counts('')).toEqual({ words: 0, characters: 0, lines: 0 });
    expect(counts("It's 3.5 — well-known 🏺\nÄrger")).toEqual({ words: 4, characters: 29, lines: 2 });
    expect(occurrences('a.b A.B axb', 'a.b')).toEqual([
      { start: 0, end: 3 },
      { start: 4, end: 7 },
    ]);
    expect(occurrences('abc', '')).toEqual([]);
    fc.assert(
      fc.property(
        fc.array(
          fc.string().map((it) => it.replace(/\n/g, '')),
          { minLength: 1 },
        ),
        (lines) => {
          const whole = lines.join('\n');
          lines.forEach((_, at) => expect(lineAt(whole, startOf(whole, at + 1))).toBe(at + 1));
        },
      ),
    );
  });
});

describe('a board', () => {
  /** Any deeds, by numbers that choose among what there is. */
  const deed = fc.tuple(
    fc.constantFrom('add', 'move', 'update', 'remove', 'column', 'undo', 'redo'),
    fc.nat(99),
    fc.nat(99),
  );

  test('loses and doubles no card, whatever is done and undone', () => {
    fc.assert(
      fc.property(fc.array(deed, { maxLength: 40 }), (deeds) => {
        const board = new Board();
        const states = [board.state.columns];
        for (const [what, one, other] of deeds) {
          const cards = board.cards();
          const card = cards[one % Math.max(1, cards.length)]?.id;
          const column = board.state.columns[other % Math.max(1, board.state.columns.length)]?.id;
          if (what === 'undo') {
            if (board.canUndo) board.undo();
            continue;
          }
          if (what === 'redo') {
            if (board.canRedo) board.redo();
            continue;
          }
          if (what === 'add' && column) board.addCard(`card ${one}`, { column, position: other });
          if (what === 'move' && card && column) board.moveCard(card, { column, position: 1 + (one % 5) });
          if (what === 'update' && card) board.updateCard(card, { done: other % 2 === 0 });
          if (what === 'remove' && card) board.removeCard(card);
          if (what === 'column') board.addColumn(`column ${one}`);
          const ids = board.cards().map((it) => it.id);
          expect(new Set(ids).size).toBe(ids.length);
          states.push(board.state.columns);
        }
        const end = board.state.columns;
        let steps = 0;
        while (board.canUndo) (board.undo(), (steps += 1));
        expect(board.state.columns).toEqual(states[0]);
        while (steps-- > 0) board.redo();
        expect(board.state.columns).toEqual(end);
      }),
    );
  });

  test('refuses what is ambiguous, absent, empty or too long', () => {
    const board = new Board();
    board.addCard('Twice');
    board.addCard('twice');
    expect(() => board.card('Twice')).toThrow('2 cards are called "Twice": name one of c4, c5');
    expect(() => board.column('Nowhere')).toThrow('there is no column "Nowhere"');
    expect(() => board.addCard(' ')).toThrow('a title must not be empty');
    expect(() => board.addCard('x', { note: 'y'.repeat(10_001) })).toThrow('10000 characters');
    expect(() => board.replace(Array(51).fill({ title: 'x' }))).toThrow('50 columns');
  });
});

describe('a picture', () => {
  test('is known by what is in it', () => {
    const bytes = (...parts: (string | number)[]) =>
      Uint8Array.from(
        parts.flatMap((it) => (typeof it === 'number' ? [it] : [...it].map((letter) => letter.charCodeAt(0)))),
      );
    expect(kindOf(bytes(0x89, 'PNG\r\n'))).toBe('image/png');
    expect(kindOf(bytes(0xff, 0xd8, 0xff))).toBe('image/jpeg');
    expect(kindOf(bytes('RIFF1234WEBP'))).toBe('image/webp');
    expect(kindOf(bytes('<?xml version="1.0"?>\n<!-- a --><svg xmlns="">'))).toBe('image/svg+xml');
    for (const none of ['', 'GIF', '<html><svg>', 'RIFF1234WAVE'])
      expect(() => kindOf(bytes(none))).toThrow('this is no picture');
  });

  test('is decoded, fitted and turned within bounds', () => {
    expect([...decoded('data:image/png;base64,AA EC')]).toEqual([0, 1, 2]);
    expect(() => decoded('*')).toThrow('the content is not base64');
    expect(fitting({ width: 100, height: 50 }, { width: 50, height: 100 }, 0)).toBe(0.5);
    expect(fitting({ width: 100, height: 50 }, { width: 50, height: 100 }, 90)).toBe(1);
    expect([turned(-90), turned(450), turned(44)]).toEqual([270, 90, 0]);
    expect([bounded(0), bounded(99)]).toEqual([0.05, 20]);
  });
});

describe('a sheet on the desk', () => {
  const desk = () => {
    const it = new Desk();
    const { commands } = registration(it);
    return { it, commands: commands as unknown as Record<string, { handler: (params?: unknown) => any }> };
  };

  test('undoes any changes one by one, down to nothing, and redoes them', () => {
    const change = fc.oneof(
      fc.record({
        what: fc.constant('setCells'),
        params: fc.record({
          cells: fc.dictionary(fc.constantFrom('A1', 'B2', 'C3'), fc.constantFrom('1', '=A1', '=SUM(A:B)', ''), {
            minKeys: 1,
          }),
        }),
      }),
      fc.record({
        what: fc.constantFrom('insertRows', 'deleteRows'),
        params: fc.record({ at: fc.integer({ min: 1, max: 4 }), count: fc.integer({ min: 1, max: 3 }) }),
      }),
      fc.record({
        what: fc.constantFrom('insertColumns', 'deleteColumns'),
        params: fc.record({ at: fc.constantFrom('A', 'B', 'C') }),
      }),
      fc.constant({ what: 'clear', params: { range: 'A1:B2' } }),
      fc.constant({ what: 'fill', params: { from: 'A1', to: 'A1:A4' } }),
      fc.constant({ what: 'sort', params: { range: 'A1:C4', by: 'A', descending: true } }),
    );
    const texts = (it: Desk) => Object.fromEntries(it.book.texts());
    fc.assert(
      fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
        const { it, commands } = desk();
        const seen = [texts(it)];
        for (const { what, params } of changes) if (commands[what]!.handler(params).change) seen.push(texts(it));
        const end = seen.at(-1);
        for (const before of seen.toReversed().slice(1)) {
          it.undo();
          expect(texts(it)).toEqual(before);
        }
        expect(it.canUndo).toBe(false);
        while (it.canRedo) it.redo();
        expect(texts(it)).toEqual(end);
      }),
      { numRuns: 60 },
    );
  }, 60_000);

  test('is the same once it was kept and taken up again', () => {
    const { it, commands } = desk();
    commands.setCells!.handler({ cells: { A1: '1', B2: '=A1+1', ZZ200000: 'far' } });
    it.widen(3, 200);
    const other = desk().it;
    other.load(JSON.parse(JSON.stringify(it.save())));
    expect(other.book.texts()).toEqual(it.book.texts());
    expect([...other.widths]).toEqual([[3, 200]]);
    expect(other.rows(rectOf('A1:B2')!)).toEqual([
      ['1', ''],
      ['', '2'],
    ]);
  });
});
