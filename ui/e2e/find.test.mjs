// Looking for words in a session, and going to where they were said, however far back that is.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { inspect, looks } from './inspect.mjs';
import { Server } from './server.mjs';
import { eventually, launch, signIn, visit } from './visit.mjs';

const FACTS = 12_000;
/** The number of a turn of long ago. */
const OLD = 307;

let server, browser, remembered, session, context, guest;

before(async () => {
  server = await Server.fresh('', async (server) => {
    session = await server.remember(FACTS);
  });
  browser = await launch();
  remembered = await signIn(browser, server);
});
after(async () => {
  await browser?.close();
  await server?.end();
});
afterEach(async () => {
  const { complaints } = guest;
  await context.close();
  assert.deepEqual(complaints, [], 'the console complained');
});

async function come(options = {}) {
  context = await browser.newContext({ storageState: remembered, viewport: { width: 1280, height: 800 }, ...options });
  guest = await visit(context, `${server.url}/?session=${session.sessionId}`);
  await question(session.turns).waitFor();
}

const question = (number) =>
  guest.log.getByRole('article', { name: 'You' }).getByText(`Question ${number}`, { exact: true });
const dialog = () => guest.page.getByRole('dialog', { name: 'Search this session' });
const field = () => dialog().getByRole('combobox');
const found = () => dialog().getByRole('option');

test('a word of long ago leads to the place where it was said', async () => {
  await come();
  await guest.log.focus();
  await guest.page.keyboard.press('f');
  await field().fill(`question ${OLD}`);
  await found().filter({ hasText: `Question ${OLD}` }).filter({ hasText: 'Message' }).click();
  await dialog().waitFor({ state: 'detached' });
  await question(OLD).waitFor();
  await eventually(async () => {
    const at = await guest.page.evaluate((old) => {
      const row = document.activeElement;
      const log = document.querySelector('[role="log"]');
      return [row?.textContent?.includes(`Question ${old}`), row && log && row.getBoundingClientRect().top - log.getBoundingClientRect().top];
    }, OLD);
    assert.equal(at[0], true, 'it has the focus');
    assert.ok(Math.abs(at[1]) < 120, `it is in sight, ${at[1]} px from the top`);
  });
});

test('by keys alone, and nothing is found where there is nothing', async () => {
  await come();
  await guest.page.getByRole('button', { name: 'Search this session' }).click();
  await field().fill('nobody ever said this');
  await dialog().getByText('Nothing found.').waitFor({ timeout: 60_000 });
  await field().fill(`answer ${session.turns}`);
  await found().first().waitFor();
  await guest.page.keyboard.press('ArrowDown');
  await guest.page.keyboard.press('ArrowUp');
  assert.equal(await found().first().getAttribute('aria-selected'), 'true');
  await guest.page.keyboard.press('Enter');
  await dialog().waitFor({ state: 'detached' });
  await eventually(async () => {
    const text = await guest.page.evaluate(() => document.activeElement?.textContent ?? '');
    assert.match(text, new RegExp(`Answer ${session.turns}`));
  });
});

for (const look of looks) {
  test(`looks: ${look.name}`, async () => {
    await come(look.options);
    await guest.page.keyboard.press('Control+k');
    await guest.page.getByRole('combobox', { name: 'Commands' }).fill('search this');
    await guest.page.keyboard.press('Enter');
    await field().fill('answer');
    await found().nth(5).waitFor();
    await inspect(guest, `find-${look.name}`);
    await guest.page.keyboard.press('Enter');
    await dialog().waitFor({ state: 'detached' });
    await eventually(async () => {
      assert.ok(await guest.page.evaluate(() => document.activeElement?.classList.contains('found')));
    });
    await inspect(guest, `found-${look.name}`);
  });
}
