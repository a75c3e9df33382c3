// Questions while windows cover the conversation: they are seen and answered there, and go with the window that asked.
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { inspect, looks } from './inspect.mjs';
import { Server } from './server.mjs';
import { eventually, launch, signIn, visit } from './visit.mjs';
import { Windows } from './windows.mjs';

let server, browser, remembered, context, guest, windows;

/** An applet that wants to run a command as soon as its button is pressed. */
const asker = {
  'meta.json': JSON.stringify({ slug: 'asker', name: 'Asker', permissions: ['shell'] }),
  'content.html': '<h1>Asker</h1><button onclick="wish()">Wish</button><p id="answer">nothing yet</p>',
  'script.js': `
    expose('wish', async () => {
      const headers = { 'Content-Type': 'application/json' };
      const reply = await fetch('/api/shell', { method: 'POST', headers, body: '{"command":"true"}' });
      document.getElementById('answer').textContent = String(reply.status);
    });`,
};

before(async () => {
  server = await Server.fresh();
  const folder = join(server.home, 'data', 'applets', 'asker');
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(asker)) await writeFile(join(folder, name), text);
  browser = await launch();
  remembered = await signIn(browser, server);
});
after(async () => {
  await browser?.close();
  await server?.end();
});

async function come(options) {
  context = await browser.newContext({ storageState: remembered, ...options });
  guest = await visit(context, server.url);
  windows = new Windows(guest);
  await guest.ask('Hello');
}

afterEach(async () => {
  const { complaints } = guest;
  await context.close();
  assert.deepEqual(complaints, [], 'the console complained');
});

const narrow = looks.find((look) => !look.wide)?.options;
const approvals = () => guest.page.getByRole('region', { name: 'Approvals' });

/** Lets the agent of the session on show write a file, without leaving the window. */
function order(name) {
  return guest.page.evaluate(async (name) => {
    const id = new URLSearchParams(location.search).get('session');
    const prompt = `/tool write_file ${JSON.stringify({ path: name, content: 'hi' })}`;
    const headers = { 'Content-Type': 'application/json' };
    await fetch(`/api/sessions/${id}/messages`, { method: 'POST', headers, body: JSON.stringify({ prompt }) });
  }, name);
}

async function openAsker() {
  await windows.apps.click();
  await guest.page.getByRole('menuitem', { name: /Asker/ }).click();
  const content = windows.region('Asker').frameLocator('iframe');
  await content.getByRole('button', { name: 'Wish' }).waitFor();
  return content;
}

for (const look of looks) {
  test(`a question is answered over the window, ${look.name}`, async () => {
    await come(look.options);
    await windows.open();
    if (look.wide) await windows.region().getByRole('button', { name: 'Maximise Notice board' }).click();
    const file = `${look.name}.txt`;
    await order(file);
    const card = windows.area.getByRole('article', { name: `Writing ${file}` });
    await card.getByText('The agent asks for').waitFor();
    assert.equal(await approvals().count(), 1, 'in one place only');
    await inspect(guest, `covered-${look.name}`);
    await card.getByRole('button', { name: 'Allow', exact: true }).click();
    await approvals().waitFor({ state: 'detached' });
    await eventually(async () => {
      const focused = await guest.page.evaluate(() => document.activeElement?.getAttribute('aria-label'));
      assert.equal(focused, 'Notice board', 'the window has the focus again');
    });
    await windows.ready();
    if (look.wide) await windows.region().getByRole('button', { name: 'Restore Notice board' }).click();
    else await guest.page.getByRole('button', { name: 'Back to the chat' }).click();
    await guest.log.getByText('Allowed once').waitFor();
  });
}

describe('what an applet has asked', () => {
  test('is answered beside it on a narrow screen', async () => {
    await come(narrow);
    const content = await openAsker();
    await content.getByRole('button', { name: 'Wish' }).click();
    const card = windows.area.getByRole('article', { name: 'The applet Asker wants to run commands' });
    await card.getByRole('button', { name: 'Allow', exact: true }).click();
    await content.locator('#answer').getByText('200').waitFor();
  });

  test('leaves the inbox with its window', async () => {
    await come({ viewport: { width: 1280, height: 800 } });
    const content = await openAsker();
    await content.getByRole('button', { name: 'Wish' }).click();
    const card = approvals().getByRole('article', { name: 'The applet Asker wants to run commands' });
    await card.waitFor();
    await windows.region('Asker').getByRole('button', { name: 'Close Asker' }).click();
    await card.waitFor({ state: 'detached' });
    await eventually(async () => {
      const open = await guest.page.evaluate(async () => (await (await fetch('/api/approvals')).json()).approvals);
      assert.deepEqual(open, []);
    });
  });

  test('leaves the inbox when the page is left', async () => {
    await come({ viewport: { width: 1280, height: 800 } });
    const content = await openAsker();
    await content.getByRole('button', { name: 'Wish' }).click();
    await approvals().getByRole('article').waitFor();
    await guest.page.goto('about:blank');
    await guest.page.goto(server.url);
    await eventually(async () => {
      const open = await guest.page.evaluate(async () => (await (await fetch('/api/approvals')).json()).approvals);
      assert.deepEqual(open, []);
    });
  });
});
