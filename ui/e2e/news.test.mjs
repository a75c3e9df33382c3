// What happened while nobody looked: listed in one place, with a way to each of it.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { inspect, looks } from './inspect.mjs';
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
afterEach(async () => {
  const { complaints } = guest;
  await context.close();
  assert.deepEqual(complaints, [], 'the console complained');
});

/** @param {(context: import('playwright-core').BrowserContext) => Promise<unknown>} prepare */
async function come(options = {}, prepare = async () => {}) {
  context = await browser.newContext({ storageState: remembered, viewport: { width: 1280, height: 800 }, ...options });
  await prepare(context);
  guest = await visit(context, server.url);
  await guest.connected();
}

/** Does with the API what would happen while nobody is here. */
function meanwhile(name, ...prompts) {
  return guest.page.evaluate(
    async ([name, prompts]) => {
      const headers = { 'Content-Type': 'application/json' };
      const post = async (path, body) =>
        (await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })).json();
      const { sessionId } = await post('/api/sessions', {});
      await fetch(`/api/sessions/${sessionId}`, { method: 'PATCH', headers, body: JSON.stringify({ name }) });
      for (const prompt of prompts) await post(`/api/sessions/${sessionId}/messages`, { prompt, queue: true });
      return sessionId;
    },
    [name, prompts],
  );
}

function failingSchedule(slug) {
  return guest.page.evaluate(async (slug) => {
    const headers = { 'Content-Type': 'application/json' };
    const schedule = { type: 'interval', intervalMinutes: 600 };
    const body = JSON.stringify({ prompt: '/fail bad_key', enabled: true, schedule });
    await fetch(`/api/schedule/${slug}`, { method: 'PUT', headers, body });
    await fetch(`/api/schedule/${slug}/run`, { method: 'POST', headers, body: '{}' });
  }, slug);
}

const bell = () => guest.page.getByRole('button', { name: /^What is new/ });
const dialog = () => guest.page.getByRole('dialog', { name: 'What is new' });
const group = (name) => dialog().getByRole('heading', { name }).locator('xpath=..');

/** By the commands, which are everywhere. */
async function open() {
  await guest.page.keyboard.press('Control+k');
  await guest.page.getByRole('combobox', { name: 'Commands' }).fill('what is new');
  await guest.page.keyboard.press('Enter');
  await dialog().waitFor();
}

// The first of all, while there is nothing yet.
test('nothing is said to have happened before that is known', async () => {
  /** @type {() => void} */
  let answer = () => {};
  const asked = new Promise((resolve) => (answer = () => resolve(undefined)));
  await come({}, (context) =>
    context.route('**/api/schedule', async (route) => {
      await asked;
      await route.continue();
    }),
  );
  assert.equal(await bell().getAttribute('aria-label'), 'What is new');
  await bell().click();
  await dialog().getByRole('status').getByText('Asking what is new…').waitFor();
  answer();
  await dialog().getByText('Nothing has happened that you have not seen.').waitFor();
});

for (const look of looks) {
  test(`answers, questions and failures are listed, ${look.name}`, async () => {
    await come(look.options);
    const [answer, question, slug] = ['Answer', 'Question', 'Slug'].map((it) => `${it} ${look.name}`.toLowerCase().replace(' ', '-'));
    await meanwhile(answer, 'Hello');
    await meanwhile(question, `/tool write_file ${JSON.stringify({ path: `${look.name}.txt`, content: '' })}`);
    await failingSchedule(slug);
    await open();
    await group('New answers').getByRole('button', { name: answer }).waitFor();
    await group('Waiting for you').getByRole('button', { name: `${look.name}.txt` }).waitFor();
    // It is looked for again when something happens, so this comes by itself.
    await group('Schedules that failed').getByRole('button', { name: slug }).waitFor();
    await inspect(guest, `news-${look.name}`);
    await group('New answers').getByRole('button', { name: answer }).click();
    await guest.finished.first().waitFor();
    await open();
    await dialog().getByRole('button', { name: 'Mark all as seen' }).click();
    await group('Schedules that failed').waitFor({ state: 'detached' });
    await group('New answers').waitFor({ state: 'detached' });
    await group('Waiting for you').getByRole('button', { name: `${look.name}.txt` }).click();
    await guest.page.getByRole('region', { name: 'Approvals' }).getByRole('button', { name: 'Deny', exact: true }).click();
    await guest.idle();
  });
}

test('nothing new is said in words, and the bell counts what is', async () => {
  await come();
  await bell().click();
  const none = dialog().getByText('Nothing has happened that you have not seen.');
  const seen = dialog().getByRole('button', { name: 'Mark all as seen' });
  await none.or(seen).first().waitFor();
  if (await seen.isVisible()) await seen.click();
  await none.waitFor();
  await inspect(guest, 'news-none');
  await dialog().getByRole('button', { name: 'Close' }).click();
  assert.equal(await bell().getAttribute('aria-label'), 'What is new: nothing');
  await meanwhile('Counted', 'Hello');
  await guest.page.getByRole('button', { name: 'What is new: 1', exact: true }).waitFor();
});

test('a plan that came to an end while nobody looked is remembered', async () => {
  await come();
  const plan = (status) => `/tool plan ${JSON.stringify({ title: 'Mend the roof', steps: [{ text: 'Climb', status }] })}`;
  const write = `/tool write_file ${JSON.stringify({ path: 'roof.txt', content: '' })}`;
  // It waits for leave, with the plan under way, and the page has seen that.
  const id = await meanwhile('Planner', `${plan('active')}\n${write}`, plan('done'));
  await eventually(async () => {
    const kept = JSON.parse(await guest.page.evaluate(() => localStorage.getItem('megaron.news') ?? '{}'));
    assert.deepEqual(kept.open?.map(({ title, sessionId }) => [title, sessionId]), [['Mend the roof', id]]);
  });
  await guest.page.evaluate(async () => {
    const { approvals } = await (await fetch('/api/approvals')).json();
    const headers = { 'Content-Type': 'application/json' };
    const body = JSON.stringify({ decision: 'deny' });
    for (const { id } of approvals) await fetch(`/api/approvals/${id}`, { method: 'POST', headers, body });
  });
  await bell().click();
  const line = group('Plans that came to an end').getByRole('button', { name: 'Mend the roof' });
  await line.waitFor();
  await guest.page.reload();
  await bell().click();
  await line.click();
  await guest.log.getByText('Mend the roof').first().waitFor();
  await bell().click();
  await line.waitFor({ state: 'detached' });
});
