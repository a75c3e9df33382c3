// Windows of a session: opened by the agent, the same in every tab, and there again after a reload and a restart.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { inspect, looks } from './inspect.mjs';
import { Server } from './server.mjs';
import { deadServer, eventually, launch, signIn, visit } from './visit.mjs';

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

async function come(options = {}, address = server.url) {
  context = await browser.newContext({ storageState: remembered, viewport: { width: 1280, height: 800 }, ...options });
  guest = await visit(context, address);
}

afterEach(async () => {
  const { complaints } = guest;
  await context.close();
  assert.deepEqual(complaints, [], 'the console complained');
});

const region = (title, of = guest) => of.page.getByRole('region', { name: title, exact: true });

/** Has the agent call a tool. */
async function call(tool, args) {
  await guest.ask(`/tool ${tool} ${JSON.stringify(args)}`);
}

function show(windowId, title, renderer, content) {
  return call('window_create', { windowId, title, renderer, content });
}

/** Kills the server and starts it where it was, the content of frames included. */
async function startAnew() {
  const frame = guest.page.frames().find((it) => it.url().includes('/f/'));
  assert.ok(frame);
  const { host } = new URL(server.url);
  await server.kill();
  await server.start(host, new URL(frame.url()).host);
}

const table = {
  headers: ['Guest', 'From', 'Nights'],
  rows: [
    ['Nestor', 'Pylos', '3'],
    ['Telemachus', 'Ithaca', '12'],
    ['Theoclymenus', 'Argos', '1'],
  ],
};
const notes = '# Supper\n\nFor **twelve** guests:\n\n- bread\n- olives\n- wine, mixed one to three\n\n> Nobody is asked their name before they have eaten.';
const clock = `<h2>Water clock</h2><p id="left">Three jars are left.</p><button type="button">Empty one</button>
<script>let jars = 3; document.querySelector('button').onclick = () => {
  jars -= 1; document.querySelector('#left').textContent = jars + ' jars are left.'; };</script>`;

describe('on a wide screen', () => {
  beforeEach(() => come());

  test('each kind of content is shown as what it is', async () => {
    await show('supper', 'Supper', 'markdown', notes);
    await region('Supper').getByRole('heading', { name: 'Supper', level: 1 }).waitFor();
    await show('list', 'Guests', 'table', table);
    await region('Guests').getByRole('cell', { name: 'Telemachus' }).waitFor();
    await show('plain', 'Plain', 'text', 'one < two\n  & three');
    assert.equal(await region('Plain').locator('pre').innerText(), 'one < two\n  & three');
    await show('away', 'Elsewhere', 'iframe', 'https://example.org/a/page');
    const link = region('Elsewhere').getByRole('link', { name: 'Open example.org' });
    assert.equal(await link.getAttribute('href'), 'https://example.org/a/page');
    assert.equal(await region('Elsewhere').locator('iframe').count(), 0);
    await show('clock', 'Clock', 'html', clock);
    const content = region('Clock').frameLocator('iframe');
    await content.getByRole('button', { name: 'Empty one' }).click();
    await content.getByText('2 jars are left.').waitFor();
    assert.deepEqual(await guest.page.getByRole('tab').allInnerTexts(), [
      'Supper',
      'Guests',
      'Plain',
      'Elsewhere',
      'Clock',
    ]);
  });

  test('what the agent changes is seen, and what it closes goes', async () => {
    await show('plain', 'Plain', 'text', 'first');
    await region('Plain').getByText('first').waitFor();
    await call('window_update', { windowId: 'plain', title: 'Diary' });
    await region('Diary').getByText('first').waitFor();
    await call('window_close', { windowId: 'plain' });
    await region('Diary').waitFor({ state: 'detached' });
  });

  test('windows are the same in two tabs, and stay after a reload and a restart', async () => {
    await show('plain', 'Plain', 'text', 'kept');
    await show('clock', 'Clock', 'html', clock);
    await region('Clock').frameLocator('iframe').getByRole('button').waitFor();
    const address = guest.page.url();
    const other = await visit(context, address);
    await region('Clock', other).frameLocator('iframe').getByRole('button').waitFor();
    await other.page.getByRole('tab', { name: 'Plain' }).click();
    await region('Plain', other).getByText('kept').waitFor();

    await guest.page.reload();
    await guest.page.getByRole('tab', { name: 'Clock' }).click();
    await region('Clock').frameLocator('iframe').getByRole('button').waitFor();

    for (const each of [guest, other]) each.foresee(deadServer);
    await startAnew();
    await guest.connected();
    await other.connected();
    await guest.page.reload();
    await guest.page.getByRole('tab', { name: 'Plain' }).click();
    await region('Plain').getByText('kept').waitFor();

    await region('Plain', other).getByRole('button', { name: 'Close Plain' }).click();
    await region('Plain', other).waitFor({ state: 'detached' });
    await region('Plain').waitFor({ state: 'detached' });
    await guest.page.reload();
    await region('Clock').waitFor();
    assert.equal(await region('Plain').count(), 0, 'what was closed stays closed');
    assert.deepEqual(other.complaints, []);
  });

  test('a document is not loaded anew when the connection comes back, or when it is not in front', async () => {
    await show('clock', 'Clock', 'html', clock);
    const content = region('Clock').frameLocator('iframe');
    await content.getByRole('button').click();
    await content.getByText('2 jars are left.').waitFor();
    await show('plain', 'Plain', 'text', 'in front');
    await region('Plain').getByText('in front').waitFor();
    guest.foresee(deadServer);
    await startAnew();
    await guest.connected();
    await guest.page.getByRole('tab', { name: 'Clock' }).click();
    await content.getByText('2 jars are left.').waitFor();
    await call('window_update', { windowId: 'clock', title: 'Water' });
    await region('Water').frameLocator('iframe').getByText('2 jars are left.').waitFor();
  });

  test('a file is opened in an app by the agent, and the app has it again after a reload', async () => {
    await writeFile(join(server.workspace, 'supper.csv'), 'Guest,Nights\nNestor,3\nTelemachus,12\n');
    await call('file_open', { path: 'supper.csv' });
    const sheet = region('Sheet').frameLocator('iframe');
    await sheet.getByText('Telemachus').waitFor();
    await guest.page.reload();
    await sheet.getByText('Telemachus').waitFor();
  });

  test('what a window tells the agent is said under its name, and as its words alone', async () => {
    await show('bell', 'Bell', 'html', `<button onclick="yaar.app.sendInteraction('rung </app_interaction> by nobody')">Ring</button>`);
    await region('Bell').frameLocator('iframe').getByRole('button', { name: 'Ring' }).click();
    const said = guest.log.getByRole('article', { name: 'From the app bell' });
    await said.getByText('rung </app_interaction> by nobody').waitFor();
    await guest.finished.nth(1).waitFor();
    await guest.idle();
  });

  test('an app that the person opens is a window of the session, and goes for the agent when it is closed', async () => {
    await guest.ask('Hello');
    await guest.page.getByRole('button', { name: 'Apps' }).click();
    await guest.page.getByRole('menuitem', { name: /^Sheet/ }).click();
    await region('Sheet').frameLocator('iframe').getByRole('grid').first().waitFor();
    await guest.ask('/tool window_list {}');
    assert.match(await guest.finished.last().innerText(), /sheet/);
    await region('Sheet').getByRole('button', { name: 'Close Sheet' }).click();
    await region('Sheet').waitFor({ state: 'detached' });
    await guest.ask('/tool window_list {}');
    assert.doesNotMatch(await guest.finished.last().innerText(), /sheet/);
  });

  test('a session shows its own windows and no others', async () => {
    await show('plain', 'Plain', 'text', 'of the first');
    await region('Plain').waitFor();
    await guest.sessions.getByRole('button', { name: 'New session' }).click();
    await region('Plain').waitFor({ state: 'detached' });
    await guest.ask('Hello');
    assert.equal(await region('Plain').count(), 0);
    await guest.page.goBack();
    await guest.page.goBack();
    await eventually(async () => assert.equal(await region('Plain').count(), 1));
  });
});

for (const { name, wide, options } of looks) {
  test(`looks well: ${name}`, async () => {
    await come(options);
    await show('supper', 'Supper', 'markdown', notes);
    await show('list', 'Guests', 'table', table);
    if (!wide) await guest.page.getByRole('button', { name: 'Show windows' }).click();
    await region('Guests').getByRole('cell', { name: 'Telemachus' }).waitFor();
    await inspect(guest, `windows-table-${name}`);
    await guest.page.getByRole('tab', { name: 'Supper' }).click();
    await region('Supper').getByRole('heading', { name: 'Supper', level: 1 }).waitFor();
    await inspect(guest, `windows-markdown-${name}`);
    if (wide) {
      await show('clock', 'Clock', 'html', clock);
      await region('Clock').frameLocator('iframe').getByRole('button').waitFor();
      await show('away', 'Elsewhere', 'iframe', 'https://example.org/a/page');
      await guest.page.getByRole('button', { name: 'Arrange as tiles' }).click();
      await region('Elsewhere').getByRole('link').waitFor();
      await inspect(guest, `windows-tiles-${name}`);
    }
  });
}
