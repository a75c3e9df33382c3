// A person talks to the demo model in a real browser, against a real server.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { Server } from './server.mjs';
import { eventually, launch, signIn, visit } from './visit.mjs';

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
beforeEach(async () => {
  context = await browser.newContext({ storageState: remembered });
  guest = await visit(context, server.url);
});
afterEach(async () => {
  const { complaints } = guest;
  await context.close();
  assert.deepEqual(complaints, [], 'the console complained');
});

test('a message typed and sent with Enter is answered', async () => {
  await guest.box.fill('Hello there');
  await guest.box.press('Enter');
  await guest.finished.first().waitFor();
  assert.deepEqual(await guest.mine.allInnerTexts(), ['Hello there']);
  assert.notEqual((await guest.answers.first().innerText()).trim(), '');
  assert.match(guest.page.url(), /\?session=./);
  assert.equal(await guest.box.inputValue(), '');
});

test('the answer grows while it is being written', async () => {
  await guest.page.evaluate(() => {
    const lengths = new Set();
    new MutationObserver(() => {
      const answer = document.querySelector('[role=log] article[aria-label=Answer]');
      if (answer?.textContent) lengths.add(answer.textContent.length);
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
    Object.assign(window, { lengths });
  });
  await guest.ask('/slow 100\n/long 30');
  const lengths = await guest.page.evaluate(() => [.../** @type {any} */ (window).lengths]);
  assert.ok(lengths.length > 5, `it was drawn with ${lengths.length} different lengths`);
  assert.deepEqual(
    lengths,
    lengths.toSorted((a, b) => a - b),
    'it never shrank',
  );
});

test('Shift and Enter makes a new line and does not send', async () => {
  await guest.box.fill('one');
  await guest.box.press('Shift+Enter');
  await guest.box.pressSequentially('two');
  assert.equal(await guest.box.inputValue(), 'one\ntwo');
});

test('a reload keeps the conversation and doubles nothing', async () => {
  await guest.ask('First question');
  await guest.ask('Second question');
  const told = await guest.told();
  await guest.page.reload();
  await eventually(async () => assert.deepEqual(await guest.told(), told));
  assert.deepEqual(await guest.mine.allInnerTexts(), ['First question', 'Second question']);
});

test('stopping ends the turn before it is done', async () => {
  await guest.say('/slow 100\n/long 400');
  await guest.answers.first().waitFor();
  await guest.stop.click();
  await guest.idle();
  await guest.log.getByText(/cancelled/i).waitFor();
  assert.ok((await guest.answers.first().innerText()).split(/\s+/).length < 400);
  await guest.ask('Still there?');
});

test('a tool call is a card that opens to what it was given and gave', async () => {
  await guest.ask('/tool list_directory {"path":"."}');
  const card = guest.log.locator('details', { hasText: 'list_directory' });
  await card.locator('summary', { hasText: 'done' }).click();
  assert.match(await card.getByRole('group', { name: 'Arguments of list_directory' }).innerText(), /"path": "\."/);
  assert.match(await card.getByRole('group', { name: 'Result of list_directory' }).innerText(), /guests\.txt/);
});

test('a failed turn says so in the conversation', async () => {
  await guest.say('/fail bad_key');
  await guest.log.getByText('Something went wrong.').waitFor();
  await guest.idle();
});

test('sessions are listed, renamed and deleted', async () => {
  await guest.ask('Something to name');
  const link = guest.sessions.locator('[aria-current=page]');
  await link.getByText('Something to name').waitFor();

  await guest.page.getByRole('button', { name: 'Rename session' }).click();
  await guest.page.getByRole('textbox', { name: 'Name' }).fill('A better name');
  await guest.page.getByRole('button', { name: 'Rename', exact: true }).click();
  await link.getByText('A better name').waitFor();

  await guest.sessions.getByRole('button', { name: 'New session' }).click();
  await eventually(async () => assert.equal(new URL(guest.page.url()).search, ''));
  await guest.sessions.getByRole('link', { name: 'A better name' }).click();
  await guest.mine.getByText('Something to name').waitFor();

  await guest.page.getByRole('button', { name: 'Delete session' }).click();
  await guest.sessions.getByRole('link', { name: 'A better name' }).waitFor({ state: 'detached' });
  await guest.log.getByText('What shall we do?').waitFor();
});

test('who is signed out meanwhile is told so and shown the way back', async () => {
  await guest.ask('Before signing out');
  await context.clearCookies();
  await guest.say('After signing out');
  await guest.log.getByText('Not sent').waitFor();
  assert.equal(await guest.page.getByRole('link', { name: 'Sign in' }).getAttribute('href'), '/login');
  guest.foresee(/401/);
});
