// The same guest, made with the official library, under the official host and under ours: both say the same to it.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { bundle, document } from './official/bundle.mjs';
import { conforms } from './official/schema.mjs';
import { Server } from './server.mjs';
import { eventually, launch, signIn, visit } from './visit.mjs';

const program = join(import.meta.dirname, 'official', 'server.mjs');
let folder, server, browser, remembered, html;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'megaron-guest-'));
  html = document(await bundle('guest.mjs'));
  const file = join(folder, 'guest.html');
  await writeFile(file, html);
  const args = JSON.stringify([program, file]);
  server = await Server.fresh(`[mcp.servers.official]\ncommand = "node"\nargs = ${args}\ntrusted = true\n`);
  browser = await launch();
  remembered = await signIn(browser, server);
});
after(async () => {
  await browser?.close();
  await server?.end();
  await rm(folder, { recursive: true, force: true });
});

/** What went over the wire under the official host. */
async function underReference() {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto('about:blank');
  await page.addScriptTag({ type: 'module', content: await bundle('reference.mjs') });
  const contents = [{ uri: 'ui://official/guest', mimeType: 'text/html;profile=mcp-app', text: html }];
  await page.waitForFunction(() => 'host' in window);
  await page.evaluate(([html, read]) => /** @type {any} */ (window).host(html, read), [html, { contents }]);
  await page.locator('iframe').contentFrame().getByText('finished').waitFor();
  const frame = await (await page.locator('iframe').elementHandle()).contentFrame();
  const wire = await frame.evaluate(() => /** @type {any} */ (window).wire);
  await context.close();
  return wire;
}

/** And under ours, where the person is asked and says yes. */
async function underOurs() {
  const context = await browser.newContext({ storageState: remembered });
  const guest = await visit(context, server.url);
  await eventually(async () => {
    const answer = await guest.page.request.get(`${server.url}/api/widgets`);
    assert.equal((await answer.json()).widgets.length, 1);
  });
  await guest.say('/tool echo {}');
  const widget = guest.page.getByLabel('Widget of Echo').locator('iframe');
  const finished = widget.contentFrame().getByText('finished');
  const headers = { origin: new URL(server.url).origin };
  await eventually(async () => {
    const { approvals } = await (await context.request.get(`${server.url}/api/approvals`)).json();
    for (const { id } of approvals)
      await context.request.post(`${server.url}/api/approvals/${id}`, { headers, data: { decision: 'once' } });
    assert.ok(await finished.isVisible());
  });
  const frame = await (await widget.elementHandle()).contentFrame();
  const wire = await frame.evaluate(() => /** @type {any} */ (window).wire);
  await guest.idle();
  await context.close();
  return wire;
}

const answered = (wire, id) => wire.find((it) => it.in?.id === id && it.in.method === undefined)?.in;
const asked = (wire) => wire.filter((it) => it.out?.method).map((it) => it.out);
const told = (wire) => wire.filter((it) => it.in?.method).map((it) => it.in);

test('a guest of the official library hears the same from us as from the official host', async () => {
  const [theirs, ours] = await Promise.all([underReference(), underOurs()]);
  assert.deepEqual(ours.filter((it) => it.failed), theirs.filter((it) => it.failed));
  assert.deepEqual(asked(ours), asked(theirs), 'the guest had no reason to speak differently');

  // All of it is as it was published, in both directions; what failed is no message.
  const carried = (wire) => wire.filter((it) => !it.failed);
  assert.deepEqual(conforms(carried(ours)), conforms(carried(theirs)));

  // Each answer is the same, but for the greeting, in which each host tells of itself.
  for (const { id, method } of asked(theirs).filter((it) => it.id !== undefined)) {
    if (method === 'ui/initialize') continue;
    assert.deepEqual(answered(ours, id), answered(theirs, id), `${id}: ${method}`);
  }
  const [their, our] = [answered(theirs, 0).result, answered(ours, 0).result];
  assert.deepEqual(Object.keys(our).toSorted(), Object.keys(their).toSorted());
  assert.equal(our.protocolVersion, their.protocolVersion);
  const { sandbox, ...capabilities } = our.hostCapabilities;
  assert.deepEqual([capabilities, sandbox], [their.hostCapabilities, { csp: {}, permissions: {} }]);

  // What nobody asked for comes in the same order: input, result, and each change of how it is shown.
  const shown = (wire) => told(wire).filter((it) => !it.method.includes('host-context') || it.params.displayMode);
  const modes = (wire) => told(wire).flatMap((it) => it.params?.displayMode ?? []);
  assert.deepEqual(modes(ours), modes(theirs));
  const names = (wire) => shown(wire).map((it) => it.method).filter((it) => it.startsWith('ui/notifications/tool'));
  assert.deepEqual(names(ours), names(theirs));
  const input = (wire, method) => told(wire).find((it) => it.method === `ui/notifications/${method}`);
  assert.deepEqual(input(ours, 'tool-input'), input(theirs, 'tool-input'));
  assert.deepEqual(told(ours).find((it) => it.method === 'tools/list')?.params, told(theirs).find((it) => it.method === 'tools/list')?.params);
});
