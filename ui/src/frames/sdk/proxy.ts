// Lets an app ask other places through the server, since a frame may reach nothing but its own ticket.
import type { StorageLine } from './storage';

interface Answer {
  status: number;
  statusText: string;
  headers: Record<string, string>;
  body: string;
  bodyEncoding?: 'base64';
}

/** A `fetch` that leaves what is near as it is. */
export function proxied(near: typeof fetch, files: StorageLine): typeof fetch {
  return async (input, init) => {
    const target = new URL(input instanceof Request ? input.url : String(input), document.baseURI);
    const isFar = /^https?:$/.test(target.protocol) && target.origin !== new URL(location.href).origin;
    if (!isFar) return near(input, init);
    const request = new Request(input, init);
    const wish = {
      url: target.href,
      method: request.method,
      headers: Object.fromEntries(request.headers),
      ...(request.body ? { body: await request.text() } : {}),
    };
    const response = await near(files.address('').replace(/storage\/$/, 'fetch'), {
      method: 'POST',
      headers: { ...files.headers(), 'Content-Type': 'application/json' },
      body: JSON.stringify(wish),
      mode: 'cors',
      credentials: 'omit',
      signal: request.signal,
    });
    const answer = (await response.json().catch(() => ({}))) as Partial<Answer> & { error?: string };
    // As a network that refuses would: `fetch` fails with a TypeError.
    if (!response.ok || answer.status === undefined) throw new TypeError(answer.error ?? 'Failed to fetch');
    return answered(answer as Answer);
  };
}

function answered({ status, statusText, headers, body, bodyEncoding }: Answer): Response {
  const bytes = bodyEncoding === 'base64' ? Uint8Array.from(atob(body), (it) => it.charCodeAt(0)) : body;
  const empty = [101, 204, 205, 304].includes(status);
  return new Response(empty ? null : bytes, { status, statusText, headers });
}
