import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { proxied } from './proxy';
import { StorageLine } from './storage';

function begin(answer: () => Response) {
  const asked: { address: string; init: RequestInit | undefined }[] = [];
  const near = (async (address: unknown, init?: RequestInit) => {
    asked.push({ address: String(address), init });
    return answer();
  }) as typeof fetch;
  const files = new StorageLine({ base: '/f/t/', token: 'secret', readToken: undefined, fetch: near });
  return { asked, fetch: proxied(near, files) };
}

describe('a request to another place', () => {
  beforeEach(() => {
    vi.stubGlobal('location', { href: 'http://127.0.0.1:53001/f/t/index.html' });
    vi.stubGlobal('document', { baseURI: 'http://127.0.0.1:53001/f/t/index.html' });
  });
  afterEach(() => void vi.unstubAllGlobals());

  test('goes through the server, with what it says', async () => {
    const body = { status: 201, statusText: 'Created', headers: { 'x-a': 'b' }, body: 'made' };
    const { asked, fetch } = begin(() => Response.json(body));
    const response = await fetch('https://example.com/x?y', {
      method: 'POST',
      headers: { 'X-Mine': '1' },
      body: 'text',
    });
    expect([response.status, response.headers.get('x-a'), await response.text()]).toEqual([201, 'b', 'made']);
    const [{ address, init } = { address: '', init: undefined }] = asked;
    expect(address).toBe('/f/t/api/fetch');
    expect(init?.headers).toEqual({ 'X-Iframe-Token': 'secret', 'Content-Type': 'application/json' });
    expect(JSON.parse(String(init?.body))).toMatchObject({
      url: 'https://example.com/x?y',
      method: 'POST',
      body: 'text',
      headers: { 'x-mine': '1' },
    });
  });

  test('gives bytes and empty answers as they are', async () => {
    const bytes = begin(() =>
      Response.json({ status: 200, statusText: '', headers: {}, body: '/wA=', bodyEncoding: 'base64' }),
    );
    expect([...new Uint8Array(await (await bytes.fetch('https://example.com')).arrayBuffer())]).toEqual([255, 0]);
    const empty = begin(() => Response.json({ status: 204, statusText: '', headers: {}, body: '' }));
    expect((await empty.fetch('https://example.com')).status).toBe(204);
  });

  test('fails as a network does, in the words of the server', async () => {
    const refused = begin(() =>
      Response.json({ error: 'Access to internal networks is not allowed' }, { status: 403 }),
    );
    await expect(refused.fetch('http://10.0.0.1/')).rejects.toThrow(
      new TypeError('Access to internal networks is not allowed'),
    );
    const mute = begin(() => new Response('', { status: 502 }));
    await expect(mute.fetch('https://example.com')).rejects.toThrow(new TypeError('Failed to fetch'));
  });

  test('is left alone when it is not to another place', async () => {
    const { asked, fetch } = begin(() => new Response('near'));
    const near = ['data.json', './a', '/f/t/api/storage/x', 'http://127.0.0.1:53001/f/t/b', 'data:,x', 'blob:null/1'];
    for (const address of near) await fetch(address);
    expect(asked.map((it) => it.address)).toEqual(near);
  });
});
