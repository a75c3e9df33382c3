// Plays the page and the server around one app: its files under a ticket, the built script that frames are lent, its storage,
// and a parent that asks by the protocol's messages. What the real page does besides is left out.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize, resolve } from 'node:path';
import { inspect } from '../inspect.mjs';
import { eventually, Visit } from '../visit.mjs';
import { inspectInside } from '../windows.mjs';

const root = resolve(import.meta.dirname, '../../..');
const TOKEN = 'token-of-the-window';
const TICKET = 'ticket';
const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
};

export class House {
  /** What apps have kept. @type {Map<string, Buffer>} */
  files = new Map();
  /** Apps that are nowhere on the disk: their files by path. @type {Map<string, Record<string, string>>} */
  written = new Map();
  /** How storage answers when it is to fail. @type {number | undefined} */
  failing;

  page = createServer((request, response) => void this.#parent(request, response));
  sandbox = createServer((request, response) => void this.#sandboxed(request, response));

  static async open() {
    const house = new House();
    for (const server of [house.page, house.sandbox])
      await new Promise((done) => server.listen(0, '127.0.0.1', () => done(undefined)));
    return house;
  }

  async close() {
    for (const server of [this.page, this.sandbox]) {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    }
  }

  get url() {
    return `http://127.0.0.1:${portOf(this.page)}`;
  }

  get #far() {
    return `127.0.0.1:${portOf(this.sandbox)}`;
  }

  async #parent(request, response) {
    const { pathname, searchParams } = new URL(request.url, this.url);
    if (pathname === '/tokens.css')
      return response.setHeader('content-type', 'text/css').end(await readFile(join(root, 'ui/src/styles/tokens.css')));
    if (pathname === '/parent.js') return response.setHeader('content-type', 'text/javascript').end(`(${parent})();`);
    if (pathname !== '/') return response.writeHead(204).end();
    const app = searchParams.get('app');
    const place = searchParams.get('place') ?? 'w1';
    const source = `http://${this.#far}/f/${TICKET}-${app}-${place}/index.html`;
    response.setHeader('content-type', 'text/html; charset=utf-8')
      .end(`<!doctype html><html lang="en"><meta charset="utf-8">
      <meta name="viewport" content="width=device-width"><title>${app}</title><link rel="stylesheet" href="tokens.css">
      <style>html,body{height:100%;margin:0;background:var(--paper)}iframe{display:block;width:100%;height:100%;border:0}</style>
      <script src="parent.js"></script>
      <iframe title="App" sandbox="allow-scripts allow-forms allow-downloads" src="${source}"></iframe></html>`);
  }

  async #sandboxed(request, response) {
    const [, , ticket, ...rest] = new URL(request.url, this.url).pathname.split('/');
    const [, app, place] = /^ticket-([a-z]+)-(.+)$/.exec(ticket ?? '') ?? [];
    if (!app) return response.writeHead(404).end();
    for (const [name, value] of Object.entries(CORS)) response.setHeader(name, value);
    if (request.method === 'OPTIONS') return response.writeHead(204).end();
    const path = rest.join('/');
    if (path.startsWith('api/storage')) return this.#stored(request, response, decodeURIComponent(path.slice(12)), app);
    if (path === 'api/fetch') {
      const refusal = { error: 'the server of the harness fetches nothing' };
      return response.writeHead(403, { 'content-type': 'application/json' }).end(JSON.stringify(refusal));
    }
    if (path === '__megaron/sdk.js') {
      const told = { nonce: 'word', app, token: TOKEN, place };
      const script = await readFile(join(root, 'ui/dist/sdk/megaron-frame.js'));
      return response
        .setHeader('content-type', TYPES['.js'])
        .end(`globalThis.__megaron=${JSON.stringify(told)};\n${script}`);
    }
    const written = this.written.get(app)?.[path];
    const folders = [join(root, 'apps', app), join(import.meta.dirname, 'fixtures', app)];
    const file = folders.map((folder) => join(folder, normalize(`/${path}`))).find(existsSync);
    const bytes = written ?? (file && (await readFile(file)));
    if (!bytes) return response.writeHead(404).end();
    const type = TYPES[extname(path)] ?? 'application/octet-stream';
    response.setHeader('content-type', type).setHeader('content-security-policy', this.#policy(ticket));
    const tag = `<head><script src="/f/${ticket}/__megaron/sdk.js"></script>`;
    response.end(type.startsWith('text/html') ? bytes.toString().replace('<head>', tag) : bytes);
  }

  /** As the server writes it, see `sandbox/policy.rs`. */
  #policy(ticket) {
    const own = `${this.#far}/f/${ticket}/`;
    return (
      `default-src 'none'; script-src ${own}; style-src ${own}; img-src ${own} data: blob:; font-src ${own} data:; ` +
      `media-src ${own} data: blob:; connect-src ${own}; frame-src 'none'; form-action ${own}; base-uri 'none'; ` +
      `frame-ancestors ${this.url}; sandbox allow-scripts allow-forms allow-downloads`
    );
  }

  async #stored(request, response, path, app) {
    const name = path.replace(/^apps\/self(?=\/|$)/, `apps/${app}`);
    const say = (status, reply) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(reply));
    if (request.headers['x-iframe-token'] !== TOKEN) return say(401, { error: 'Unauthorized' });
    if (!`${name}/`.startsWith(`apps/${app}/`)) return say(403, { error: 'Access denied' });
    if (this.failing) return say(this.failing, { error: 'the shelf is full' });
    if (request.method === 'DELETE') return say(this.files.delete(name) ? 200 : 404, { ok: true, path: name });
    if (request.method === 'POST') {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      this.files.set(name, Buffer.concat(chunks));
      return say(200, { ok: true, path: name });
    }
    if (new URL(request.url, this.url).searchParams.has('list')) {
      const inside = [...this.files.keys()].filter((it) => it.startsWith(`${name}/`));
      return say(
        200,
        inside.map((it) => ({ path: it, isDirectory: false, size: 0, modifiedAt: '2026-01-01T00:00:00Z' })),
      );
    }
    const found = this.files.get(name);
    if (!found) return say(404, { error: 'File not found' });
    response.setHeader('content-type', TYPES[extname(name)] ?? 'application/octet-stream').end(found);
  }
}

const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, HEAD, POST, DELETE',
  'access-control-allow-headers': '*, Content-Type, X-Iframe-Token',
  'cross-origin-resource-policy': 'cross-origin',
  'cache-control': 'no-store',
};

/** @param {import('node:http').Server} server */
function portOf(server) {
  const address = server.address();
  return typeof address === 'object' ? address?.port : undefined;
}

/** Runs in the page around the frame. */
function parent() {
  const here = /** @type {any} */ (window);
  const heard = (here.heard = []);
  const waiting = new Map();
  const theme = () => {
    const style = getComputedStyle(document.documentElement);
    const names =
      'paper paper-deep raised line line-strong ink ink-soft ember ember-ink ember-wash good good-wash gone gone-wash sans serif mono small round';
    const tokens = Object.fromEntries(
      names.split(' ').map((name) => [`--${name}`, style.getPropertyValue(`--${name}`).trim()]),
    );
    return { scheme: matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light', tokens };
  };
  addEventListener('message', ({ data, source }) => {
    const frame = document.querySelector('iframe')?.contentWindow;
    if (source !== frame) return;
    heard.push(data);
    if (data?.type === 'megaron:hello')
      frame?.postMessage({ type: 'megaron:welcome', theme: theme(), visible: true }, '*');
    waiting.get(data?.requestId)?.(data);
  });
  here.post = (message) => document.querySelector('iframe')?.contentWindow?.postMessage(message, '*');
  here.ask = (message) =>
    new Promise((done) => {
      waiting.set(message.requestId, done);
      here.post(message);
    });
}

/** One app on show, as the agent and as the person see it. */
export class Shown extends Visit {
  #asked = 0;

  /** @param {import('playwright-core').BrowserContext} context @param {House} house @param {string} app */
  static async open(context, house, app, place = 'w1') {
    const shown = new Shown(await context.newPage());
    await shown.page.goto(`${house.url}/?app=${app}&place=${place}`);
    await shown.ready();
    return shown;
  }

  /** Waits for the document that registers next. */
  async ready() {
    await this.page.waitForFunction(() => /** @type {any} */ (window).heard.some((it) => it.type === 'yaar:app-ready'));
    this.content = this.page.frameLocator('iframe');
    const element = await this.page.locator('iframe').elementHandle();
    this.frame = await element?.contentFrame();
    assert.ok(this.frame);
  }

  /** Loads the app anew, as a page that is reloaded does. */
  async reload() {
    await this.page.reload();
    await this.ready();
  }

  /** Everything the app has said, but for what every frame says. */
  async heard(type) {
    const all = await this.page.evaluate(() => /** @type {any} */ (window).heard);
    return all.filter((it) => it?.type === type);
  }

  /** Asks as the page does, and gives back the answer as it comes. */
  async request(message) {
    const requestId = `req-${(this.#asked += 1)}`;
    return this.page.evaluate((it) => /** @type {any} */ (window).ask(it), { ...message, requestId });
  }

  async manifest() {
    return (await this.request({ type: 'yaar:app-manifest-request' })).manifest;
  }

  async query(stateKey) {
    const { data, error } = await this.request({ type: 'yaar:app-query-request', stateKey });
    if (error) throw new Error(error);
    return data;
  }

  async command(command, params) {
    const { result, error } = await this.request({ type: 'yaar:app-command-request', command, params });
    if (error) throw new Error(error);
    return result;
  }

  /** A picture of it and no more. */
  async picture(name) {
    const shots = join(root, 'ui/e2e/shots');
    await mkdir(shots, { recursive: true });
    await this.page.screenshot({ path: join(shots, `${name}.png`) });
  }

  /** A picture of it, and nothing in it that would shut somebody out. */
  async look(name) {
    await inspect(this, name);
    this.foresee(/Applying inline style/);
    await inspectInside(this.frame);
    assert.equal(
      await this.frame.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
      true,
      'it fits the width of its window',
    );
  }

  /** Every description says something, every schema is one, and every inverse is there. */
  async sound() {
    const { state, commands } = await this.manifest();
    for (const [name, it] of Object.entries({ ...state, ...commands }))
      assert.ok(it.description.length > 15, `${name} is described`);
    for (const [name, it] of Object.entries(commands)) {
      if (it.params) assert.equal(it.params.type, 'object', `${name} takes an object`);
      if (it.inverse) assert.ok(commands[it.inverse], `${name} is undone by something`);
      assert.ok(['always', 'last', 'never', undefined].includes(it.replay), `${name} is replayed by a rule`);
    }
    return { state: Object.keys(state), commands: Object.keys(commands) };
  }
}

/** A cell of the sheet by its name, among those that are drawn. */
export function cellOf(content, name) {
  const [, letter = '', row = ''] = /^([A-Z])(\d+)$/.exec(name) ?? [];
  const column = letter.charCodeAt(0) - 'A'.charCodeAt(0) + 2;
  return content.locator(`[aria-rowindex="${Number(row) + 1}"] [role=gridcell][aria-colindex="${column}"]`);
}

export { eventually };
