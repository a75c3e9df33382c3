// Whatever keeps a widget from working has a name, which stands in its place, on record, and in what the agent reads.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { inspect, looks } from './inspect.mjs';
import { ScriptedModel } from './scripted.mjs';
import { Server } from './server.mjs';
import { eventually, launch, signIn, visit } from './visit.mjs';

const program = join(import.meta.dirname, 'hostile-server.mjs');
let server, browser, model, remembered;

before(async () => {
  model = await ScriptedModel.start();
  const table = `[mcp.servers.hostile]\ncommand = "node"\nargs = [${JSON.stringify(program)}]\ntrusted = true\n`;
  server = await Server.fresh(`${model.config}${table}`);
  browser = await launch();
  remembered = await signIn(browser, server);
});
after(async () => {
  await browser?.close();
  await server?.end();
  await model?.end();
});

/** A page in which the model calls these tools, and how to find the widget of each. */
async function shown(...names) {
  const context = await browser.newContext({ storageState: remembered, ...looks[0]?.options });
  const guest = await visit(context, server.url);
  const api = async (path) => (await context.request.get(`${server.url}${path}`)).json();
  await eventually(async () => {
    const known = (await api('/api/widgets')).widgets.map(({ tool }) => tool);
    assert.ok(names.every((name) => known.includes(name)));
  });
  model.will({ calls: names.map((name) => ({ name, args: {} })) }, 'Look.');
  await guest.ask('Show me.');
  const widget = (name) => guest.log.getByRole('region', { name: `Widget of ${name[0].toUpperCase()}${name.slice(1)}` });
  const session = () => new URL(guest.page.url()).searchParams.get('session');
  const views = async () => (await api(`/api/sessions/${session()}/widgets`)).views;
  return { context, guest, widget, views, session };
}

test('what is wrong with a widget is called by its name, in its place, on record and to the agent', async () => {
  const faults = {
    mistyped: ['wrong-mime', 'the widget is of type `text/plain`, and text/html;profile=mcp-app was expected'],
    reaching: ['csp-blocked', 'connect-src https://x.example'],
    broken: ['script-error', 'Uncaught Error: the pot is cracked'],
    rude: ['init-rejected', 'its ui/initialize was answered with error -32602'],
    mute: ['no-initialized', 'it did not say that it is ready within 10 seconds'],
    silent: ['no-initialize', 'it did not say ui/initialize within 15 seconds'],
  };
  const { context, guest, widget, views } = await shown(...Object.keys(faults));
  guest.foresee(/x\.example|Content Security Policy|cracked|409/i);
  const carded = async (name) => {
    const [verdict, detail] = faults[name];
    const card = widget(name).getByRole('alert');
    await card.getByText(verdict, { exact: true }).waitFor();
    assert.ok((await card.innerText()).includes(detail), `${name}: ${await card.innerText()}`);
  };
  for (const name of ['mistyped', 'reaching', 'broken', 'rude']) await carded(name);
  // Meanwhile the others are still waited for.
  for (const { name, options } of looks.filter((it) => it.wide === (it.options.colorScheme === 'light'))) {
    await guest.page.emulateMedia({ colorScheme: options.colorScheme });
    await guest.page.setViewportSize(options.viewport);
    await widget('mistyped').scrollIntoViewIfNeeded();
    await inspect(guest, `widget-verdicts-${name}`);
  }
  for (const name of ['mute', 'silent']) await carded(name);
  // What can be seen all the same is seen, and nothing is an empty box.
  const frames = Object.keys(faults).map(async (name) => [name, await widget(name).locator('iframe').count()]);
  const seen = { mistyped: 0, reaching: 1, broken: 1, rude: 0, mute: 0, silent: 0 };
  assert.deepEqual(Object.fromEntries(await Promise.all(frames)), seen);
  model.will('I see.');
  await guest.ask('What happened?');
  const told = JSON.stringify(model.asked.at(-1).messages);
  for (const [verdict, detail] of Object.values(faults)) assert.ok(told.includes(`${verdict}: ${detail}`), `${verdict} in ${told}`);
  const record = new Map((await views()).map(({ tool, verdict }) => [tool, verdict.verdict]));
  // The one that only wanted to reach too far works.
  const named = Object.entries(faults).map(([name, [verdict]]) => [name, name === 'reaching' ? 'ok' : verdict]);
  assert.deepEqual(Object.fromEntries(record), Object.fromEntries(named));
  // Whoever wants to see for themselves is let.
  await widget('silent').getByRole('button', { name: 'Load it again' }).click();
  await widget('silent').locator('iframe').contentFrame().getByText('It has nothing to say.').waitFor();
  assert.equal(await widget('silent').getByRole('alert').count(), 0);
  await context.close();
});

test('a widget that breaks down is not a blank place', async () => {
  const { context, guest, widget, views, session } = await shown('victim');
  const frame = widget('victim').locator('iframe');
  await frame.contentFrame().getByText('greeted by megaron').waitFor();
  // To the driver of the browser a page is gone with any of its frames; to itself it is not.
  const eyes = await context.newCDPSession(guest.page);
  const look = async (expression) => (await eyes.send('Runtime.evaluate', { expression, returnByValue: true })).result.value;
  const own = await context.newCDPSession(await (await frame.elementHandle()).contentFrame());
  // Nobody is left to answer this.
  own.send('Page.crash').catch(() => {});
  const card = `document.querySelector('[aria-label="Widget of Victim"] [role=alert]')`;
  await eventually(async () => assert.match((await look(`${card}?.innerText`)) ?? '', /crashed it no longer answers/));
  await eventually(async () => assert.equal((await views())[0].verdict.verdict, 'crashed'));
  model.will('I see.');
  const before = model.asked.length;
  const headers = { origin: new URL(server.url).origin };
  await context.request.post(`${server.url}/api/sessions/${session()}/messages`, { headers, data: { prompt: 'And now?' } });
  await eventually(async () => assert.equal(model.asked.length, before + 1));
  assert.ok(JSON.stringify(model.asked.at(-1).messages).includes('crashed: it no longer answers'));
  await look(`${card}.querySelector('button').click()`);
  await eventually(async () => assert.equal((await views())[0].verdict.verdict, 'ok'));
  assert.equal(await look(`${card} === null`), true);
  await context.close();
});
