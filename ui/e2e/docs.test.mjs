// The API reader shows what the server says of itself, and nothing in it can act.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { Server } from './server.mjs';
import { eventually, launch, signIn, visit } from './visit.mjs';

let server, browser, remembered, context;

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
});
afterEach(() => context.close());

test('every operation of the document is on the page, and the filter finds one', async () => {
  const guest = await visit(context, `${server.url}/docs`);
  const { page } = guest;
  const answer = await context.request.get(`${server.url}/api/openapi.json`);
  const { paths } = await answer.json();
  const methods = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options'];
  const expected = Object.entries(paths).flatMap(([path, item]) =>
    methods.filter((it) => it in item).map((it) => `${it.toUpperCase()} ${path}`),
  );
  assert.ok(expected.length > 0);

  const headings = page.getByRole('main').locator('article h3 a');
  await eventually(async () =>
    assert.deepEqual((await headings.allInnerTexts()).map((it) => it.replace(/\s+/g, ' ')).sort(), expected.sort()),
  );

  await page.getByRole('searchbox', { name: 'Filter' }).fill('post messages');
  await eventually(async () => {
    const found = await headings.allInnerTexts();
    assert.match(found.join('\n'), /\/messages/);
    assert.ok(found.length < expected.length);
  });
  assert.deepEqual(guest.complaints, []);
});

test('an anchor leads to its operation', async () => {
  const { page } = await visit(context, `${server.url}/docs#post-api-sessions`);
  await page.locator('article:target').waitFor();
  await eventually(async () => {
    const top = await page.locator('article:target').evaluate((it) => it.getBoundingClientRect().top);
    assert.ok(top < 800);
  });
});

test('hostile text in a description is only text', async () => {
  const hostile =
    '[run](javascript:alert(1)) <img src=x onerror="window.hit=1"> <b style="color:red">b</b> ![far](https://example.org/a.png)';
  const document = { openapi: '3.1.0', info: { title: 'T', version: '1', description: hostile }, paths: {} };
  await context.route('**/api/openapi.json', (route) => route.fulfill({ json: document }));
  const guest = await visit(context, `${server.url}/docs`);
  const { page } = guest;
  await page.getByText('onerror').waitFor();
  assert.equal(await page.evaluate(() => 'hit' in window), false);
  assert.deepEqual(
    await page.locator('main a[href]').evaluateAll((links) => links.map((it) => it.getAttribute('href'))),
    ['/api/openapi.json', 'https://example.org/a.png'],
  );
  assert.deepEqual(guest.complaints, []);
});
