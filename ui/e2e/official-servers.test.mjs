// Published servers with widgets, as their authors made them, in the conversation: drawn, at work, and used by the agent.
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { inspect } from './inspect.mjs';
import { overHttp } from './official/reached.mjs';
import { conforms, record, recorded } from './official/schema.mjs';
import { binary, Server } from './server.mjs';
import { eventually, launch, signIn, visit } from './visit.mjs';

const peers = join(dirname(binary), '..', 'peers', 'node_modules', '@modelcontextprotocol');
const programOf = (name) => join(peers, name, 'dist', 'index.js');
const table = (name, program) =>
  `[mcp.servers.${name}]\ncommand = "node"\nargs = [${JSON.stringify(programOf(program))}, "--stdio"]\n`;
const config = [
  table('budget', 'server-budget-allocator'),
  table('monitor', 'server-system-monitor'),
  table('debug', 'server-debug'),
].join('\n');
let clock, server, browser, remembered, context, guest;

before(async () => {
  clock = await overHttp(programOf('server-basic-vanillajs'));
  server = await Server.fresh(`${config}\n[mcp.servers.clock]\nurl = "${clock.url}"\n`);
  browser = await launch();
  remembered = await signIn(browser, server);
});
after(async () => {
  await browser?.close();
  await server?.end();
  clock?.end();
});
beforeEach(async () => {
  context = await browser.newContext({ storageState: remembered, colorScheme: 'light' });
  await record(context);
  guest = await visit(context, server.url);
  await eventually(async () => {
    const servers = new Set((await api('/api/widgets')).widgets.map((it) => it.server));
    assert.deepEqual([...servers].toSorted(), ['budget', 'clock', 'debug', 'monitor']);
  });
});
afterEach(() => context.close());

const api = async (path) => (await guest.page.request.get(`${server.url}${path}`)).json();
const approvals = () => guest.page.getByRole('region', { name: 'Approvals' });
const allow = () => approvals().getByRole('button', { name: 'Allow', exact: true }).first().click();

/** Calls a tool, and gives back its widget. */
async function show(tool, name) {
  await guest.say(`/tool ${tool} {}`);
  await allow();
  await guest.idle();
  const widget = guest.log.getByRole('region', { name: `Widget of ${name}` });
  return { widget, inside: widget.locator('iframe').contentFrame() };
}

/** What the server knows of the widget that was shown last. */
async function view() {
  const session = new URL(guest.page.url()).searchParams.get('session');
  return (await api(`/api/sessions/${session}/widgets`)).views[0];
}

test('the agent changes a budget by a tool that the widget defines, and the widget shows it', async () => {
  const { widget, inside } = await show('get-budget-data', 'Get budget data');
  await inside.getByText('Marketing').first().waitFor();
  /** @type {string} */
  let offered = '';
  await eventually(async () => {
    const { tools } = await view();
    assert.deepEqual(tools.map((it) => it.name).toSorted(), [
      'get-allocations',
      'get-benchmark-comparison',
      'set-allocation',
      'set-company-stage',
      'set-total-budget',
    ]);
    offered = tools.find((it) => it.name === 'set-allocation').offered;
  });
  await widget.getByText('What the model sees').click();
  await widget.getByText('set-allocation').waitFor();
  const share = inside.locator('[data-category-id="marketing"] .percent');
  assert.notEqual(await share.textContent(), '42.0%');
  await guest.say(`/tool ${offered} {"categoryId": "marketing", "percent": 200}`);
  await guest.log.getByText(/200 is greater than the maximum of 100/).first().waitFor();
  await guest.idle();
  assert.notEqual(await share.textContent(), '42.0%');
  await guest.say(`/tool ${offered} {"categoryId": "marketing", "percent": 42}`);
  await eventually(async () => assert.equal(await share.textContent(), '42.0%'));
  await guest.idle();
  await inspect(guest, 'widget-budget');
  // It goes, as it may by itself, and its tools with it.
  const leaving = { jsonrpc: '2.0', method: 'ui/notifications/request-teardown', params: {} };
  await (await frameOf(widget)).evaluate((leaving) => parent.postMessage(leaving, '*'), leaving);
  await widget.getByText('The widget was closed.').waitFor();
  await eventually(async () => assert.deepEqual((await view()).tools, []));
  await guest.say(`/tool ${offered} {"categoryId": "marketing", "percent": 43}`);
  await guest.log.getByText(`Tool '${offered}' does not exist.`).first().waitFor();
  await guest.idle();
  // Shown again it lends them again; nobody shows it where nobody looks.
  await widget.getByRole('button', { name: 'Show it again' }).click();
  await eventually(async () => assert.equal((await view()).tools.length, 5));
  const session = new URL(guest.page.url()).searchParams.get('session');
  await guest.sessions.getByRole('button', { name: 'New session' }).click();
  await eventually(async () => assert.deepEqual((await api(`/api/sessions/${session}/widgets`)).views[0].tools, []));
});

test('a server that is reached over HTTP has its widget shown as one that was started here', async () => {
  const { widget, inside } = await show('get-time', 'Get time');
  const time = inside.locator('#server-time');
  await eventually(async () => assert.match((await time.textContent()) ?? '', /\d{4}-\d\d-\d\dT/));
  const first = await time.textContent();
  await inside.getByRole('button', { name: 'Get Server Time' }).click();
  await allow();
  await eventually(async () => {
    const now = (await time.textContent()) ?? '';
    assert.ok(/\d{4}-\d\d-\d\dT/.test(now) && now !== first, now);
  });
  const frame = await frameOf(widget);
  const { wire, asked } = await answered(frame);
  conforms(wire);
  assert.deepEqual([asked[0].method, asked[0].id], ['ui/initialize', 0]);
  const heard = wire.flatMap((it) => it.in ?? []).filter((it) => !/context-changed|partial/.test(it.method ?? ''));
  const called = asked.find((it) => it.method === 'tools/call');
  assert.deepEqual(
    heard.map((it) => it.method ?? it.id),
    [0, 'ui/notifications/tool-input', 'ui/notifications/tool-result', called.id],
  );
  assert.equal(heard[2].params.content[0].text, first);
  // As tall as it says that it is.
  await eventually(async () => {
    const told = (await answered(frame)).wire.filter((it) => it.out?.method === 'ui/notifications/size-changed');
    const box = await widget.locator('iframe').boundingBox();
    assert.equal(Math.round(box?.height ?? 0), Math.round(told.at(-1)?.out.params.height));
  });
  assert.deepEqual(guest.complaints, []);
});

/** What a view asked and was answered so far, by method, oldest first. */
async function answered(frame) {
  const wire = await recorded(guest.page, frame);
  const answers = new Map(wire.filter((it) => it.in?.method === undefined).map((it) => [it.in?.id, it.in]));
  const asked = wire.filter((it) => it.out?.method && it.out.id !== undefined).map((it) => it.out);
  return { wire, asked: asked.map((it) => ({ ...it, answer: answers.get(it.id) })) };
}

const frameOf = async (widget) => (await widget.locator('iframe').elementHandle()).contentFrame();

test('a widget that keeps asking its server is answered each time, and each time is on record', async () => {
  const { widget, inside } = await show('get-system-info', 'Get system info');
  const frame = await frameOf(widget);
  await eventually(async () => {
    if (await approvals().getByText(/poll.system.stats/i).first().isVisible()) await allow();
    const { asked } = await answered(frame);
    assert.ok(asked.filter((it) => it.method === 'tools/call' && it.answer?.result).length >= 2);
  });
  await inside.locator('#memory-percent').filter({ hasText: /\d+%/ }).waitFor();
  await eventually(async () => {
    const { asked } = await answered(frame);
    const done = asked.filter((it) => it.method === 'tools/call' && it.answer).length;
    const kept = (await view()).calls.filter((it) => it.method === 'tools/call' && it.outcome === 'done').length;
    assert.equal(kept, done);
  });
});

test('what a published widget can do, it can do here', async () => {
  const { widget, inside } = await show('debug-tool', 'Debug tool');
  await inside.locator('#event-log').getByText('ontoolresult').first().waitFor();
  const frame = await frameOf(widget);
  // From within: what is scrolled out of sight draws no pictures, and would be waited for until it does.
  const press = (id) => frame.locator(`#${id}`).evaluate((it) => /** @type {HTMLElement} */ (it).click());
  const fill = (id, value) => frame.locator(`#${id}`).evaluate((it, value) => void Object.assign(it, value), value);
  /** For good: it also calls a tool to write down each thing that happens. */
  const allowAll = async () => {
    const headers = { origin: new URL(server.url).origin };
    for (const { id } of (await api('/api/approvals')).approvals)
      await context.request.post(`${server.url}/api/approvals/${id}`, { headers, data: { decision: 'always' } });
  };
  /** Presses a button, and gives back what it asked for and was answered, with whatever leave that takes. */
  const ask = async (id, method, name) => {
    const before = (await answered(frame)).asked.length;
    await press(id);
    return eventually(async () => {
      await allowAll();
      const { asked } = await answered(frame);
      const mine = asked.slice(before).find((it) => it.method === method && it.params.name === name);
      assert.ok(mine?.answer, `${id}: ${JSON.stringify(asked.slice(before))}`);
      return mine.answer;
    });
  };
  for (const level of ['debug', 'info', 'warning', 'error']) await press(`log-${level}-btn`);
  for (const kind of ['structured', 'text'])
    assert.deepEqual((await ask(`update-context-${kind}-btn`, 'ui/update-model-context')).result, {});
  await widget.getByText('What the model sees').click();
  await widget.getByText((await view()).context.text.split('\n').at(-1)).first().waitFor();
  const modes = { fullscreen: 'dialog', pip: 'region', inline: 'region' };
  for (const [mode, role] of Object.entries(modes)) {
    assert.deepEqual((await ask(`display-${mode}-btn`, 'ui/request-display-mode')).result, { mode });
    await guest.page.getByRole(/** @type {any} */ (role), { name: 'Widget of Debug tool' }).waitFor();
  }
  await fill('link-url', { value: 'http://127.0.0.1:1/' });
  assert.deepEqual((await ask('open-link-btn', 'ui/open-link')).result, {});
  await fill('tool-content-type', { value: 'mixed' });
  await fill('tool-include-meta', { checked: true });
  const { result } = await ask('call-debug-tool-btn', 'tools/call', 'debug-tool');
  assert.deepEqual(result.content, [
    { type: 'text', text: 'Mixed content: text block' },
    { type: 'image', data: result.content[1].data, mimeType: 'image/png' },
    { type: 'audio', data: result.content[2].data, mimeType: 'audio/wav' },
  ]);
  assert.deepEqual(
    result.content.slice(1).map((it) => Buffer.from(it.data, 'base64').toString('latin1').slice(0, 4)),
    ['\x89PNG', 'RIFF'],
  );
  assert.equal(result._meta.debugInfo.serverVersion, '1.0.0');
  assert.equal(result.structuredContent.config.contentType, 'mixed');
  // One that is for widgets only.
  assert.ok((await ask('call-debug-refresh-btn', 'tools/call', 'debug-refresh')).result.structuredContent);

  // Another look of the page is told once.
  const looks = async () =>
    (await answered(frame)).wire.filter((it) => it.in?.method?.endsWith('host-context-changed') && it.in.params.theme);
  assert.deepEqual(await looks(), []);
  await guest.page.emulateMedia({ colorScheme: 'dark' });
  await eventually(async () => assert.deepEqual((await looks()).map((it) => it.in.params.theme), ['dark']));
  assert.deepEqual((await ask('send-message-text-btn', 'ui/message')).result, {});
  await guest.idle();
  assert.equal((await looks()).length, 1);
  const methods = conforms((await answered(frame)).wire);
  assert.ok(['ui/open-link', 'notifications/message', 'ui/message'].every((it) => methods.has(it)), [...methods].join());
});
