import { describe, expect, test } from 'vitest';
import { filtered, merged, progressOf, rows, subject, type Filter, type Kind, type Trace } from './traffic';

const at = (second: number) => `2026-01-01T00:00:0${second}Z`;
const windowId = 'monitor-0/dock';

function request(seq: number, requestId: string, command = 'inc'): Trace {
  const asked = { kind: 'command' as const, command };
  const more = { cause: 'tool', generation: 1, deadlineMs: 5000 };
  return { seq, at: at(seq), windowId, type: 'request', requestId, request: asked, ...more };
}
const response = (seq: number, requestId: string, more: object = {}): Trace => ({
  ...{ seq, at: at(seq), type: 'response', requestId, value: 1, elapsedMs: 12, late: false },
  ...more,
});
const printed = (id: number, second: number, level: string, text: string): Trace => ({
  ...{ id, at: at(second), windowId, type: 'console', connection: 'conn-1', level, text },
});
const progress = (id: number, requestId: string, done: number): Trace => ({
  ...{ id, at: at(id), windowId, type: 'progress', requestId, done },
});

describe('what was said to and by an app', () => {
  test('is there once, facts and news in the order of time', () => {
    const past = [request(1, 'a'), response(3, 'a')];
    const live = [response(3, 'a'), printed(9, 2, 'log', 'between'), printed(10, 4, 'log', 'after')];
    const all = merged(merged([], past), live);
    expect(all.map((it) => it.seq ?? `news ${it.id}`)).toEqual([1, 'news 9', 3, 'news 10']);
    expect(merged(all, live)).toEqual(all);
    // What is read from further back comes first.
    expect(merged([request(5, 'c')], [request(4, 'b')]).map((it) => it.seq)).toEqual([4, 5]);
  });

  test('is in the order of time however many digits a time has', () => {
    const moment = (fraction: string) => `2026-01-01T00:00:01${fraction}Z`;
    const orders = [
      ['.12', '.123'],
      ['', '.5'],
      ['.9', '.91'],
    ];
    for (const [asked, told] of orders) {
      const all = [
        { ...request(1, 'a'), at: moment(asked!) },
        { ...progress(2, 'a', 1), at: moment(told!) },
      ];
      expect(rows(merged([], all)).map((it) => it.traces)).toEqual([all]);
    }
  });

  test('is forgotten when there is too much of it, the oldest first', () => {
    const many = Array.from({ length: 1500 }, (_, id) => printed(id, 1, 'log', String(id)));
    const kept = merged([], many);
    expect([kept.length, kept[0]!.id]).toEqual([1000, 500]);
  });

  test('is one row for a request and all that came of it', () => {
    const all = rows([
      request(1, 'a'),
      progress(2, 'a', 1),
      request(3, 'b', 'dec'),
      progress(3, 'b', 5),
      response(4, 'a'),
      response(5, 'other'),
    ]);
    expect(all.map((it) => [subject(it), it.status, it.elapsed, it.traces.length])).toEqual([
      ['inc', 'done', 12, 3],
      ['dec', 'open', undefined, 2],
    ]);
    expect(all.map(progressOf)).toEqual([undefined, progress(3, 'b', 5)]);
  });

  test('says how each request ended', () => {
    const status = (...more: Trace[]) => rows([request(1, 'a'), ...more]).at(0)?.status;
    const failed: Trace = { seq: 2, at: at(2), type: 'failed', requestId: 'a', reason: 'timeout' };
    const odd: Trace = { id: 1, at: at(2), windowId, type: 'odd', requestId: 'a', what: 'no number' };
    expect(status()).toBe('open');
    expect(status(failed)).toBe('failed');
    expect(status(failed, response(3, 'a', { late: true }))).toBe('late');
    expect(status(response(3, 'a', { error: 'Error: no' }))).toBe('failed');
    expect([status(odd, response(3, 'a')), status(response(2, 'a'), odd)]).toEqual(['warning', 'warning']);
  });

  test('shows what was refused and what nobody had asked for by itself', () => {
    const refused: Trace = { id: 1, at: at(1), type: 'refused', request: { kind: 'query', stateKey: 'n' }, why: 'no' };
    const rejected: Trace = { seq: 2, at: at(2), type: 'rejected', connection: 'conn-2', requestId: 'x', why: 'stale' };
    const all = rows([refused, rejected]);
    expect(all.map((it) => [it.kind, it.status, subject(it)])).toEqual([
      ['query', 'failed', 'n'],
      ['event', 'warning', 'stale'],
    ]);
  });

  test('is looked through by words, kinds and troubles', () => {
    const all = rows([request(1, 'a'), response(2, 'a'), printed(1, 3, 'error', 'It broke'), printed(2, 4, 'log', 'fine')]);
    const shown = (filter: Partial<Filter>) => {
      const kinds = new Set<Kind>(['command', 'console']);
      return filtered(all, { text: '', kinds, troubles: false, ...filter }).map(subject);
    };
    expect(shown({})).toEqual(['inc', 'It broke', 'fine']);
    expect(shown({ text: 'BROKE error' })).toEqual(['It broke']);
    expect(shown({ kinds: new Set<Kind>(['command']) })).toEqual(['inc']);
    expect(shown({ troubles: true })).toEqual(['It broke']);
  });
});
