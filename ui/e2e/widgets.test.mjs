// A published example of a widget in the conversation: shown beside its result, at work, and there again after a reload and a restart.
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { inspect } from './inspect.mjs';
import { conforms, record, recorded } from './official/schema.mjs';
import { binary, Server } from './server.mjs';
import { deadServer, eventually, launch, signIn, visit } from './visit.mjs';

const peers = join(dirname(binary), '..', 'peers', 'node_modules', '@modelcontextprotocol');
const example = join(peers, 'server-basic-vanillajs', 'dist', 'index.js');
const config = `[mcp.servers.example]\ncommand = "node"\nargs = [${JSON.stringify(example)}, "--stdio"]\n`;
let server, browser, remembered;

before(async () => {
  server = await Server.fresh(config);
  browser = await launch();
  remembered = await signIn(browser, server);
});
after(async () => {
  await browser?.close();
  await server?.end();
});

/** Allows what the person is asked. */
const allow = (guest) =>
  guest.page.getByRole('region', { name: 'Approvals' }).getByRole('button', { name: 'Allow', exact: true }).click();

/** A page in which the tool of the example was called, and its widget. */
async function enter() {
  const context = await browser.newContext({ storageState: remembered });
  await record(context);
  const guest = await visit(context, server.url);
  await eventually(async () => {
    const answer = await guest.page.request.get(`${server.url}/api/widgets`);
    assert.deepEqual((await answer.json()).widgets.map(({ tool }) => tool), ['get-time']);
  });
  await guest.say('/tool get-time {}');
  await allow(guest);
  return { context, guest, widget: guest.log.getByRole('region', { name: 'Widget of Get time' }) };
}

const inside = (widget) => widget.locator('iframe').contentFrame();
const ISO = /\d{4}-\d\d-\d\dT/;

test('a widget shows the result, calls its server once that is allowed, and is there again after a reload and a restart', async () => {
  const { context, guest, widget } = await enter();
  const time = inside(widget).locator('#server-time');
  await eventually(async () => assert.match((await time.textContent()) ?? '', ISO));
  const first = await time.textContent();
  await inside(widget).getByRole('button', { name: 'Get Server Time' }).click();
  await allow(guest);
  await eventually(async () => {
    const now = (await time.textContent()) ?? '';
    assert.match(now, ISO);
    assert.notEqual(now, first);
  });
  const frame = await (await widget.locator('iframe').elementHandle()).contentFrame();
  // How much room there is was told or not, as it happened.
  const methods = [...conforms(await recorded(guest.page, frame))].filter((it) => !/context|size/.test(it));
  assert.deepEqual(methods, [
    'ui/initialize',
    'ui/notifications/initialized',
    'tools/call',
    'ui/notifications/tool-input',
    'ui/notifications/tool-result',
  ]);
  await guest.page.reload();
  await eventually(async () => assert.equal(await time.textContent(), first));
  // And once more after the server was cut off and started anew.
  guest.foresee(deadServer);
  await server.kill();
  await server.restart();
  await guest.page.reload();
  await eventually(async () => assert.equal(await time.textContent(), first));
  await inspect(guest, 'widget-example');
  await context.close();
});
