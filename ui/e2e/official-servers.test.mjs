// Published servers with widgets, as their authors made them, in the conversation: drawn, at work, and used by the agent.
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { inspect } from './inspect.mjs';
import { binary, Server } from './server.mjs';
import { eventually, launch, signIn, visit } from './visit.mjs';

const peers = join(dirname(binary), '..', 'peers', 'node_modules', '@modelcontextprotocol');
const table = (name, program) =>
  `[mcp.servers.${name}]\ncommand = "node"\nargs = [${JSON.stringify(join(peers, program, 'dist', 'index.js'))}, "--stdio"]\n`;
const config = [
  table('budget', 'server-budget-allocator'),
  table('monitor', 'server-system-monitor'),
  table('debug', 'server-debug'),
].join('\n');
let server, browser, remembered, context, guest;

before(async () => {
  server = await Server.fresh(config);
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
  await eventually(async () => {
    const servers = new Set((await api('/api/widgets')).widgets.map((it) => it.server));
    assert.deepEqual([...servers].toSorted(), ['budget', 'debug', 'monitor']);
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
});

test('a widget that keeps asking its server is answered each time, and each time is on record', async () => {
  const { inside } = await show('get-system-info', 'Get system info');
  await approvals().getByText(/poll.system.stats/i).first().waitFor();
  await allow();
  await eventually(async () => assert.match((await inside.locator('#memory-percent').textContent()) ?? '', /\d+%/));
  const { calls } = await view();
  assert.ok(calls.some((it) => it.method === 'tools/call' && it.outcome === 'done'));
});

test('what a published widget can do, it can do here', async () => {
  const { widget, inside } = await show('debug-tool', 'Debug tool');
  const log = inside.locator('#event-log');
  await log.getByText('ontoolresult').first().waitFor();
  // From within: what is scrolled out of sight draws no pictures, and would be waited for until it does.
  const press = (id) => inside.locator(`#${id}`).evaluate((it) => it.click());
  await press('log-info-btn');
  await press('update-context-text-btn');
  await eventually(async () => assert.ok((await view()).context?.text));
  await widget.getByText('What the model sees').click();
  await widget.getByText((await view()).context.text.split('\n').at(-1)).first().waitFor();
  await press('display-fullscreen-btn');
  const large = guest.page.getByRole('dialog', { name: 'Widget of Debug tool' });
  await large.getByRole('button', { name: 'Back to the conversation' }).click();
  await large.waitFor({ state: 'hidden' });
  await eventually(async () => {
    assert.match((await log.textContent()) ?? '', /onhostcontextchanged/);
  });
});
