// A person changes who answers, sees how full the context is, and has the past summed up.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { SmallModel } from './model.mjs';
import { held } from './scripted.mjs';
import { Server } from './server.mjs';
import { eventually, focused, launch, signIn, visit } from './visit.mjs';

let small, server, browser, remembered, context, guest, model;

before(async () => {
  small = await SmallModel.start();
  server = await Server.fresh(small.config);
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
});
afterEach(async () => {
  const { complaints } = guest;
  await context.close();
  assert.deepEqual(complaints, [], 'the console complained');
});

async function enter() {
  guest = await visit(context, server.url);
  await guest.ask('Hello there');
  model = guest.page.getByRole('button', { name: 'Model:' });
}

async function choose(name) {
  await model.click();
  await guest.page.getByRole('option', { name }).click();
}

const chosen = (name) =>
  eventually(async () => assert.equal((await model.innerText()).trim(), `Choose model:\n${name}`));

test('another model is chosen in the header, and answers with the whole past before it', async () => {
  await enter();
  await chosen('Demo (built in)');
  await model.click();
  await guest.page.getByRole('option', { name: 'Demo (built in)', selected: true }).waitFor();
  const groups = guest.page.getByRole('listbox', { name: 'Models' }).getByRole('group');
  assert.deepEqual(await groups.evaluateAll((all) => all.map((it) => it.innerText.split('\n')[0])), [
    'Built in',
    'box',
  ]);
  await guest.page.getByRole('option', { name: 'small' }).click();
  await guest.ask('Who is there?');
  await guest.finished.nth(1).getByText('The small one heard: Who is there?').waitFor();
  const asked = small.asked.at(-1);
  assert.equal(asked.model, 'small');
  assert.deepEqual(
    asked.messages.filter(({ role }) => role === 'user').map(({ content }) => content),
    ['Hello there', 'Who is there?'],
  );
  await guest.page.reload();
  await chosen('small (box)');
  await choose('Demo (built in)');
  await guest.ask('And who is there now?');
  assert.equal(small.asked.at(-1), asked, 'it was not asked again');
});

test('a message does not overtake the choice of who answers it', async () => {
  await enter();
  const { gate, open } = held();
  const order = [];
  await context.route('**/api/sessions/*', async (route) => {
    if (route.request().method() === 'PATCH') await gate;
    await route.continue();
  });
  guest.page.on('response', (it) => it.request().method() === 'PATCH' && order.push('chosen'));
  guest.page.on('request', (it) => it.url().endsWith('/messages') && order.push('said'));
  await choose('small');
  await guest.say('Who is there?');
  await guest.log.getByRole('article', { name: 'You, sending' }).waitFor();
  open();
  await guest.finished.nth(1).getByText('The small one heard: Who is there?').waitFor();
  assert.deepEqual(order, ['chosen', 'said']);
  await guest.idle();
  await context.unrouteAll({ behavior: 'wait' });
});

test('a model that is gone is not kept, and the reason is shown', async () => {
  // The list was read before it went away.
  await context.route('**/api/sessions', async (route) => {
    if (route.request().method() !== 'GET') return route.fallback();
    const response = await route.fetch();
    const answer = await response.json();
    answer.models.push({ id: 'gone/away', name: 'Away', cost: 0 });
    await route.fulfill({ response, json: answer });
  });
  await enter();
  await choose('Away');
  await guest.page.getByRole('alert').filter({ hasText: 'Unknown model: gone/away' }).waitFor();
  await chosen('Demo (built in)');
  guest.foresee(/400/);
  await context.unrouteAll({ behavior: 'wait' });
});

test('a model is found by a few letters and chosen by keyboard', async () => {
  await enter();
  await model.focus();
  const search = guest.page.getByRole('combobox', { name: 'Search models' });
  const open = async () => {
    await focused(model);
    await guest.page.keyboard.press('Enter');
    await focused(search);
  };
  await open();
  await guest.page.keyboard.type('nothing like it');
  await guest.page.getByText('No model is called that.').waitFor();
  await guest.page.keyboard.press('Escape');
  await search.waitFor({ state: 'hidden' });
  await open();
  await search.fill('BOX sma');
  await guest.page.keyboard.press('Enter');
  await chosen('small (box)');
  await open();
  await guest.page.keyboard.press('ArrowUp');
  await guest.page.keyboard.press('Enter');
  await chosen('Demo (built in)');
});

test('what the session and its last turn used can be looked up', async () => {
  await enter();
  await guest.ask('And once more');
  await guest.page.getByRole('button', { name: 'of context' }).click();
  const used = guest.page.getByRole('dialog', { name: 'What was used' });
  await used.getByText(/full: .* of 100k tokens/).waitFor();
  const cells = (name) => used.getByRole('row', { name }).getByRole('cell').allInnerTexts();
  await eventually(async () => {
    const [turn, session] = [await cells('Last turn'), await cells('Whole session')];
    assert.deepEqual([turn.length, session.length], [3, 3]);
    assert.notDeepEqual(turn, session);
  });
});

test('how full the context is stands in the header', async () => {
  await enter();
  await guest.page.getByText(/^<?\d+ % of context$/).waitFor();
});

test('the past is summed up on request, and can be read', async () => {
  await enter();
  await guest.page.getByRole('button', { name: 'Sum up now' }).click();
  const line = guest.log.locator('details', { hasText: 'Earlier messages were summed up' });
  await line.waitFor();
  await guest.idle();
  await line.locator('summary').click();
  assert.notEqual((await line.locator('.body').innerText()).trim(), '');
  assert.deepEqual(await guest.mine.allInnerTexts(), ['Hello there'], 'nothing is gone');
  const told = await guest.told();
  await guest.page.reload();
  await line.waitFor();
  await line.locator('summary').click();
  await eventually(async () => assert.deepEqual(await guest.told(), told));
  await guest.ask('And on we go');
});

test('where there is nothing to sum up, that is said', async () => {
  guest = await visit(context, server.url);
  const id = await guest.page.evaluate(async () => {
    const headers = { 'Content-Type': 'application/json' };
    const answer = await fetch('/api/sessions', { method: 'POST', headers, body: '{}' });
    return (await answer.json()).sessionId;
  });
  await guest.page.goto(`${server.url}/?session=${id}`);
  await guest.page.getByRole('button', { name: 'Sum up now' }).click();
  await guest.page.getByRole('alert').filter({ hasText: 'nothing to sum up' }).waitFor();
});
