// What must hold of revoking: it can be undone for a moment, and is never forgotten.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Grants } from './grants.svelte';

const grant = (id: string) => ({ id, tool: 'write_file', caller: 'model', grantedAt: '2026-05-05T10:00:00Z' });
let sent: string[];
let status: number;
let grants: Grants;

beforeEach(async () => {
  vi.useFakeTimers();
  sent = [];
  status = 200;
  vi.stubGlobal('fetch', async (path: string, { method }: RequestInit) => {
    if (method === 'GET') return Response.json({ grants: [grant('a'), grant('b')] });
    sent.push(`${method} ${path}`);
    return Response.json(status === 200 ? { success: true } : { error: 'it went wrong' }, { status });
  });
  grants = new Grants();
  await grants.refresh();
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const kept = () => grants.list.map((it) => it.id);

test('what is revoked goes after a moment', async () => {
  grants.revoke('a');
  expect([sent, kept(), [...grants.going]]).toEqual([[], ['a', 'b'], ['a']]);
  await vi.runAllTimersAsync();
  expect([sent, kept(), [...grants.going]]).toEqual([['DELETE /api/grants/a'], ['b'], []]);
});

test('what is kept after all was never sent', async () => {
  grants.revoke('a');
  grants.keep('a');
  await vi.runAllTimersAsync();
  expect([sent, kept(), [...grants.going]]).toEqual([[], ['a', 'b'], []]);
});

test('leaving carries out at once what was revoked, and only once', async () => {
  grants.revoke('a');
  grants.leave();
  await vi.runAllTimersAsync();
  expect([sent, kept()]).toEqual([['DELETE /api/grants/a'], ['b']]);
});

test('what somebody else revoked first is gone as well, and any other refusal is told', async () => {
  status = 404;
  grants.revoke('a');
  await vi.runAllTimersAsync();
  expect([kept(), grants.trouble]).toEqual([['b'], '']);
  status = 500;
  grants.revoke('b');
  await vi.runAllTimersAsync();
  expect([kept(), grants.trouble]).toEqual([['b'], 'it went wrong']);
});
