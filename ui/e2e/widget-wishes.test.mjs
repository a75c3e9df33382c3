// What a widget wants of the person: links, files and what the browser lends; and how it is told of a call while that is written.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { inspect, looks } from './inspect.mjs';
import { conforms } from './official/schema.mjs';
import { held, ScriptedModel } from './scripted.mjs';
import { Server } from './server.mjs';
import { eventually, launch, signIn, visit } from './visit.mjs';

const program = join(import.meta.dirname, 'clerk-server.mjs');
let web, link, model, server, browser, remembered;

before(async () => {
  web = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<title>elsewhere</title>'));
  web.listen(0, '127.0.0.1');
  await once(web, 'listening');
  link = `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (web.address()).port}/elsewhere`;
  model = await ScriptedModel.start();
  const args = JSON.stringify([program, link]);
  const table = `[mcp.servers.clerk]\ncommand = "node"\nargs = ${args}\ntrusted = true\ngesture = true\n`;
  server = await Server.fresh(`${model.config}${table}`);
  browser = await launch();
  remembered = await signIn(browser, server);
});
after(async () => {
  await browser?.close();
  await server?.end();
  await model?.end();
  web?.close();
  web?.closeAllConnections();
});

/** A page whose server knows its tools. */
async function enter(name = 'Clerk') {
  const context = await browser.newContext({ storageState: remembered, ...looks[0]?.options });
  const guest = await visit(context, server.url);
  await eventually(async () => {
    const answer = await context.request.get(`${server.url}/api/widgets`);
    assert.equal((await answer.json()).widgets.length, 3);
  });
  const widget = guest.page.getByLabel(`Widget of ${name}`, { exact: true });
  const inside = widget.locator('iframe').contentFrame();
  const frame = async () => (await widget.locator('iframe').elementHandle()).contentFrame();
  const heard = async () => (await frame()).evaluate(() => /** @type {any} */ (window).heard);
  return { context, guest, widget, inside, frame, heard };
}

test('a widget opens links and saves files only after a touch and a yes, and uses only what it was granted', async () => {
  const { context, guest, widget, inside, frame, heard } = await enter();
  const approvals = guest.page.getByRole('region', { name: 'Approvals' });
  const asks = (question) => approvals.getByRole('article').filter({ hasText: question }).first();
  const allow = (question) => asks(question).getByRole('button', { name: 'Allow', exact: true }).click();
  model.will({ calls: [{ name: 'clerk', args: {} }] }, 'There.');
  // The person touched the page just now, and not the widget.
  await guest.ask('A clerk, please.');
  await eventually(async () => {
    assert.deepEqual((await heard()).find((it) => it.id === 'unasked')?.result, { isError: true });
  });
  assert.equal(await approvals.getByRole('article').count(), 0);
  assert.equal(context.pages().length, 1);

  /** Presses a button in the widget until the person is asked: a touch is soon forgotten where everything is slow. */
  const press = (name, question) =>
    eventually(async () => {
      await inside.getByRole('button', { name }).click();
      await asks(question).waitFor({ timeout: 10_000 });
    });
  await press('Link', 'wants to open a link');
  await asks('wants to open a link').getByText(link).first().waitFor();
  assert.equal(context.pages().length, 1, 'not before it is allowed');
  const opening = context.waitForEvent('page');
  await allow('wants to open a link');
  const opened = await opening;
  await opened.waitForURL(link);
  assert.deepEqual(await opened.evaluate(() => [window.opener, document.referrer]), [null, '']);
  await opened.close();

  await press('File', 'wants to save a file');
  await asks('wants to save a file').getByText('all.bin').first().waitFor();
  const saving = guest.page.waitForEvent('download');
  await allow('wants to save a file');
  const saved = await saving;
  assert.equal(saved.suggestedFilename(), 'all.bin');
  const bytes = await readFile(await saved.path());
  assert.deepEqual([...bytes], Array.from({ length: 256 }, (_, at) => at));

  // Declared and granted, or not at all.
  const lent = async () =>
    (await frame()).evaluate(() =>
      ['microphone', 'camera', 'geolocation', 'clipboard-write'].filter((name) =>
        /** @type {any} */ (document).featurePolicy.allowsFeature(name),
      ),
    );
  assert.deepEqual(await lent(), []);
  await widget.getByText('What the model sees').click();
  const wishes = widget.getByRole('button', { name: 'Allow the widgets of clerk' });
  await wishes.nth(1).waitFor();
  assert.deepEqual(await wishes.evaluateAll((them) => them.map((it) => it.ariaLabel)), [
    'Allow the widgets of clerk: Microphone',
    'Allow the widgets of clerk: Writing to the clipboard',
  ]);
  for (const { name, options } of looks.filter((it) => it.wide === (it.options.colorScheme === 'light'))) {
    await guest.page.emulateMedia({ colorScheme: options.colorScheme });
    await guest.page.setViewportSize(options.viewport);
    await wishes.last().scrollIntoViewIfNeeded();
    await inspect(guest, `widget-wishes-${name}`);
  }
  await wishes.last().click();
  await eventually(async () => assert.deepEqual(await lent(), ['clipboard-write']));
  assert.equal(await widget.locator('iframe').getAttribute('allow'), 'clipboard-write *');
  await eventually(async () => {
    const greeting = (await heard()).find((it) => it.id === 0);
    assert.deepEqual(greeting?.result.hostCapabilities.sandbox.permissions, { clipboardWrite: {} });
  });
  await context.close();
});

test('a widget is there while its call is written, and hears of it in order', async () => {
  const { context, guest, heard, frame } = await enter();
  const [some, more] = [held(), held()];
  const args = ['{"city":"Py', 'los","days":[1,', '2]}'];
  model.will({ calls: [{ name: 'clerk', args, gates: [some.gate, more.gate] }] }, 'Filed.');
  await guest.say('File this.');
  const told = async () => {
    const all = (await heard()).filter((it) => it.method?.startsWith('ui/notifications/tool-'));
    return all.map(({ method, params }) => [method.slice('ui/notifications/'.length), params]);
  };
  const first = ['tool-input-partial', { arguments: { city: 'Py' } }];
  await eventually(async () => assert.deepEqual(await told(), [first]));
  await (await frame()).evaluate(() => (/** @type {any} */ (window).mark = 'same'));
  some.open();
  const second = ['tool-input-partial', { arguments: { city: 'Pylos', days: [1] } }];
  await eventually(async () => assert.deepEqual(await told(), [first, second]));
  more.open();
  const whole = { city: 'Pylos', days: [1, 2] };
  const result = { content: [{ type: 'text', text: `filed ${JSON.stringify(whole)}` }] };
  const end = [['tool-input', { arguments: whole }], ['tool-result', result]];
  await eventually(async () => {
    const all = await told();
    // The last piece may be told by itself, or only with the whole.
    const last = all.length === 5 ? [['tool-input-partial', { arguments: whole }]] : [];
    assert.deepEqual(all, [first, second, ...last, ...end]);
  });
  conforms((await heard()).filter((it) => it.method).map((it) => ({ in: it })));
  await guest.idle();
  assert.equal(await (await frame()).evaluate(() => /** @type {any} */ (window).mark), 'same', 'it was never loaded anew');
  assert.deepEqual(guest.complaints, []);
  await context.close();
});

test('widgets of the older dialect lend tools to the agent, where they hear questions, and add to what it knows', async () => {
  const { context, guest, widget, inside } = await enter('Lent');
  const views = async () => {
    const session = new URL(guest.page.url()).searchParams.get('session');
    return (await (await context.request.get(`${server.url}/api/sessions/${session}/widgets`)).json()).views;
  };
  const of = async (name) => (await views()).find((it) => it.tool === name);
  model.will({ calls: [{ name: 'lent', args: {} }, { name: 'brought', args: {} }] }, 'There.');
  await guest.ask('Show both.');
  await inside.getByText('ready').waitFor();
  const old = guest.page.getByLabel('Widget of Brought', { exact: true });
  await old.locator('iframe').contentFrame().getByText('{}').waitFor();
  await old.getByText('What the model sees').click();
  await old.getByText('cannot be called: the widget answers no questions').waitFor();
  /** @type {string} */
  let offered = '';
  await eventually(async () => {
    const { tools } = await of('lent');
    assert.deepEqual(tools.map((it) => it.name), ['greet']);
    offered = tools[0].offered;
  });
  model.will({ calls: [{ name: offered, args: { name: 'Nestor' } }] }, 'He was greeted.');
  await guest.ask('Greet Nestor.');
  await inside.getByText('hello Nestor').waitFor();
  const { messages, tools } = model.asked.at(-1);
  const known = tools.map((it) => it.function.name);
  assert.deepEqual([known.includes(offered), known.some((it) => it.endsWith('old'))], [true, false]);
  const told = JSON.stringify(messages);
  assert.ok(told.includes('greeted Nestor'), told);
  assert.match(told, /seat[^}]*window[^}]*drink[^}]*wine/);
  await widget.getByText('What the model sees').click();
  await widget.getByText('Greets somebody').waitFor();
  assert.deepEqual(guest.complaints, []);
  await context.close();
});
