// A person changes who answers, sees how full the context is, and has the past summed up.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { Server } from './server.mjs';
import { eventually, launch, signIn, visit } from './visit.mjs';

let server, browser, remembered, context, guest, model;

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
});
afterEach(async () => {
  const { complaints } = guest;
  await context.close();
  assert.deepEqual(complaints, [], 'the console complained');
});

async function enter() {
  guest = await visit(context, server.url);
  await guest.ask('Hello there');
  model = guest.page.getByRole('combobox', { name: 'Model' });
}

/** Has the list of models name one more than the server knows. */
async function offerAnother() {
  await context.route('**/api/sessions', async (route) => {
    if (route.request().method() !== 'GET') return route.fallback();
    const response = await route.fetch();
    const answer = await response.json();
    answer.models.push({ id: 'box/small', name: 'Small', cost: 0 });
    await route.fulfill({ response, json: answer });
  });
}

test('the model of a session is chosen in its header', async () => {
  await offerAnother();
  const wishes = [];
  await context.route('**/api/sessions/*', async (route) => {
    if (route.request().method() !== 'PATCH') return route.fallback();
    wishes.push(route.request().postDataJSON());
    await route.fulfill({ json: { success: true } });
  });
  await enter();
  assert.equal(await model.inputValue(), 'demo');
  assert.deepEqual(await model.locator('option').allInnerTexts(), ['Demo (built in)', 'Small']);
  await model.selectOption('Small');
  await eventually(() => assert.deepEqual(wishes, [{ model: 'box/small' }]));
});

test('a model that is refused is not kept, and the reason is shown', async () => {
  await offerAnother();
  await enter();
  await model.selectOption('Small');
  await guest.page.getByRole('alert').filter({ hasText: 'Unknown model: box/small' }).waitFor();
  await eventually(async () => assert.equal(await model.inputValue(), 'demo'));
  // The browser itself complains of every refusal.
  guest.complaints = guest.complaints.filter((it) => !it.includes('400'));
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
  assert.deepEqual(await guest.told(), told);
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
