// The list of sessions: begun where one likes, found again, renamed, deleted and called back.
import assert from 'node:assert/strict';
import { mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { Server } from './server.mjs';
import { eventually, focused, launch, signIn, visit } from './visit.mjs';

let server, browser, remembered, context, guest, porch;

before(async () => {
  server = await Server.fresh();
  porch = join(await realpath(server.home), 'porch');
  await mkdir(porch);
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
});
afterEach(async () => {
  const { complaints } = guest;
  await context.close();
  assert.deepEqual(complaints, [], 'the console complained');
});

const row = (name) => guest.sessions.getByRole('link', { name });
const gone = (name) => row(name).waitFor({ state: 'detached' });
const toast = (text) =>
  guest.page.getByRole('region', { name: 'Messages' }).getByRole('listitem').filter({ hasText: text });
const path = () => new URL(guest.page.url()).search;

/** The names of all sessions that the server has. */
function names() {
  return guest.page.evaluate(async () => {
    const { grouped } = await (await fetch('/api/sessions')).json();
    return Object.values(grouped)
      .flat()
      .map((it) => it.name || it.summary);
  });
}

async function options(name, deed) {
  await row(name).hover();
  const item = guest.sessions.getByRole('listitem').filter({ has: guest.page.getByRole('link', { name }) });
  await item.getByRole('button', { name: 'Options' }).click();
  await guest.page.getByRole('menuitem', { name: deed }).click();
}

test('a session begins in the folder and with the model that were chosen', async () => {
  await guest.page.getByRole('button', { name: 'Choose folder and model' }).click();
  const dialog = guest.page.getByRole('dialog', { name: 'Begin a session' });
  await dialog.getByLabel('Folder').fill('/no/such/place');
  await dialog.getByRole('button', { name: 'Begin' }).click();
  await dialog.getByRole('alert').filter({ hasText: 'Path does not exist: /no/such/place' }).waitFor();
  guest.foresee(/400/);
  await dialog.getByLabel('Folder').fill(porch);
  await dialog.getByLabel('Model').selectOption('Demo (built in)');
  await dialog.getByLabel('Mode', { exact: true }).selectOption('Auto-safe');
  await dialog.getByLabel('Folder').press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await guest.page.getByRole('button', { name: 'Mode: Auto-safe' }).waitFor();
  await guest.sessions.getByRole('heading', { name: /^porch/ }).waitFor();
  await guest.ask('On the porch');
  await row('On the porch').waitFor();
  await guest.sessions.getByRole('button', { name: 'Begin in porch' }).click();
  await eventually(async () => assert.equal(await dialog.getByLabel('Folder').inputValue(), porch));
});

test('sessions are found by what they are called, where they work and what was said first', async () => {
  await guest.ask('A poem about rain');
  await guest.sessions.getByRole('button', { name: 'New session' }).click();
  await guest.ask('A recipe for bread');
  const search = guest.sessions.getByRole('searchbox', { name: 'Search sessions' });
  await search.fill('POEM rain');
  await gone('A recipe for bread');
  await guest.page.getByText('One session matches').waitFor();
  await search.fill('porch');
  await gone('A poem about rain');
  await row('On the porch').waitFor();
  await search.fill('nothing like it');
  await guest.page.getByText('No session matches “nothing like it”.').waitFor();
  await search.fill('poem');
  await row('A poem about rain').waitFor();
  await search.press('ArrowDown');
  await focused(row('A poem about rain'));
  await guest.page.keyboard.press('Enter');
  await guest.mine.getByText('A poem about rain').waitFor();
  await search.press('Escape');
  await row('A recipe for bread').waitFor();
});

test('a session is renamed from the list, and the focus returns', async () => {
  await guest.ask('Call me something');
  await row('Call me something').press('F2');
  await guest.page.getByRole('textbox', { name: 'Name' }).fill('Something');
  await guest.page.getByRole('textbox', { name: 'Name' }).press('Enter');
  await row('Something').waitFor();
  await focused(row('Something'));
});

test('deleted sessions come back while there is time, several at once', async () => {
  const { clock } = guest.page;
  await clock.install();
  for (const name of ['Keep me', 'Lose me']) {
    await guest.sessions.getByRole('button', { name: 'New session' }).click();
    await guest.ask(name);
  }
  // The time to think twice stands still, however slow this machine is.
  await clock.pauseAt(Date.now() + 10_000);
  await options('Keep me', 'Delete');
  await options('Lose me', 'Delete');
  await gone('Keep me');
  await gone('Lose me');
  assert.equal(path(), '', 'what is on show is not what was deleted');
  assert.ok((await names()).includes('Lose me'), 'it is not gone yet');
  await guest.page.getByRole('button', { name: 'Undo deleting Keep me' }).click();
  await row('Keep me').waitFor();
  await clock.resume();
  await guest.mine.getByText('Keep me').waitFor();
  await clock.fastForward(8_000);
  await toast('Deleted “Lose me”.').waitFor({ state: 'detached' });
  await eventually(async () => assert.ok(!(await names()).includes('Lose me')));
  assert.ok((await names()).includes('Keep me'));
});

test('what was deleted is gone when the page is left', async () => {
  await guest.ask('Left behind');
  await guest.page.getByRole('button', { name: 'Delete session' }).click();
  await toast('Deleted “Left behind”.').waitFor();
  await guest.page.goto(`${server.url}/docs`);
  await guest.page.getByRole('main').waitFor();
  await eventually(async () => assert.ok(!(await names()).includes('Left behind')));
});

test('a session at work is not deleted, and that is said', async () => {
  await guest.say('/slow 50\n/long 400');
  await guest.answers.first().waitFor();
  await guest.page.getByRole('button', { name: 'Delete session' }).click();
  await toast('is at work. Stop it first').waitFor();
  await guest.stop.click();
  await guest.idle();
});

test('back and forward go between sessions and places, and what belongs to others stays in the address', async () => {
  await guest.page.goto(`${server.url}/?applet=calculator`);
  await guest.ask('The first stop');
  const first = path();
  assert.match(first, /^\?session=.*&applet=calculator$/);
  await guest.sessions.getByRole('link', { name: 'Models' }).click();
  await guest.page.getByRole('heading', { level: 1, name: 'Models' }).waitFor();
  await guest.sessions.getByRole('link', { name: 'Settings' }).click();
  await guest.page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
  await eventually(async () => assert.match(await guest.page.title(), /Settings · Megaron$/));
  await row('On the porch').click();
  await guest.mine.getByText('On the porch').waitFor();
  await guest.page.goBack();
  await guest.page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
  await guest.page.goBack();
  await guest.page.goBack();
  await guest.mine.getByText('The first stop').waitFor();
  assert.equal(path(), first);
  await guest.page.goForward();
  await guest.page.getByRole('heading', { level: 1, name: 'Models' }).waitFor();
  assert.match(path(), /applet=calculator/);
});
