// Files that the server keeps for an app, asked for under the frame's ticket.
import type * as Sdk from '../../../packages/app-sdk';

export interface Access {
  /** Where everything of this frame lies: `/f/<ticket>/`. */
  base: string;
  /** Which app and window ask. */
  token: string | undefined;
  /** Good for reading alone, and may stand in an address. */
  readToken: string | undefined;
  fetch: typeof fetch;
}

export class StorageLine implements Sdk.Storage {
  constructor(private access: Access) {}

  /** @param keepalive goes on when the document has gone */
  save = async (path: string, data: unknown, keepalive = false) => {
    const response = await this.ask('POST', this.address(path), bytes(data), keepalive);
    return this.good(response, 'Save').then((it) => it.json());
  };

  read = async (path: string, { as = 'auto' }: { as?: string } = {}): Promise<unknown> => {
    const response = await this.good(await this.ask('GET', this.address(path)), 'Read');
    switch (as === 'auto' ? shapeOf(response) : as) {
      case 'json':
        return response.json();
      case 'text':
        return response.text();
      case 'arraybuffer':
        return response.arrayBuffer();
      default:
        return response.blob();
    }
  };

  list = async (folder = ''): Promise<Sdk.Entry[]> => {
    const response = await this.ask('GET', `${this.address(folder)}?list=true`);
    return this.good(response, 'List').then((it) => it.json());
  };

  remove = async (path: string) => {
    const response = await this.ask('DELETE', this.address(path));
    return this.good(response, 'Delete').then((it) => it.json());
  };

  url = (path: string) => {
    const { readToken } = this.access;
    return this.address(path) + (readToken ? `?token=${encodeURIComponent(readToken)}` : '');
  };

  /** Where a file is, without a token. */
  address(path: string): string {
    const names = String(path).split('/').filter(Boolean).map(encodeURIComponent);
    return `${this.access.base}api/storage/${names.join('/')}`;
  }

  headers(): Record<string, string> {
    return this.access.token ? { 'X-Iframe-Token': this.access.token } : {};
  }

  private ask(method: string, address: string, body: BodyInit | null = null, keepalive = false): Promise<Response> {
    // To whoever is of no origin every other is foreign.
    const foreign = { mode: 'cors', credentials: 'omit' } as const;
    return this.access.fetch(address, { method, headers: this.headers(), body, keepalive, ...foreign });
  }

  private async good(response: Response, deed: string): Promise<Response> {
    if (response.ok) return response;
    const reply: unknown = await response.json().catch(() => undefined);
    const error = (reply as { error?: unknown } | undefined)?.error;
    throw new Error(typeof error === 'string' && error ? error : `${deed} failed`);
  }
}

function bytes(data: unknown): BodyInit {
  const asIs = data instanceof Blob || data instanceof ArrayBuffer || data instanceof Uint8Array;
  return asIs ? (data as BodyInit) : String(data);
}

function shapeOf(response: Response): string {
  const type = response.headers.get('content-type') ?? '';
  if (type.includes('json')) return 'json';
  return type.startsWith('text/') ? 'text' : 'blob';
}
