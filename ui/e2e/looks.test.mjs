// The pages in light and dark, wide and narrow: reachable for everybody, and pictured for whoever looks after them.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { inspect, looks } from './inspect.mjs';
import { Server } from './server.mjs';
import { focused, launch, signIn, visit } from './visit.mjs';

let server, browser, remembered, conversation;

before(async () => {
  server = await Server.fresh();
  await writeFile(join(server.workspace, 'AGENTS.md'), '# Manners\n\nGreet every guest by name.\n');
  browser = await launch();
  remembered = await signIn(browser, server);
  const context = await browser.newContext({ storageState: remembered });
  const guest = await visit(context, server.url);
  await guest.ask('What can you do for me in this folder?');
  await guest.ask('/reason\n/tool list_directory {"path":"."}\n/tool no_such_tool {}');
  await guest.page.getByRole('button', { name: 'Sum up now' }).click();
  await guest.log.getByText('Earlier messages were summed up').waitFor();
  await guest.idle();
  conversation = guest.page.url();
  await context.close();
});
after(async () => {
  await browser?.close();
  await server?.end();
});

const places = {
  approvals: 'Nothing waits for you',
  schedules: 'Nothing is scheduled',
  desktop: 'No desktop is connected',
  devices: 'No device is paired yet',
  tools: 'There is none yet',
  models: 'For new sessions',
  settings: 'Allowed without asking',
};

/** Where there is little room, what can be done with a session is behind one button. */
async function deed(guest, name) {
  const button = guest.page.getByRole('button', { name });
  const more = guest.page.getByRole('main').getByRole('button', { name: 'More' });
  await button.or(more).first().waitFor();
  if (await button.isVisible()) return button.click();
  await more.click();
  await guest.page.getByRole('menuitem', { name }).click();
}

for (const { name: look, wide, options } of looks) {
  describe(`in ${look}`, () => {
    let context;
    before(async () => {
      context = await browser.newContext({ storageState: remembered, ...options });
    });
    // A page that is left open goes on working, and makes the next one slower.
    afterEach(() => Promise.all(context.pages().map((page) => page.close())));
    after(() => context.close());

    test('the start page', async () => {
      const guest = await visit(context, server.url);
      await guest.log.getByText('What shall we do?').waitFor();
      await guest.connected();
      await inspect(guest, `start-${look}`);
    });

    test('a conversation with an opened card', async () => {
      const guest = await visit(context, conversation);
      await guest.finished.nth(1).waitFor();
      await guest.connected();
      await guest.log.locator('summary', { hasText: 'list_directory' }).click();
      await inspect(guest, `conversation-${look}`);
    });

    test('a summary of the past, unfolded', async () => {
      const guest = await visit(context, conversation);
      await guest.connected();
      await guest.log.locator('summary', { hasText: 'Earlier messages were summed up' }).click();
      await inspect(guest, `summary-${look}`);
    });

    test('a turn at work with a message waiting', async () => {
      const guest = await visit(context, server.url);
      // Longer than anybody looks at it.
      await guest.say('/slow 50\n/long 4000');
      await guest.answers.first().waitFor();
      await guest.say('And then tell me about the porch.');
      await guest.log.getByText('Waiting for its turn').waitFor();
      await inspect(guest, `working-${look}`);
      await guest.stop.click();
      await guest.finished.nth(1).waitFor();
      await guest.idle();
    });

    test('a deleted session that can be called back', async () => {
      const guest = await visit(context, server.url);
      await guest.ask('Not for long');
      await deed(guest, 'Delete session');
      const undo = guest.page.getByRole('button', { name: 'Undo deleting Not for long' });
      await undo.waitFor();
      await inspect(guest, `deleted-${look}`);
    });

    for (const [view, words] of Object.entries(places)) {
      test(`the place for ${view}`, async () => {
        const guest = await visit(context, `${server.url}/?view=${view}`);
        await guest.page.getByRole('main').getByText(words).first().waitFor();
        await guest.connected();
        await inspect(guest, `${view}-${look}`);
      });
    }

    test('the commands, the shortcuts and a new session', async () => {
      const guest = await visit(context, conversation);
      await guest.finished.first().waitFor();
      await guest.page.keyboard.press('Control+k');
      await guest.page
        .getByRole('option', { name: /^New session/ })
        .first()
        .waitFor();
      await inspect(guest, `palette-${look}`);
      await guest.page.getByRole('combobox', { name: 'Commands' }).fill('shortcuts');
      await guest.page.keyboard.press('Enter');
      const help = guest.page.getByRole('dialog', { name: 'Shortcuts' });
      await help.waitFor();
      await inspect(guest, `help-${look}`);
      await guest.page.keyboard.press('Escape');
      await help.waitFor({ state: 'detached' });
      await guest.page.keyboard.press('Control+k');
      await guest.page.getByRole('combobox', { name: 'Commands' }).fill('new folder');
      await guest.page.keyboard.press('Enter');
      await guest.page.getByRole('dialog', { name: 'Begin a session' }).waitFor();
      await inspect(guest, `begin-${look}`);
    });

    test('what the agent is told', async () => {
      const guest = await visit(context, conversation);
      await deed(guest, 'What the agent is told');
      await guest.page.getByRole('textbox', { name: 'From you, to every agent' }).waitFor();
      await inspect(guest, `told-${look}`);
      await guest.page.locator('summary', { hasText: 'This session' }).click();
      await guest.page.locator('summary', { hasText: 'Tools' }).click();
      await inspect(guest, `told-open-${look}`);
    });

    test('the API reader', async () => {
      const guest = await visit(context, `${server.url}/docs`);
      await guest.page.getByRole('main').getByRole('heading', { level: 3 }).first().waitFor();
      await inspect(guest, `docs-${look}`);
    });

    if (!wide) {
      test('the drawer opens, and Escape closes it and returns the focus', async () => {
        const guest = await visit(context, conversation);
        await guest.finished.first().waitFor();
        const menu = guest.page.getByRole('button', { name: 'Show sessions' });
        assert.equal(await guest.sessions.isVisible(), false);
        await menu.click();
        await guest.sessions.getByRole('button', { name: 'New session' }).waitFor();
        await inspect(guest, `drawer-${look}`);
        await guest.page.keyboard.press('Escape');
        await guest.sessions.waitFor({ state: 'hidden' });
        await focused(menu);
      });
    }
  });
}
