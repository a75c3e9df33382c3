// What must hold of sending: once under one key, however often the network fails.
import { afterEach, expect, test, vi } from 'vitest';
import { insist, newKey, Refused, say } from './api';

afterEach(() => vi.unstubAllGlobals());

function server(...answers: (Response | Error)[]) {
  const requests: { path: string; init: RequestInit }[] = [];
  vi.stubGlobal('fetch', async (path: string, init: RequestInit) => {
    requests.push({ path, init });
    const answer = answers.shift()!;
    if (answer instanceof Error) throw answer;
    return answer;
  });
  return requests;
}

const noPause = () => Promise.resolve();

test('a message whose answer was lost is sent again under the same key', async () => {
  const requests = server(
    new TypeError('network'),
    new Response('', { status: 503 }),
    Response.json({ ok: true, sessionId: 'S' }),
  );
  await insist(() => say('S', { prompt: 'hi' }, 'key-1'), noPause);
  expect(requests.map(({ init }) => new Headers(init.headers).get('Idempotency-Key'))).toEqual([
    'key-1',
    'key-1',
    'key-1',
  ]);
  expect(requests[0]).toMatchObject({
    path: '/api/sessions/S/messages',
    init: { method: 'POST', body: '{"prompt":"hi","queue":true}' },
  });
});

test('a refusal is final and says why', async () => {
  server(Response.json({ error: 'Session not found: S', code: 'NOT_FOUND' }, { status: 404 }));
  const refusal = await insist(() => say('S', { prompt: 'hi' }, 'key-1'), noPause).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(Refused);
  expect(refusal).toMatchObject({ status: 404, message: 'Session not found: S' });
});

test('keys are random version 4 UUIDs', () => {
  expect(newKey()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(newKey()).not.toBe(newKey());
});
