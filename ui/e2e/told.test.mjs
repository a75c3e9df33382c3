// A person reads what the agent is told, and changes their own part of it.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { SmallModel } from './model.mjs';
import { Server } from './server.mjs';
import { eventually, focused, launch, signIn, visit } from './visit.mjs';

let small, server, browser, remembered, context, guest, button, dialog, words;

before(async () => {
  small = await SmallModel.start();
  server = await Server.fresh(`default_model = "box/small"\n${small.config}`);
  await writeFile(join(server.workspace, 'AGENTS.md'), 'Greet every guest by name.\n');
  browser = await launch();
  remembered = await signIn(browser, server);
});
after(async () => {
  await browser?.close();
  await server?.end();
  await small?.end();
});
beforeEach(async () => {
  context = await browser.newContext({ storageState: remembered });
  guest = await visit(context, server.url);
  await guest.ask('Hello there');
  button = guest.page.getByRole('button', { name: 'What the agent is told' });
  dialog = guest.page.getByRole('dialog', { name: 'What the agent is told' });
  words = dialog.getByRole('textbox', { name: 'From you, to every agent' });
});
afterEach(async () => {
  const { complaints } = guest;
  await context.close();
  assert.deepEqual(complaints, [], 'the console complained');
});

/** Gone from the page, and not only out of sight: before that, opening it again would be lost. */
function closed() {
  return guest.page.locator('dialog').waitFor({ state: 'detached' });
}

test('every part is shown with its name and its size', async () => {
  await button.click();
  await words.waitFor();
  const lines = await dialog.locator('summary').allInnerTexts();
  assert.match(lines[0], /^This session\s+[\d,]+ characters$/);
  assert.match(lines[1], /^AGENTS.md of this folder\s+26 characters$/);
  assert.match(lines.at(-1), /^Tools\s+\d+$/);
  await dialog.locator('summary', { hasText: 'AGENTS.md' }).click();
  assert.equal(
    await dialog.getByRole('group', { name: 'AGENTS.md of this folder' }).innerText(),
    'Greet every guest by name.',
  );
});

test('what the person writes is saved, and heeded from the next turn on', async () => {
  await button.click();
  await words.fill('Answer in verse.');
  await dialog.getByText('16 characters').waitFor();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await closed();
  await focused(button);
  await guest.ask('How are you?');
  assert.match(small.asked.at(-1).messages[0].content, /# From the person\n\nAnswer in verse\./);
  await button.click();
  await eventually(async () => assert.equal(await words.inputValue(), 'Answer in verse.'));
  await words.fill('');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await closed();
  await guest.ask('And now?');
  assert.doesNotMatch(small.asked.at(-1).messages[0].content, /From the person/);
});

test('it is used by keyboard alone, and Escape does not throw away what was written', async () => {
  await button.focus();
  await guest.page.keyboard.press('Enter');
  await words.waitFor();
  await guest.page.keyboard.press('Escape');
  await closed();
  await focused(button);
  await guest.page.keyboard.press('Enter');
  await words.focus();
  await guest.page.keyboard.type('Half a thou');
  await guest.page.keyboard.press('Escape');
  await dialog.getByRole('alert').filter({ hasText: 'not saved yet' }).waitFor();
  assert.equal(await words.inputValue(), 'Half a thou');
  await dialog.getByRole('button', { name: 'Cancel' }).press('Enter');
  await closed();
  await focused(button);
  await guest.page.keyboard.press('Enter');
  await words.waitFor();
  assert.equal(await words.inputValue(), '', 'nothing was saved');
});

test('a failure is shown where it happened, and nothing is lost by it', async () => {
  await context.route('**/api/instructions', (route) =>
    route.fulfill({ status: 503, json: { error: 'The disk is full.', code: 'UNAVAILABLE' } }),
  );
  await button.click();
  await words.fill('Answer in verse.');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByRole('alert').filter({ hasText: 'The disk is full.' }).waitFor();
  assert.equal(await words.inputValue(), 'Answer in verse.');
  await words.fill('x'.repeat(32 * 1024 + 1));
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByRole('alert').filter({ hasText: 'more than 32 KiB' }).waitFor();
  guest.foresee(/503/);
});

test('where it cannot be read, that is said, and it can be tried again', async () => {
  await context.route('**/prompt', (route) => route.abort());
  await button.click();
  await dialog.getByRole('alert').filter({ hasText: 'The server cannot be reached.' }).waitFor();
  await context.unroute('**/prompt');
  await dialog.getByRole('button', { name: 'Try again' }).click();
  await words.waitFor();
  guest.foresee(/ERR_FAILED/);
});
