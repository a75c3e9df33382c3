import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Yaar } from '../../../packages/app-sdk';
import { lend } from './yaar';

/** As much of a window as there is in a frame. */
function frame(more: object = {}) {
  const plain = () => {};
  const scope = {
    fetch: async () => Response.json([]),
    console: { log: plain, info: plain, warn: plain, error: plain, debug: plain },
    addEventListener: plain,
    ...more,
  } as unknown as Record<string, unknown> & { yaar: Yaar };
  vi.stubGlobal('window', scope);
  vi.stubGlobal('addEventListener', plain);
  vi.stubGlobal('location', {
    pathname: '/f/ticket/pages/one.html',
    href: 'http://127.0.0.1:1/f/ticket/pages/one.html',
  });
  return scope;
}

describe('what a frame is lent', () => {
  const posted: unknown[] = [];
  const post = (message: unknown) => void posted.push(message);
  beforeEach(() => void (posted.length = 0));
  afterEach(() => void vi.unstubAllGlobals());

  test('is there once, and a copy that comes later finds it and rests', () => {
    const scope = frame();
    lend({ app: 'a', token: 't' }, post, () => {});
    const { app, storage } = scope.yaar;
    lend({ app: 'a', token: 't' }, post, () => {});
    expect(scope.yaar.app).toBe(app);
    expect(scope.yaar.storage).toBe(storage);
    const guards = Object.keys(scope).filter((it) => it.startsWith('__yaar'));
    expect(guards.sort()).toEqual([
      '__yaarAppProtocolInstalled',
      '__yaarCaptureInstalled',
      '__yaarConsoleInstalled',
      '__yaarFetchProxyInstalled',
      '__yaarStorageInstalled',
    ]);
  });

  test('leaves room for what others add to it', () => {
    const scope = frame({ yaar: { mine: 1 } });
    lend({}, post, () => {});
    expect(Object.keys(scope.yaar).sort()).toEqual(['app', 'mine', 'storage']);
    expect(Object.isExtensible(scope.yaar)).toBe(true);
  });

  test('keeps to itself in a frame that shows no app', () => {
    const scope = frame();
    const { fetch, console } = scope;
    const { log } = console as Console;
    lend({}, post, () => {});
    expect(scope.fetch).toBe(fetch);
    expect((scope.console as Console).log).toBe(log);
    expect('localStorage' in scope).toBe(false);
    expect(posted).toEqual([]);
  });

  test('finds its files under the ticket, however deep the page lies', () => {
    const scope = frame();
    lend({ app: 'a', token: 't', readToken: 'r' }, post, () => {});
    expect(scope.yaar.storage.url('apps/self/x.png')).toBe('/f/ticket/api/storage/apps/self/x.png?token=r');
  });

  test('hears what is for it, and says so', async () => {
    const scope = frame();
    const heard = lend({ app: 'a', token: 't' }, post, () => {});
    scope.yaar.app.register({ appId: 'a', name: 'A', state: { x: { description: '', handler: () => 1 } } });
    expect(heard({ type: 'yaar:app-query-request', requestId: 'r', stateKey: 'x' })).toBe(true);
    expect(heard({ type: 'notes' })).toBe(false);
    expect(heard(null)).toBe(false);
    await vi.waitFor(() => expect(posted).toHaveLength(2));
    const [ready, answer] = posted as { instance: string }[];
    expect(ready!.instance).toMatch(/^[0-9a-f]{32}$/);
    expect(answer).toEqual({ type: 'yaar:app-query-response', requestId: 'r', data: 1 });
  });
});
