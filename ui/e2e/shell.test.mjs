// The frame of the page: packed on the way, kept for ever, installable, and there when the server is not.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { Server } from './server.mjs';
import { deadServer, launch, signIn, visit } from './visit.mjs';

let server, browser, remembered, context, guest;

before(async () => {
  server = await Server.fresh();
  browser = await launch();
  remembered = await signIn(browser, server);
});
after(async () => {
  await browser?.close();
  await server?.end();
});
beforeEach(async () => {
  context = await browser.newContext({ storageState: remembered });
  guest = await visit(context, server.url);
  await guest.connected();
});
afterEach(async () => {
  const { complaints } = guest;
  await context.close();
  assert.deepEqual(complaints, [], 'the console complained');
});

const kept = () => guest.page.evaluate(async () => (await navigator.serviceWorker.ready).active?.state);

test('files of the page come packed, and those that never change are kept for ever', async () => {
  const script = await guest.page.locator('script[type=module]').getAttribute('src');
  const get = async (path, packing) => {
    const answer = await context.request.get(`${server.url}${path}`, { headers: { 'Accept-Encoding': packing } });
    const { 'content-encoding': packed, 'cache-control': cache, vary } = answer.headers();
    return { packed, cache, vary, text: await answer.text() };
  };
  const plain = await get(script, 'identity');
  const forever = 'public, max-age=31536000, immutable';
  for (const packing of ['br', 'gzip'])
    assert.deepEqual(await get(script, packing), {
      packed: packing,
      cache: forever,
      vary: 'Accept-Encoding',
      text: plain.text,
    });
  assert.deepEqual([plain.packed, plain.cache], [undefined, forever]);
  assert.equal((await get('/', 'br')).cache, 'no-cache');
});

test('the page can be installed', async () => {
  const manifest = await (await context.request.get(`${server.url}/manifest.webmanifest`)).json();
  for (const { src, type } of manifest.icons) {
    const answer = await context.request.get(`${server.url}${src}`);
    assert.equal(`${answer.status()} ${answer.headers()['content-type']}`, `200 ${type}`);
  }
  const client = await context.newCDPSession(guest.page);
  const { installabilityErrors } = await client.send('Page.getInstallabilityErrors');
  // A visit of a test is a private one, in which nothing can be installed.
  assert.deepEqual(
    installabilityErrors.map((it) => it.errorId).filter((it) => it !== 'in-incognito'),
    [],
  );
});

test('without the server the frame opens and says so, and all is well when the server is back', async () => {
  await guest.ask('Before the lights went out');
  await kept();
  guest.foresee(deadServer);
  guest.foresee(/Failed to load/);
  await server.kill();
  await guest.page.reload();
  await guest.page
    .getByRole('status')
    .filter({ hasText: /Reconnecting|offline|cannot/i })
    .first()
    .waitFor();
  assert.equal(await guest.page.getByRole('button', { name: 'New session' }).isVisible(), true);
  await server.restart();
  await guest.connected();
  await guest.mine.getByText('Before the lights went out').waitFor();
});

test('nothing of what is said is kept by the worker', async () => {
  await guest.ask('A secret');
  await kept();
  await guest.page.reload();
  await guest.mine.getByText('A secret').waitFor();
  const paths = await guest.page.evaluate(async () => {
    const names = await caches.keys();
    const all = await Promise.all(
      names.map(async (it) => (await (await caches.open(it)).keys()).map(({ url }) => url)),
    );
    return all.flat().map((it) => new URL(it).pathname);
  });
  assert.ok(paths.includes('/'));
  assert.deepEqual(
    paths.filter((it) => !/^\/(assets\/.*|icons\/.*|theme\.js|manifest\.webmanifest)?$/.test(it)),
    [],
  );
});
