// What runs by the clock, on the page: written with a preview, rehearsed, run, looked up, switched and removed.
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { inspect, looks } from './inspect.mjs';
import { Server } from './server.mjs';
import { eventually, launch, signIn, visit } from './visit.mjs';

const WRITE = '/tool write_file {"path":"news.txt","content":"all quiet"}';

let server, browser, remembered, context;

before(async () => {
  server = await Server.fresh();
  browser = await launch();
  remembered = await signIn(browser, server);
});
after(async () => {
  await browser?.close();
  await server?.end();
});
afterEach(() => context?.close());

async function enter(options = {}) {
  context = await browser.newContext({ storageState: remembered, timezoneId: 'Europe/Berlin', ...options });
  const guest = await visit(context, `${server.url}/?view=schedules`);
  await guest.page.getByRole('button', { name: 'New schedule' }).waitFor();
  return guest;
}

const form = (guest, name) => guest.page.getByRole('form', { name });
const card = (guest, name) => guest.page.getByRole('article', { name, exact: true });
const upcoming = (where) => where.getByRole('list', { name: 'Next runs' }).getByRole('listitem');

/** Asks the server as the page does. */
const request = (guest, method, path, data) =>
  guest.page.request.fetch(`${server.url}${path}`, { method, data }).then((it) => it.json());

async function clear(guest) {
  const { schedules } = await request(guest, 'GET', '/api/schedule');
  for (const { slug } of schedules) await request(guest, 'DELETE', `/api/schedule/${slug}`);
}

describe('schedules', () => {
  test('the next runs are told while one types, and what is wrong is explained', async () => {
    const guest = await enter();
    await guest.page.getByText('Nothing is scheduled yet').waitFor();
    guest.foresee(/400/);
    await guest.page.getByRole('button', { name: 'New schedule' }).click();
    const writing = form(guest, 'New schedule');
    await eventually(async () => assert.equal(await upcoming(writing).count(), 5));
    await writing.getByRole('button', { name: 'Mondays at 9' }).click();
    await eventually(async () => assert.match(await upcoming(writing).first().innerText(), /^Mon, .*, 09:00/));
    await writing.getByLabel('Cron expression').fill('61 * * * *');
    await writing.getByText('Invalid cron expression: ').waitFor();
    await writing.getByLabel('Cron expression').fill('*/10 * * * * *');
    await writing.getByText('runs every 10 seconds').waitFor();
    await writing.getByLabel('Every so often').check();
    await writing.getByLabel('Minutes between runs').fill('90');
    await eventually(async () => assert.match(await upcoming(writing).first().innerText(), /in 1 hour|in 89 minutes/));
    await writing.getByRole('button', { name: 'Save' }).click();
    await writing.getByText('Write first what is to be said.').waitFor();
    await writing.getByLabel('Prompt').fill('…');
    await writing.getByRole('button', { name: 'Save' }).click();
    await writing.getByText('Give it a name first.').waitFor();
    await writing.getByRole('button', { name: 'Cancel' }).click();
    await guest.page.getByText('Nothing is scheduled yet').waitFor();
    assert.deepEqual(guest.complaints, []);
  });

  test('what a schedule needs is rehearsed, allowed to it alone, and then done', async () => {
    const guest = await enter();
    await guest.page.getByRole('button', { name: 'New schedule' }).click();
    const writing = form(guest, 'New schedule');
    await writing.getByLabel('Prompt').fill(WRITE);
    await writing.getByLabel('Name').fill('write-news');
    await writing.getByRole('button', { name: 'Rehearse' }).click();
    await writing.getByText('It needs leave for one thing.').waitFor();
    await writing.getByLabel('Allow write_file').check();
    assert.equal(await writing.getByLabel('How much of write_file').inputValue(), '0');
    await writing.getByRole('button', { name: 'Save' }).click();
    const shown = card(guest, 'write-news');
    await shown.getByText('It has not run yet').waitFor();
    const { grants } = await request(guest, 'GET', '/api/grants');
    assert.deepEqual(
      grants.map((it) => [it.tool, it.pattern, it.scheduleSlug]),
      [['write_file', 'news.txt', 'write-news']],
    );
    await shown.getByRole('button', { name: 'Run now' }).click();
    await shown.getByText('Ran well just now').waitFor();
    await shown.locator('summary').click();
    await shown.getByText('Done', { exact: true }).waitFor();
    await shown.getByText('by hand').waitFor();
    await shown.getByRole('button', { name: 'Open session of write-news' }).click();
    await guest.page.getByRole('log').getByText('write_file').first().waitFor();
    assert.deepEqual(guest.complaints, []);
    await clear(guest);
  });

  test('a run without leave is on record with what it lacked', async () => {
    const guest = await enter();
    const schedule = { type: 'interval', intervalMinutes: 60 };
    await request(guest, 'PUT', '/api/schedule/lacking', { prompt: WRITE, schedule });
    const shown = card(guest, 'lacking');
    await shown.getByRole('button', { name: 'Run now' }).click();
    await shown.getByText('Ran well just now').waitFor();
    await shown.locator('summary').click();
    await shown.getByText('It had no leave for: Writing news.txt').waitFor();
    await clear(guest);
  });

  test('a schedule is switched off, changed and removed', async () => {
    const guest = await enter();
    const schedule = { type: 'interval', intervalMinutes: 60 };
    await request(guest, 'PUT', '/api/schedule/hourly', { prompt: 'hello', schedule });
    const shown = card(guest, 'hourly');
    await shown.getByText('Every hour').waitFor();
    await shown.getByRole('switch').click();
    await shown.getByText('Off', { exact: true }).waitFor();
    await shown.getByRole('button', { name: 'Edit hourly' }).click();
    const writing = form(guest, 'Edit hourly');
    await writing.getByLabel('Minutes between runs').fill('25');
    await writing.getByRole('button', { name: 'Save' }).click();
    await shown.getByText('Every 25 minutes').waitFor();
    await shown.getByRole('button', { name: 'Remove hourly' }).click();
    const dialog = guest.page.getByRole('dialog', { name: 'Remove hourly?' });
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await guest.page.getByText('Nothing is scheduled yet').waitFor();
    assert.deepEqual(guest.complaints, []);
  });

  for (const { name, options } of looks) {
    test(`it looks right: ${name}`, async () => {
      const guest = await enter(options);
      await inspect(guest, `schedules-none-${name}`);
      const daily = { type: 'cron', expression: '0 8 * * MON-FRI', timezone: 'Europe/Berlin' };
      const prompt = 'Look at the notes of yesterday and write a short summary of what is still open.';
      await request(guest, 'PUT', '/api/schedule/morning-summary', { prompt, schedule: daily });
      const often = { type: 'interval', intervalMinutes: 30 };
      await request(guest, 'PUT', '/api/schedule/write-news', { prompt: WRITE, schedule: often });
      await request(guest, 'PUT', '/api/schedule/resting', { prompt: '/fail auth', schedule: often, enabled: false });
      for (const slug of ['write-news', 'resting']) await request(guest, 'POST', `/api/schedule/${slug}/run`);
      await card(guest, 'write-news').getByText('Ran well').waitFor();
      await card(guest, 'resting').getByText(/Failed|Ran well/).waitFor();
      await card(guest, 'write-news').locator('summary').click();
      await card(guest, 'write-news').getByText('It had no leave for').waitFor();
      await inspect(guest, `schedules-list-${name}`);
      await card(guest, 'write-news').getByRole('button', { name: 'Edit write-news' }).click();
      const writing = form(guest, 'Edit write-news');
      await writing.getByLabel('By the calendar').check();
      await eventually(async () => assert.match(await upcoming(writing).first().innerText(), /, 08:00/));
      await inspect(guest, `schedules-form-${name}`);
      await writing.getByRole('button', { name: 'Rehearse' }).click();
      await writing.getByLabel('Allow write_file').check();
      await writing.getByText('More', { exact: true }).click();
      await writing.getByRole('button', { name: 'Save' }).scrollIntoViewIfNeeded();
      await inspect(guest, `schedules-rehearsal-${name}`);
      await clear(guest);
    });
  }
});
