// Everything by keyboard: the commands, the shortcuts, the help, and themes in step in every tab.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { Server } from './server.mjs';
import { eventually, focused, launch, signIn, visit } from './visit.mjs';

let server, browser, remembered, context, guest, palette;

before(async () => {
  server = await Server.fresh();
  browser = await launch();
  remembered = await signIn(browser, server);
});
after(async () => {
  await browser?.close();
  await server?.end();
});
beforeEach(async () => {
  context = await browser.newContext({ storageState: remembered, colorScheme: 'light' });
  guest = await visit(context, server.url);
  palette = guest.page.getByRole('combobox', { name: 'Commands' });
  await guest.connected();
});
afterEach(async () => {
  const { complaints } = guest;
  await context.close();
  assert.deepEqual(complaints, [], 'the console complained');
});

const heading = (name) => guest.page.getByRole('heading', { level: 1, name });
const press = (...keys) =>
  keys.reduce((before, key) => before.then(() => guest.page.keyboard.press(key)), Promise.resolve());
const leaveField = async () => {
  await press('Escape');
  await eventually(async () => assert.equal(await guest.page.evaluate(() => document.activeElement?.tagName), 'BODY'));
};
const paper = (page) => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
const LIGHT = 'rgb(251, 249, 245)';
const DARK = 'rgb(22, 20, 18)';

async function command(text) {
  await press('Control+k');
  await palette.fill(text);
  await press('Enter');
  await palette.waitFor({ state: 'detached' });
}

test('commands are found by a few letters and carried out by Enter', async () => {
  await guest.ask('A message to a friend');
  await command('models');
  await heading('Models').waitFor();
  await command('friend');
  await guest.mine.getByText('A message to a friend').waitFor();
  await command('rename');
  await guest.page.getByRole('textbox', { name: 'Name' }).fill('Letters');
  await press('Enter');
  await heading('Letters').waitFor();
  await command('mode auto');
  await guest.page.getByRole('button', { name: 'Mode: Auto-safe' }).waitFor();
  await command('new session');
  await heading('New session').waitFor();
  await guest.page.getByRole('link', { name: 'Letters' }).click();
  await command('delete');
  await guest.page.getByText('Deleted “Letters”.').waitFor();
});

test('the arrow keys choose, Escape closes, and the focus is where it was', async () => {
  await guest.box.focus();
  await press('Control+k');
  const chosen = guest.page.locator('[role=option][aria-selected=true]');
  const first = await chosen.innerText();
  await press('ArrowDown');
  await eventually(async () => assert.notEqual(await chosen.innerText(), first));
  await press('ArrowUp');
  await eventually(async () => assert.equal(await chosen.innerText(), first));
  assert.equal(await palette.getAttribute('aria-activedescendant'), await chosen.getAttribute('id'));
  await press('Escape');
  await palette.waitFor({ state: 'detached' });
  await focused(guest.box);
});

test('letters are letters while one writes, and shortcuts otherwise', async () => {
  await guest.box.pressSequentially('go to n?');
  assert.equal(await guest.box.inputValue(), 'go to n?');
  await leaveField();
  await press('g', 'm');
  await heading('Models').waitFor();
  await press('g', ',');
  await heading('Settings').waitFor();
  await press('?');
  const help = guest.page.getByRole('dialog', { name: 'Shortcuts' });
  await help.getByRole('row', { name: 'New session with folder and model Shift N' }).waitFor();
  await press('Escape');
  await help.waitFor({ state: 'detached' });
  await guest.page.getByRole('switch', { name: /^Shortcuts of one key/ }).click();
  await guest.page.getByRole('switch', { name: /^Shortcuts of one key/ }).evaluate((it) => it.blur());
  await press('g', 'm');
  await press('Control+k');
  await palette.waitFor();
  await press('Escape');
  await heading('Settings').waitFor();
});

test('what opens while another dialog closes stays open', async () => {
  await command('shortcuts');
  await guest.page.getByRole('dialog', { name: 'Shortcuts' }).waitFor();
  // The browser tells that it was closed a moment later.
  const told = await guest.page.evaluate(() => {
    const help = /** @type {HTMLDialogElement} */ (document.querySelector('dialog'));
    const told = new Promise((tell) => help.addEventListener('close', () => setTimeout(tell)));
    help.close();
    window.dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true }));
    return told.then(() => true);
  });
  assert.ok(told);
  assert.equal(await palette.count(), 1);
});

test('the help lists every shortcut that the commands have', async () => {
  await leaveField();
  await press('?');
  const help = guest.page.getByRole('dialog', { name: 'Shortcuts' });
  await help.getByRole('row').first().waitFor();
  const rows = await help.getByRole('row').allInnerTexts();
  await press('Escape');
  await help.waitFor({ state: 'detached' });
  await press('Control+k');
  const offered = guest.page.locator('[role=option]:has(kbd)');
  await offered.first().waitFor();
  const keys = await offered.allInnerTexts();
  const name = (text) => text.split(/[\n\t]/)[0].replace('…', '');
  const helped = new Set(rows.map(name));
  assert.deepEqual(
    keys.map(name).filter((it) => !helped.has(it)),
    [],
  );
});

test('a theme is kept, is there before anything is drawn, and is the same in every tab', async () => {
  const second = await visit(context, `${server.url}/?view=settings`);
  assert.equal(await paper(guest.page), LIGHT);
  await second.page.getByRole('radio', { name: 'Dark' }).check();
  await eventually(async () => assert.equal(await paper(guest.page), DARK));
  await context.route('**/assets/*.js', (route) => route.abort());
  await guest.page.reload();
  assert.equal(await paper(guest.page), DARK, 'without the page itself');
  await context.unroute('**/assets/*.js');
  await guest.page.goto(`${server.url}/docs`);
  assert.equal(await paper(guest.page), DARK, 'on the other page as well');
  await second.page.getByRole('radio', { name: 'As the system' }).check();
  await eventually(async () => assert.equal(await paper(guest.page), LIGHT));
  await guest.page.emulateMedia({ colorScheme: 'dark' });
  await eventually(async () => assert.equal(await paper(guest.page), DARK));
  guest.foresee(/ERR_FAILED/);
});

test('the last answer is copied', async () => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await guest.ask('/tool current_time {}');
  await command('copy last');
  await guest.page.getByText('Copied.').waitFor();
  assert.match(await guest.page.evaluate(() => navigator.clipboard.readText()), /^`current_time` ok/);
});

test('who signs out must sign in again', async () => {
  await command('sign out');
  await guest.page.waitForURL('**/login');
  await guest.page.goto(server.url);
  await guest.page.getByRole('textbox', { name: /key/i }).waitFor();
  guest.foresee(/401/);
});

test('the skip link leads past the list', async () => {
  const skip = guest.page.getByRole('link', { name: 'Skip to the conversation' });
  assert.equal(
    await guest.page.evaluate(() => document.querySelector('a, button, input, textarea')?.className),
    await skip.getAttribute('class'),
  );
  await skip.focus();
  await press('Enter');
  await focused(guest.page.locator('main'));
  await press('Tab');
  await eventually(async () =>
    assert.equal(await guest.page.evaluate(() => document.activeElement?.closest('main')?.id), 'content'),
  );
});
