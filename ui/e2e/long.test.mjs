// A session of fifty thousand events: it opens at its end, is read to its beginning, and never fills the document.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { inspect, looks } from './inspect.mjs';
import { Server } from './server.mjs';
import { eventually, launch, signIn, visit } from './visit.mjs';

const FACTS = 50_000;
/** More than this would not be "what is near": a screen holds some hundred elements. */
const NODES = 3_000;

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
beforeEach(async () => {
  context = await browser.newContext({ storageState: remembered });
  guest = await visit(context, `${server.url}/?session=${session.sessionId}`);
});
afterEach(async () => {
  const { complaints } = guest;
  await context.close();
  assert.deepEqual(complaints, [], 'the console complained');
});

const question = (number) =>
  guest.log.getByRole('article', { name: 'You' }).getByText(`Question ${number}`, { exact: true });
const nodes = () => guest.page.evaluate(() => document.querySelectorAll('*').length);
const scroll = (how) => guest.log.evaluate(how);

/** The numbers of the questions in the document, from top to bottom. */
const numbers = async () => (await guest.mine.allInnerTexts()).map((text) => Number(text.replace('Question ', '')));

async function atTheEnd() {
  await question(session.turns).waitFor();
  await eventually(async () => assert.ok(await scroll((it) => it.scrollHeight - it.scrollTop - it.clientHeight < 2)));
}

test('it opens at its end, with little in the document', async () => {
  await atTheEnd();
  await guest.answers.last().getByText(`Answer ${session.turns}.`).waitFor();
  assert.ok((await nodes()) < NODES, `${await nodes()} elements`);
});

test('Home goes to the first message and End back to the last', async () => {
  await atTheEnd();
  await guest.log.focus();
  await guest.page.keyboard.press('Home');
  await question(1).waitFor();
  await guest.answers.first().getByText('Answer 1.').waitFor();
  assert.ok((await nodes()) < NODES, `${await nodes()} elements`);
  await guest.page.keyboard.press('End');
  await atTheEnd();
  assert.ok((await nodes()) < NODES, `${await nodes()} elements`);
});

test('scrolling up shows every message in order, and leaves what is looked at in its place', async () => {
  await atTheEnd();
  const seen = new Set(await numbers());
  for (let step = 0; step < 150 && !seen.has(session.turns - 60); step += 1) {
    // The topmost message that is seen whole is followed through whatever is fetched and measured around it.
    const moved = await scroll(async (log) => {
      const frames = async (count) => {
        for (; count > 0; count -= 1) await new Promise((drawn) => requestAnimationFrame(drawn));
      };
      log.scrollTop -= 500;
      await frames(1);
      const edge = log.getBoundingClientRect().top;
      const marked = [...log.querySelectorAll('article')].find((it) => it.getBoundingClientRect().top >= edge);
      const before = marked.getBoundingClientRect().top;
      await frames(6);
      return marked.isConnected ? marked.getBoundingClientRect().top - before : NaN;
    });
    assert.ok(Math.abs(moved) <= 1, `what was looked at moved by ${moved} pixels in step ${step}`);
    const now = await numbers();
    assert.deepEqual(
      now,
      now.toSorted((a, b) => a - b),
      'in order',
    );
    for (const number of now) seen.add(number);
  }
  for (let number = session.turns - 60; number <= session.turns; number += 1)
    assert.ok(seen.has(number), `${number} was skipped`);
  assert.ok((await nodes()) < NODES, `${await nodes()} elements`);
});

test('anywhere in the middle can be looked at, and what is far away is let go', async () => {
  await atTheEnd();
  for (const share of [0.5, 0.2, 0.8, 0.35, 0.65, 0.1, 0.9]) {
    await guest.log.evaluate((log, share) => (log.scrollTop = log.scrollHeight * share), share);
    await eventually(async () => {
      const now = await numbers();
      assert.ok(now.length > 0, 'something is shown');
      assert.ok(Math.abs((now[0] ?? 0) / session.turns - share) < 0.15, `${now[0]} is about ${share} of it`);
    });
  }
  assert.ok((await nodes()) < NODES, `${await nodes()} elements`);
});

test('a new answer is spoken, followed at the end, and the way back to it is offered', async () => {
  await atTheEnd();
  await guest.log.focus();
  await guest.page.keyboard.press('PageUp');
  const latest = guest.page.getByRole('button', { name: 'Latest' });
  await latest.waitFor();
  await latest.click();
  await latest.waitFor({ state: 'hidden' });
  const spoken = guest.page.locator('[aria-live=polite]:not([role])');
  assert.equal(await spoken.innerText(), '', 'nothing of the past is news');
  await guest.say('/long 300');
  await guest.log.getByText('/long 300').waitFor();
  await guest.idle();
  const last = guest.answers.last();
  await eventually(async () => assert.equal(await last.getAttribute('aria-busy'), 'false'));
  await eventually(async () => assert.ok(await scroll((it) => it.scrollHeight - it.scrollTop - it.clientHeight < 2)));
  const words = (text) => text.trim().split(/\s+/).slice(0, 5).join(' ');
  await eventually(async () => assert.equal(words((await spoken.textContent()) ?? ''), words(await last.innerText())));
});

describe('it looks well', () => {
  for (const { name, options } of looks) {
    test(`in ${name}, in the middle`, async () => {
      const looked = await browser.newContext({ storageState: remembered, ...options });
      const reader = await visit(looked, `${server.url}/?session=${session.sessionId}`);
      await reader.answers.last().waitFor();
      await reader.connected();
      await reader.log.evaluate((log) => (log.scrollTop = log.scrollHeight / 2));
      await eventually(async () => assert.ok((await reader.mine.count()) > 1));
      await inspect(reader, `long-${name}`);
      await looked.close();
    });
  }
});
