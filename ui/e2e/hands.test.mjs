// What agents with more tools than ours show and ask, as recorded: in light and dark, wide and narrow, and how it is answered.
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { inspect, looks } from './inspect.mjs';
import * as recorded from './recorded.mjs';
import { Server } from './server.mjs';
import { eventually, focused, launch, signIn, visit } from './visit.mjs';

let server, browser, remembered, context, session;

before(async () => {
  server = await Server.fresh();
  browser = await launch();
  remembered = await signIn(browser, server);
  const setting = await browser.newContext({ storageState: remembered });
  const guest = await visit(setting, server.url);
  await guest.ask('Prepare the feast for tonight');
  session = new URL(guest.page.url()).searchParams.get('session');
  await setting.close();
});
after(async () => {
  await browser?.close();
  await server?.end();
});
afterEach(() => context?.close());

/** A browser in which the server answers as recorded; what it was asked to do is noted. */
async function enter(options = {}) {
  context = await browser.newContext({ storageState: remembered, ...options });
  const wishes = [];
  let open = recorded.approvals(session);
  await context.route('**/api/approvals', (route) => route.fulfill({ json: { approvals: open } }));
  await context.route('**/api/approvals/*', (route) => {
    const id = route.request().url().split('/').pop();
    wishes.push(route.request().postDataJSON());
    open = open.filter((it) => it.id !== id);
    return route.fulfill({ json: { verdict: 'answered', approvalId: id } });
  });
  await context.route('**/api/grants', (route) => route.fulfill({ json: { grants: recorded.grants(session) } }));
  await context.route('**/api/mcp/servers', (route) => {
    if (route.request().method() === 'GET') return route.fulfill({ json: { servers: recorded.servers() } });
    wishes.push(route.request().postDataJSON());
    return route.fulfill({ json: { ok: true } });
  });
  await context.route('**/api/mcp/servers/**', (route) => {
    const { pathname } = new URL(route.request().url());
    if (pathname.endsWith('/logs'))
      return route.fulfill({ json: { lines: [{ at: '2026-05-05T10:00:00Z', text: 'listening on stdio' }] } });
    wishes.push([route.request().method(), pathname.replace('/api/mcp/servers/', ''), route.request().postDataJSON()]);
    return route.fulfill({ json: { ok: true } });
  });
  return wishes;
}

const card = (guest, title) =>
  guest.page.getByRole('region', { name: 'Approvals' }).getByRole('article', { name: title });
const press = (where, name) => where.getByRole('button', { name, exact: true }).click();

/** Opens the session, as if it were at work, on a socket into which events can be slipped. */
async function overhear(about, mode = 'ask') {
  await context.route('**/api/sessions', async (route) => {
    const response = await route.fetch();
    const answer = await response.json();
    for (const it of Object.values(answer.grouped).flat()) Object.assign(it, { isBusy: true, mode });
    await route.fulfill({ response, json: answer });
  });
  let slip;
  const page = await context.newPage();
  await page.routeWebSocket('**/ws', (socket) => {
    socket.connectToServer();
    slip = (type, data) => {
      const event = { type, data, id: crypto.randomUUID(), timestamp: new Date().toISOString(), ephemeral: true };
      socket.send(JSON.stringify({ type: 'event', sessionId: session, event }));
    };
  });
  const guest = await visit(context, about, page);
  await guest.finished.first().waitFor();
  await guest.connected();
  return { guest, slip: (...args) => slip(...args) };
}

const plan = {
  id: 'p1',
  title: 'Prepare the feast',
  steps: [
    { text: 'Count the guests', status: 'done' },
    { text: 'Ask for the weather', status: 'skipped' },
    { text: 'Write the list of dishes', status: 'active' },
    { text: 'Lay the tables in the hall and on the porch', status: 'pending' },
  ],
};

for (const { name: look, wide, options } of looks) {
  describe(`in ${look}`, () => {
    test('all that waits, at once', async () => {
      await enter({ ...options, viewport: { width: options.viewport.width, height: wide ? 2900 : 3700 } });
      const guest = await visit(context, `${server.url}/?view=approvals`);
      await card(guest, 'Signing in to the calendar').waitFor();
      await guest.connected();
      await inspect(guest, `inbox-${look}`);
    });

    test('leave for longer, and a reason', async () => {
      await enter(options);
      const guest = await visit(context, `${server.url}/?view=approvals`);
      const asked = card(guest, 'Running git push');
      await press(asked, 'For longer');
      await asked.getByRole('radio', { name: /^For this pattern/ }).check();
      await press(asked, 'Give a reason');
      await guest.connected();
      await inspect(guest, `longer-${look}`);
    });

    test('a conversation with a plan, tools at work and a question', async () => {
      await enter(options);
      const { guest, slip } = await overhear(`${server.url}/?session=${session}`, wide ? 'full' : 'auto-safe');
      slip('task.created', { task: plan });
      slip('tool.execution_start', { toolCallId: 'c1', toolName: 'edit_file', arguments: { path: 'notes/guests.md' } });
      slip('permission.requested', { approval: { id: 'q1', toolCallId: 'c1', title: 'Editing notes/guests.md' } });
      slip('permission.completed', { approvalId: 'q1', verdict: 'allowed', scope: 'session', by: 'the terminal' });
      slip('tool.execution_complete', { toolCallId: 'c1', success: true, result: { content: recorded.diff } });
      slip('tool.execution_start', { toolCallId: 'c2', toolName: 'shell', arguments: { command: 'make feast' } });
      slip('tool.execution_partial_result', { toolCallId: 'c2', partialOutput: 'laying table 1\nlaying table 2\n' });
      slip('tool.execution_progress', { toolCallId: 'c2', progressMessage: 'laying tables', progress: 2, total: 5 });
      await guest.page.getByRole('progressbar').waitFor();
      await guest.log.locator('summary', { hasText: 'edit_file' }).click();
      await guest.log.evaluate((it) => (it.scrollTop = it.querySelector('progress').offsetTop - 460));
      await inspect(guest, `hands-${look}`);
      await guest.log.evaluate((it) => (it.scrollTop = it.scrollHeight));
      await inspect(guest, `asked-${look}`);
    });

    test('the mode, and a second word for Full', async () => {
      await enter(options);
      const guest = await visit(context, `${server.url}/?session=${session}`);
      await guest.page.getByRole('button', { name: /^Mode/ }).click();
      const dialog = guest.page.getByRole('dialog');
      await dialog.getByRole('radio', { name: /^Full/ }).check();
      await inspect(guest, `mode-${look}`);
      await press(dialog, 'Use this mode');
      await dialog.getByText('Let it do everything?').waitFor();
      await inspect(guest, `full-${look}`);
    });

    test('servers of tools, and the settings', async () => {
      await enter({ ...options, viewport: { width: options.viewport.width, height: wide ? 1500 : 1900 } });
      const guest = await visit(context, `${server.url}/?view=tools`);
      await guest.page.getByRole('article', { name: 'files' }).locator('summary', { hasText: '1 of 2 tools' }).click();
      await guest.page.getByRole('article', { name: 'weather' }).locator('summary', { hasText: 'Log' }).click();
      await guest.page.getByText('listening on stdio').waitFor();
      await press(guest.page, 'Add a server');
      await guest.connected();
      await inspect(guest, `tools-${look}`);
      await guest.page.goto(`${server.url}/?view=settings`);
      await guest.connected();
      await guest.page.getByRole('button', { name: 'Revoke shell' }).click();
      await guest.page.getByRole('button', { name: 'Undo revoking shell' }).waitFor();
      await inspect(guest, `settings-${look}`);
      await guest.page.getByRole('button', { name: 'Undo revoking shell' }).click();
    });

    test('where nothing waits', async () => {
      context = await browser.newContext({ storageState: remembered, ...options });
      const guest = await visit(context, `${server.url}/?view=approvals`);
      await guest.page.getByText('Nothing waits for you').waitFor();
      await guest.connected();
      await inspect(guest, `nothing-${look}`);
    });
  });
}

test('every kind of question is answered in its own way', async () => {
  const wishes = await enter();
  const guest = await visit(context, `${server.url}/?view=approvals`);
  const command = card(guest, 'Running git push');
  assert.match(await command.innerText(), /git push origin main --follow-tags\s+not sandboxed\s+in \/home\/me\/feast/);
  await card(guest, 'Running make test').getByText('sandboxed: it is locked in its folder').waitFor();
  await press(command, 'For longer');
  await command.getByRole('radio', { name: /^For this pattern/ }).check();
  await press(command, 'git *');
  await command.getByRole('combobox', { name: 'Where it holds' }).selectOption('in every session');
  await command.getByRole('combobox', { name: 'How long' }).selectOption('for 1 hour');
  await press(command, 'Allow what is like this');
  await command.waitFor({ state: 'detached' });
  // The answered card took the focus with it, and the next one has it now.
  await focused(card(guest, 'Running make test').getByRole('button', { name: 'Allow', exact: true }));

  const long = card(guest, 'Editing a.md');
  const lines = long.getByRole('group', { name: 'Changes to a.md' }).locator('.line');
  assert.equal(await lines.count(), 20);
  await press(long, 'Show all 49 lines');
  await eventually(async () => assert.equal(await lines.count(), 49));
  await press(long, 'Deny');

  const form = card(guest, 'Booking a table');
  await press(form, 'Answer');
  await form.getByText('This is needed.').waitFor();
  const name = form.getByRole('textbox', { name: /^Name/ });
  await focused(name);
  await name.fill('Nestor');
  await form.getByRole('combobox', { name: /^Seat/ }).selectOption('On the porch');
  await form.getByRole('checkbox', { name: /quiet/ }).check();
  await press(form, 'Answer');
  await form.waitFor({ state: 'detached' });

  const visiting = card(guest, 'Signing in to the calendar');
  const way = visiting.getByRole('link', { name: 'Open in a new tab' });
  assert.deepEqual(await way.evaluate((it) => [it.href, it.target, it.rel]), [
    'https://accounts.example.com/authorize?client=megaron',
    '_blank',
    'noopener noreferrer',
  ]);
  await press(visiting, 'It is done');
  await visiting.waitFor({ state: 'detached' });
  assert.deepEqual(wishes, [
    { decision: 'pattern', pattern: 'git *', scope: 'always', expiresInSeconds: 3600 },
    { decision: 'deny' },
    { decision: 'answer', answer: { name: 'Nestor', guests: 2, seat: 'porch', quiet: true } },
    { decision: 'answer', answer: 'done' },
  ]);
  assert.deepEqual(guest.complaints, []);
});

test('an address that is no web page cannot be opened, and a schema that is no list of fields is answered in JSON', async () => {
  const wishes = await enter();
  const [first] = recorded.approvals(session);
  const base = { ...first, detail: undefined, kind: 'link', text: 'Please' };
  const open = [
    { ...base, id: 'a', title: 'A trap', url: 'javascript:alert(1)' },
    {
      ...base,
      id: 'b',
      title: 'A list',
      kind: 'form',
      schema: { type: 'object', properties: { a: { type: 'array' } } },
    },
  ];
  await context.route('**/api/approvals', (route) => route.fulfill({ json: { approvals: open } }));
  const guest = await visit(context, `${server.url}/?view=approvals`);
  await card(guest, 'A trap').getByText('javascript:alert(1)').waitFor();
  assert.equal(await card(guest, 'A trap').locator('a[target]').count(), 0);
  const values = card(guest, 'A list').getByRole('textbox', { name: 'Values, as JSON' });
  await values.fill('[1]');
  await press(card(guest, 'A list'), 'Answer');
  await card(guest, 'A list').getByText('It must be an object').waitFor();
  await values.fill('{"a": [1]}');
  await press(card(guest, 'A list'), 'Answer');
  await eventually(() => assert.deepEqual(wishes, [{ decision: 'answer', answer: { a: [1] } }]));
});

test('what a tool prints is followed, unless the reader has scrolled up', async () => {
  await enter();
  const { guest, slip } = await overhear(`${server.url}/?session=${session}`);
  const print = (from, to) => {
    const partialOutput = Array.from({ length: to - from }, (_, at) => `line ${from + at}\n`).join('');
    slip('tool.execution_partial_result', { toolCallId: 'c1', partialOutput });
  };
  slip('tool.execution_start', { toolCallId: 'c1', toolName: 'shell', arguments: {} });
  print(0, 100);
  const output = guest.log.getByRole('group', { name: 'Output of shell' });
  const rest = () => output.evaluate((it) => it.scrollHeight - it.scrollTop - it.clientHeight);
  await output.getByText('line 99').waitFor();
  await eventually(async () => assert.ok((await rest()) < 2));
  // The page hears of it with the next frame.
  await output.evaluate(async (it) => {
    const heard = new Promise((resolve) => it.addEventListener('scroll', resolve, { once: true }));
    it.scrollTop = 0;
    await heard;
  });
  await eventually(async () => assert.equal(await output.evaluate((it) => it.scrollTop), 0));
  print(100, 200);
  await output.getByText('line 199').waitFor();
  assert.equal(await output.evaluate((it) => it.scrollTop), 0);
  slip('tool.execution_complete', { toolCallId: 'c1', success: true, result: { content: 'all of it' } });
  await output.waitFor({ state: 'detached' });
});

test('servers of tools are switched, restarted, removed and added', async () => {
  const wishes = await enter();
  const guest = await visit(context, `${server.url}/?view=tools`);
  const files = guest.page.getByRole('article', { name: 'files' });
  await files.locator('summary', { hasText: '1 of 2 tools' }).click();
  await files.getByRole('switch', { name: /^wipe/ }).click();
  await files.getByRole('switch', { name: 'Use files' }).click();
  await press(files, 'Restart');
  assert.equal(await files.getByRole('button', { name: 'Remove' }).count(), 0);
  const calendar = guest.page.getByRole('article', { name: 'calendar' });
  assert.equal(await calendar.getByRole('link', { name: 'Sign in' }).getAttribute('rel'), 'noopener noreferrer');
  await press(calendar, 'Remove');
  await press(guest.page.getByRole('dialog'), 'Remove it');
  await press(guest.page, 'Add a server');
  const form = guest.page.getByRole('form', { name: 'New server' });
  await form.getByRole('textbox', { name: 'Name' }).fill('notes');
  await press(form, 'Add');
  await form.getByRole('alert').filter({ hasText: 'Write the command' }).waitFor();
  await form.getByRole('textbox', { name: 'Command' }).fill('npx -y "some server"');
  await press(form, 'Add');
  await form.waitFor({ state: 'detached' });
  assert.deepEqual(wishes, [
    ['PATCH', 'files', { tools: { wipe: true } }],
    ['PATCH', 'files', { enabled: false }],
    ['POST', 'files/restart', null],
    ['DELETE', 'calendar', null],
    { name: 'notes', command: 'npx', args: ['-y', 'some server'] },
  ]);
});

test('where the server has no servers of tools, that is said', async () => {
  context = await browser.newContext({ storageState: remembered });
  await context.route('**/api/mcp/servers', (route) => route.fulfill({ status: 404, json: { error: 'Not found' } }));
  const guest = await visit(context, `${server.url}/?view=tools`);
  await guest.page.getByText('Tool servers are not available').waitFor();
});

test('a hidden page tells the desktop of a new question, once the person has allowed that', async () => {
  context = await browser.newContext({ storageState: remembered, permissions: ['notifications'] });
  await context.addInitScript(() => {
    const told = [];
    class Quiet {
      static permission = 'granted';
      static requestPermission = async () => 'granted';
      constructor(heading, { body, tag }) {
        told.push([heading, body, tag]);
      }
      close() {}
    }
    Object.assign(window, { Notification: Quiet, told });
  });
  let open = [];
  await context.route('**/api/approvals', (route) => route.fulfill({ json: { approvals: open } }));
  let slip;
  const page = await context.newPage();
  await page.routeWebSocket('**/ws', (socket) => {
    socket.connectToServer();
    slip = (count) => {
      const event = { type: 'approvals.changed', data: { sessionId: session, open: count } };
      socket.send(JSON.stringify({ type: 'globalEvent', event }));
    };
  });
  const guest = await visit(context, `${server.url}/?view=settings`, page);
  const all = recorded.approvals(session);
  const arrive = async (count) => {
    open = all.slice(0, count);
    slip(count);
    await guest.sessions.getByRole('link', { name: `Approvals ${count} waiting` }).waitFor();
  };
  const hide = (hidden) =>
    page.evaluate((hidden) => Object.defineProperty(document, 'hidden', { value: hidden, configurable: true }), hidden);
  const told = () => page.evaluate(() => /** @type {any} */ (window).told);
  await guest.connected();
  await hide(true);
  await arrive(1);
  await hide(false);
  await guest.page.getByRole('switch', { name: /^Notifications/ }).click();
  await guest.page.getByText('You are told of a new question').waitFor();
  await arrive(2);
  assert.deepEqual(await told(), [], 'neither before it was allowed nor while the page is seen');
  await hide(true);
  await arrive(3);
  await eventually(async () =>
    assert.deepEqual(await told(), [['An approval is needed', 'Editing notes/guests.md', all[2].id]]),
  );
});
