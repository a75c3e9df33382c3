import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { listenToConsole, written } from './console';

function frame() {
  const told: { level: string; args: string[] }[] = [];
  const written: unknown[][] = [];
  const heard: Record<string, (event: object) => void> = {};
  const plain = (...args: unknown[]) => void written.push(args);
  const console = { log: plain, info: plain, warn: plain, error: plain, debug: plain };
  const addEventListener = (kind: string, hear: (event: object) => void) => void (heard[kind] = hear);
  const post = (message: unknown) => {
    const { level, args } = message as { level: string; args: string[] };
    told.push({ level, args });
  };
  listenToConsole({ console, addEventListener } as never, post);
  return { told, written, heard, console };
}

describe('what an app writes to its console', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('is written there, and told outside as text', () => {
    const { told, written, console } = frame();
    console.warn('a', 1, { b: [2] }, undefined);
    expect(written).toEqual([['a', 1, { b: [2] }, undefined]]);
    expect(told).toEqual([{ level: 'warn', args: ['a', '1', '{"b":[2]}', 'undefined'] }]);
  });

  test('is told with what nobody caught', () => {
    const { told, heard } = frame();
    heard.error!({ message: 'Uncaught Error: no' });
    heard.unhandledrejection!({ reason: new TypeError('never') });
    const filename = 'http://127.0.0.1:4321/f/s3cret/lib/a.js';
    heard.error!({ message: 'Uncaught no', filename, lineno: 3, colno: 7 });
    expect(told.map((it) => it.args)).toEqual([
      ['Uncaught Error: no'],
      ['TypeError: never'],
      ['Uncaught no (lib/a.js:3:7)'],
    ]);
  });

  test('is told without the address that leads into its frame', () => {
    expect(written('see https://host:1/f/s3cret/ and http://host/f/s3cret')).toBe('see  and ');
    expect(written({ at: 'http://host/f/s3cret/x.html' })).toBe('{"at":"x.html"}');
  });

  test('is told of so often in a second, and no more', () => {
    const { told, written, console } = frame();
    for (let at = 0; at < 100; at += 1) console.log(at);
    expect([written.length, told.length]).toEqual([100, 10]);
    vi.advanceTimersByTime(1000);
    console.log('again');
    expect(told).toHaveLength(11);
  });

  test('is cut, and never fails to be written', () => {
    const ring: Record<string, unknown> = {};
    ring.ring = ring;
    expect([written('x'.repeat(5000)).length, written(ring), written(Symbol('s')), written(null), written(2n)]).toEqual(
      [2000, '[object Object]', 'Symbol(s)', 'null', '2'],
    );
  });
});
