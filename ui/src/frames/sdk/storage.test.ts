import { describe, expect, test } from 'vitest';
import { StorageLine } from './storage';

function ask(response: () => Response, token: string | undefined = 'secret') {
  const asked: { address: string; init: RequestInit }[] = [];
  const fetch = (async (address: string, init: RequestInit) => {
    asked.push({ address, init });
    return response();
  }) as typeof globalThis.fetch;
  return { asked, storage: new StorageLine({ base: '/f/t/', token, readToken: 'read&only', fetch }) };
}

const done = () => Response.json({ ok: true, path: 'a' });

describe('storage', () => {
  test('asks under the ticket, each name of a path by itself, with the token in a header', async () => {
    const { asked, storage } = ask(done);
    expect(await storage.save('apps/self/a b/ü?.txt', 'text')).toEqual({ ok: true, path: 'a' });
    await storage.remove('/x');
    const [save, remove] = asked;
    expect(save).toEqual({
      address: '/f/t/api/storage/apps/self/a%20b/%C3%BC%3F.txt',
      init: {
        method: 'POST',
        headers: { 'X-Iframe-Token': 'secret' },
        body: 'text',
        keepalive: false,
        mode: 'cors',
        credentials: 'omit',
      },
    });
    expect([remove!.address, remove!.init.method]).toEqual(['/f/t/api/storage/x', 'DELETE']);
  });

  test('sends bytes as they are and anything else as text', async () => {
    const { asked, storage } = ask(done);
    const asIs = [new Blob(['x']), new ArrayBuffer(1), new Uint8Array(2)];
    for (const data of [...asIs, 5, null, { a: 1 }]) await storage.save('a', data);
    expect(asked.map(({ init }) => init.body)).toEqual([...asIs, '5', 'null', '[object Object]']);
  });

  test('gives what was read in the shape that its type or the reader names', async () => {
    const typed = (type: string) => ask(() => new Response('{"a":1}', { headers: { 'content-type': type } })).storage;
    expect(await typed('application/json').read('a')).toEqual({ a: 1 });
    expect(await typed('text/plain; charset=utf-8').read('a')).toBe('{"a":1}');
    expect(await typed('image/png').read('a')).toBeInstanceOf(Blob);
    expect(await typed('application/json').read('a', { as: 'text' })).toBe('{"a":1}');
    expect(await typed('text/plain').read('a', { as: 'json' })).toEqual({ a: 1 });
    expect(await typed('image/png').read('a', { as: 'arraybuffer' })).toBeInstanceOf(ArrayBuffer);
    expect(await typed('text/plain').read('a', { as: 'blob' })).toBeInstanceOf(Blob);
  });

  test('lists a folder', async () => {
    const entry = { path: 'a', isDirectory: false, size: 1, modifiedAt: '2026-01-01T00:00:00Z' };
    const { asked, storage } = ask(() => Response.json([entry]));
    expect(await storage.list('apps/self')).toEqual([entry]);
    await storage.list();
    expect(asked.map((it) => it.address)).toEqual([
      '/f/t/api/storage/apps/self?list=true',
      '/f/t/api/storage/?list=true',
    ]);
  });

  test('gives an address with a token that only reads', () => {
    expect(ask(done).storage.url('apps/self/a.png')).toBe('/f/t/api/storage/apps/self/a.png?token=read%26only');
  });

  test('fails in the words of the server, or in its own', async () => {
    const said = ask(() => Response.json({ error: 'Access denied' }, { status: 403 })).storage;
    const mute = ask(() => new Response('', { status: 500 })).storage;
    await expect(said.read('a')).rejects.toThrow('Access denied');
    await expect(mute.save('a', 'b')).rejects.toThrow('Save failed');
    await expect(mute.read('a')).rejects.toThrow('Read failed');
    await expect(mute.list('a')).rejects.toThrow('List failed');
    await expect(mute.remove('a')).rejects.toThrow('Delete failed');
  });
});
