import { describe, expect, test } from 'vitest';
import { FLOOD, MESSAGE_BYTES, flags } from './limits';
import { IN_VAIN, Line, type LineState } from './line';

const theme = { scheme: 'light', tokens: {} } as const;
const welcome = { type: 'megaron:welcome', theme, visible: true };
const hello = { type: 'megaron:hello', nonce: 'word' };

function begin() {
  const world = {
    posted: [] as unknown[],
    passed: [] as string[],
    states: [] as LineState[],
    heights: [] as number[],
    greetings: 0,
    numb: [] as boolean[],
    now: 0,
  };
  const ends = {
    post: (message: unknown) => world.posted.push(message),
    pass: (text: string) => world.passed.push(text),
    greeted: () => (world.greetings += 1),
    tall: (height: number) => world.heights.push(height),
    state: (state: LineState) => world.states.push(state),
    now: () => world.now,
    numb: (numb: boolean) => world.numb.push(numb),
  };
  return { world, line: new Line('word', ends, () => theme, () => true) };
}

function ready() {
  const begun = begin();
  begun.line.heard(hello);
  begun.line.loaded();
  begun.world.posted.length = 0;
  return begun;
}

describe('a line', () => {
  test('carries nothing before the word was given', () => {
    const { world, line } = begin();
    line.heard({ type: 'note' });
    line.heard({ type: 'megaron:hello', nonce: 'guess' });
    line.heard({ type: 'megaron:hello' });
    line.told({ type: 'notes' });
    expect(world).toMatchObject({ posted: [], passed: [], states: [], greetings: 0 });
    line.heard(hello);
    expect(world).toMatchObject({ posted: [welcome], states: ['ready'], greetings: 1 });
  });

  test('carries plain data both ways', () => {
    const { world, line } = ready();
    for (const message of [{ type: 'note', text: 'é' }, 5, null, 'text', [1]]) line.heard(message);
    expect(world.passed).toEqual(['{"type":"note","text":"é"}', '5', 'null', '"text"', '[1]']);
    line.told({ type: 'notes' });
    line.told(7);
    expect(world.posted).toEqual([{ type: 'notes' }, 7]);
  });

  test('passes on no touches where nobody can take anything over', () => {
    const { world, line } = ready();
    line.heard({ type: 'yaar:app-touched' });
    line.heard({ type: 'yaar:app-hand-back' });
    line.heard({ type: 'yaar:app-ready' });
    expect(world.passed).toEqual(['{"type":"yaar:app-ready"}']);
  });

  test('keeps what the page says of itself to the page', () => {
    const { world, line } = ready();
    line.told({ type: 'megaron:welcome' });
    line.heard({ type: 'megaron:unheard-of' });
    line.heard({ type: 'megaron:size', height: 300 });
    line.heard({ type: 'megaron:size', height: 'tall' });
    line.heard({ type: 'megaron:size', height: Infinity });
    expect(world).toMatchObject({ posted: [], passed: [], heights: [300] });
  });

  test('is lost when the frame goes elsewhere, before anything can be said there', () => {
    const { world, line } = ready();
    line.heard({ type: 'megaron:leaving' });
    line.heard({ type: 'note', text: 'from elsewhere' });
    line.loaded();
    line.heard({ type: 'note', text: 'from elsewhere' });
    line.told({ type: 'notes' });
    expect(world).toMatchObject({ passed: [], posted: [], states: ['ready', 'strayed'] });
    line.heard(hello);
    line.loaded();
    line.heard({ type: 'note' });
    expect(world).toMatchObject({ passed: ['{"type":"note"}'], greetings: 2 });
  });

  test('is lost when a document comes that never left and never greeted', () => {
    const { world, line } = ready();
    line.loaded();
    line.heard({ type: 'note' });
    expect(world).toMatchObject({ passed: [], states: ['ready', 'strayed'] });
  });

  test('tells when a document no longer answers, once, and when it does again', () => {
    const { world, line } = ready();
    for (let asked = 0; asked < IN_VAIN; asked += 1) line.beat();
    line.heard({ type: 'megaron:pong' });
    for (let asked = 0; asked < IN_VAIN; asked += 1) line.beat();
    expect(world).toMatchObject({ numb: [], passed: [] });
    for (let asked = 0; asked < 5; asked += 1) line.beat();
    expect(world.numb).toEqual([true]);
    line.heard({ type: 'megaron:pong' });
    expect(world.numb).toEqual([true, false]);
    expect(world.posted.every((it) => (it as { type: string }).type === 'megaron:ping')).toBe(true);
  });

  test('refuses what cannot be carried, and says so', () => {
    const { world, line } = ready();
    const plain = { type: 'megaron:error', error: 'a message must be plain data, as JSON can carry it' };
    const large = { type: 'megaron:error', error: `a message may have ${MESSAGE_BYTES} bytes at most` };
    const round: { self?: unknown } = {};
    round.self = round;
    line.heard(round);
    line.heard(5n);
    line.heard(undefined);
    line.heard('x'.repeat(MESSAGE_BYTES - 1));
    line.heard('é'.repeat(MESSAGE_BYTES / 2));
    expect(world.posted).toEqual([plain, plain, plain, large, large]);
    line.heard('x'.repeat(MESSAGE_BYTES - 2));
    expect(world.passed.map((it) => it.length)).toEqual([MESSAGE_BYTES]);
  });

  test('answers what is too large, where somebody waits for an answer', () => {
    const { world, line } = ready();
    const params = { x: 'x'.repeat(MESSAGE_BYTES) };
    line.heard({ jsonrpc: '2.0', id: 0, method: 'tools/call', params });
    line.heard({ jsonrpc: '2.0', method: 'notifications/message', params });
    const message = `a message may have ${MESSAGE_BYTES} bytes at most`;
    const complaint = { type: 'megaron:error', error: message };
    const error = { code: -32000, message, data: { limit: 'messageBytes', max: MESSAGE_BYTES } };
    expect(world.posted).toEqual([complaint, { jsonrpc: '2.0', id: 0, error }, complaint]);
    expect(world.passed).toEqual([]);
  });

  test('complains once of haste, and forgives', () => {
    const { world, line } = ready();
    for (let count = 0; count < 1000; count += 1) line.heard(count);
    expect(world.passed.length).toBe(199);
    expect(world.posted).toEqual([
      { type: 'megaron:error', error: 'messages come too fast; those that came meanwhile were dropped' },
    ]);
    world.now += 1000;
    for (let count = 0; count < 1000; count += 1) line.heard(count);
    expect(world.passed.length).toBe(199 + 50);
  });

  test('ends when a frame does not stop', () => {
    const { world, line } = ready();
    for (let count = 0; count < FLOOD + 500; count += 1) line.heard(count);
    expect(world.states).toEqual(['ready', 'flooding']);
    line.heard(hello);
    line.loaded();
    world.now += 60_000;
    line.heard({ type: 'note' });
    expect(world.states).toEqual(['ready', 'flooding']);
    expect(world.passed.length).toBe(199);
  });
});

test('no frame is ever given an origin or the window it sits in', () => {
  const asked = 'allow-scripts allow-same-origin allow-top-navigation allow-forms allow-popups-to-escape-sandbox';
  expect(flags(asked)).toBe('allow-scripts allow-forms');
  expect(flags('')).toBe('');
});
