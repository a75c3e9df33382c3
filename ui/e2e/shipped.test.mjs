// The apps that come along, in the real page: opened by the agent, used by hand, there again after a reload and a restart.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { cellOf } from './apps/harness.mjs';
import { workbook, zip } from './apps/workbook.mjs';
import { inspect } from './inspect.mjs';
import { Server } from './server.mjs';
import { deadServer, eventually, launch, signIn, visit } from './visit.mjs';
import { inspectInside } from './windows.mjs';

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
  context = await browser.newContext({ storageState: remembered, viewport: { width: 1280, height: 800 } });
  guest = await visit(context, server.url);
});
afterEach(async () => {
  const { complaints } = guest;
  await context.close();
  assert.deepEqual(complaints, [], 'the console complained');
});

const region = (title) => guest.page.getByRole('region', { name: title, exact: true });
const content = (title) => region(title).frameLocator('iframe');
const call = (tool, args) => guest.ask(`/tool ${tool} ${JSON.stringify(args)}`);
const cell = (name) => cellOf(content('Sheet'), name);
/** What a tool gave lies folded in the conversation. */
const told = (text) => guest.log.getByText(text).first().waitFor({ state: 'attached' });
const shows = (name, text) => eventually(async () => assert.equal(await cell(name).innerText(), text));

test('each opens in a window, and nothing in it shuts anybody out', async () => {
  const first = {
    sheet: '#grid',
    document: '#text',
    board: '#columns section',
    images: '#empty',
    awkward: '#commands button',
  };
  const titles = { sheet: 'Sheet', document: 'Document', board: 'Board', images: 'Images', awkward: 'Awkward' };
  for (const [appId, selector] of Object.entries(first)) {
    await call('app_open', { appId });
    await content(titles[appId]).locator(selector).first().waitFor();
  }
  const frame = await (await region('Awkward').locator('iframe').elementHandle())?.contentFrame();
  guest.foresee(/Applying inline style/);
  await inspectInside(frame);
});

test('what is written in a sheet by hand is there again after a reload and a restart', async () => {
  await guest.ask('Hello');
  await call('app_open', { appId: 'sheet' });
  // The grid is there before anybody hears what is typed into it; its cells are not.
  await cell('A1').waitFor();
  await content('Sheet').getByRole('grid').focus();
  await guest.page.keyboard.type('100\n=A1*2\n');
  await shows('A2', '200');
  await content('Sheet').getByRole('grid').press('Control+Home');
  await guest.page.reload();
  await shows('A2', '200');
  guest.foresee(deadServer);
  guest.foresee(/404|frame-src/);
  await server.kill();
  await server.restart();
  await guest.page.reload();
  await shows('A2', '200');
});

test('the agent puts 100 in A1 and tells the sum', async () => {
  await call('app_open', { appId: 'sheet' });
  await content('Sheet').getByRole('grid').waitFor();
  const command = (name, params) => call('app_command', { windowId: 'sheet', command: name, params });
  await command('setCells', { cells: { A1: '100', A2: 42 } });
  await shows('A1', '100');
  await command('evaluate', { formula: '=SUM(A1:A2)' });
  await told('"value": 142');
  await command('setCells', { cells: 5 });
  await told('Invalid params for command "setCells" at /cells: expected object, got number.');
  await command('setCell', { cells: { A1: '1' } });
  await shows('A1', '1');
  await command('undo');
  await shows('A1', '100');
  await guest.page.reload();
  await shows('A1', '100');
  await inspect(guest, 'shipped-sheet');
  await call('app_query', { windowId: 'sheet', stateKey: 'summary' });
  await told('"sum": 142');
});

test('what an awkward app does is told to the agent in words', async () => {
  await call('app_open', { appId: 'awkward' });
  await content('Awkward').getByRole('button', { name: 'addAlways' }).waitFor();
  const command = (name, params) => call('app_command', { windowId: 'awkward', command: name, params });
  await command('throws');
  await told('TypeError: thrown on purpose');
  await command('nevr');
  await told('Unknown command: nevr. Did you mean "never"?');
  await command('answersStrangely');
  await told('Unknown response type: yaar:app-surprise-response');
  for (const name of ['addAlways', 'addAlways', 'addLast', 'addLast', 'addNever']) await command(name);
  await guest.page.reload();
  const counters = content('Awkward').locator('#counters');
  await eventually(async () =>
    assert.equal((await counters.innerText()).replace(/\s+/g, ' '), 'always 2 last 1 never 0 runs 0'),
  );
});

test('files open in the app that is for them', async () => {
  await writeFile(join(server.workspace, 'stores.csv'), 'store;jars\n"oil; fine";12\nhoney;24\n');
  await writeFile(join(server.workspace, 'stores.xlsx'), zip(workbook));
  await writeFile(join(server.workspace, 'plan.md'), '# The plan\n\nSweep, then light the **fire**.\n');
  await call('file_open', { path: 'stores.csv' });
  await shows('A2', 'oil; fine');
  await shows('B3', '24');
  await call('file_open', { path: 'stores.xlsx' });
  await shows('B3', '25');
  await call('file_open', { path: 'plan.md' });
  await content('Document').getByRole('heading', { name: 'The plan' }).waitFor();
});
