// What every app is lent, in a real frame without an origin.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { launch } from '../visit.mjs';
import { eventually, House, Shown } from './harness.mjs';

let house, browser, context, app;

before(async () => {
  browser = await launch();
});
after(() => browser?.close());
beforeEach(async () => {
  house = await House.open();
  context = await browser.newContext();
  app = await Shown.open(context, house, 'handmade');
});
afterEach(async () => {
  await context.close();
  await house.close();
});

test('a page written by hand registers in its first script, once, whatever copy of the kit it brings', async () => {
  const ready = await app.heard('yaar:app-ready');
  assert.equal(ready.length, 1);
  assert.match(ready[0].instance, /^[0-9a-f]{32}$/);
  assert.equal(ready[0].appId, 'handmade');
  assert.equal(await app.query('origin'), 'null');
  assert.deepEqual(await app.query('guards'), [
    '__yaarAppProtocolInstalled',
    '__yaarCaptureInstalled',
    '__yaarConsoleInstalled',
    '__yaarFetchProxyInstalled',
    '__yaarStorageInstalled',
  ]);
  const { run } = (await app.manifest()).commands;
  assert.deepEqual(run, { description: 'Counts that it was run.', replay: 'last', timeoutMs: 20000 });
  assert.equal(await app.query('secrets'), 'undefined');
});

test('every document has an instance of its own', async () => {
  const [{ instance }] = await app.heard('yaar:app-ready');
  await app.reload();
  const [again] = await app.heard('yaar:app-ready');
  assert.notEqual(again.instance, instance);
});

test('it loads anew when the server says that it has changed', async () => {
  const [{ instance }] = await app.heard('yaar:app-ready');
  await app.page.evaluate(() => /** @type {any} */ (window).post({ type: 'reload' }));
  await eventually(async () => assert.equal((await app.heard('yaar:app-ready')).length, 2));
  assert.notEqual((await app.heard('yaar:app-ready'))[1].instance, instance);
});

test('only the parent is heard', async () => {
  assert.equal(await app.query('nested'), 0);
  assert.equal(await app.command('run'), 1);
});

test('localStorage is there, and what is in it stays', async () => {
  assert.equal(await app.query('started'), 1);
  await eventually(() => assert.ok(house.files.has('apps/handmade/local-storage.json')));
  await app.reload();
  assert.equal(await app.query('started'), 2);
});

test('files are kept under the app’s own name, and nowhere else', async () => {
  assert.deepEqual(await app.command('save'), {
    text: 'written',
    path: 'apps/handmade/notes/a b.txt',
    refused: 'Access denied',
  });
});

test('what it writes to its console is passed on', async () => {
  await app.command('complain');
  const [told] = await app.heard('yaar:console');
  assert.deepEqual([told.level, told.args], ['warn', ['a warning', '{"of":"some kind"}']]);
});

test('a request to another place goes through the server, and fails in its words', async () => {
  await assert.rejects(app.command('far'), /TypeError: the server of the harness fetches nothing/);
});

test('it can be pictured', async () => {
  const { imageData } = await app.request({ type: 'yaar:capture-request' });
  assert.match(imageData, /^data:image\/png;base64,/);
  assert.ok(imageData.length > 1000);
});

test('the example of the guide for authors works as it stands there', async () => {
  const guide = await readFile(join(import.meta.dirname, '../../../docs/app-authors.md'), 'utf8');
  const blocks = [...guide.matchAll(/`([\w.]+)`\n\n```\w+\n([\s\S]*?)```/g)].map(([, name, text]) => [name, text]);
  assert.deepEqual(
    blocks.map(([name]) => name),
    ['app.json', 'index.html', 'tally.js'],
  );
  house.written.set('tally', Object.fromEntries(blocks));
  const tally = await Shown.open(context, house, 'tally');
  assert.equal(JSON.parse(blocks[0]?.[1] ?? '{}').name, 'Tally');
  assert.deepEqual(await tally.command('add', { by: 2 }), { count: 2 });
  await tally.content.getByRole('button', { name: 'One more' }).click();
  assert.equal(await tally.query('count'), 3);
  assert.deepEqual((await tally.heard('yaar:app-interaction'))[0], {
    type: 'yaar:app-interaction',
    content: 'The person counted to 3.',
    inform: true,
  });
  await tally.command((await tally.manifest()).commands.add.inverse, { by: 1 });
  await tally.reload();
  assert.equal(await tally.query('count'), 2);
});
