// The first visit: what was found on this machine, and three things to try that really work.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { inspect, looks } from './inspect.mjs';
import { SmallModel } from './model.mjs';
import { Server } from './server.mjs';
import { eventually, launch, signIn, visit } from './visit.mjs';

let small, server, browser, remembered, context, guest;

before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
});
beforeEach(async () => {
  small = await SmallModel.start();
  server = await Server.fresh(small.config);
  remembered = await signIn(browser, server);
});
afterEach(async () => {
  const { complaints } = guest;
  await context?.close();
  await server?.end();
  await small?.end();
  assert.deepEqual(complaints, [], 'the console complained');
});

const found = {
  firstRun: true,
  defaultModel: 'demo',
  found: [
    { what: 'Ollama at 127.0.0.1:11434', payer: 'nobody', models: ['box/small', 'box/large'], usable: true, hint: '' },
    { what: 'A key of Anthropic', payer: 'you', models: [], usable: false, hint: 'Add it with megaron models detect.' },
  ],
};

async function enter(options = {}, answer) {
  context = await browser.newContext({ storageState: remembered, ...options });
  // What a machine has differs; the rest of the page is real.
  await context.route('**/api/welcome', (route) => route.fulfill({ json: answer ?? found }));
  guest = await visit(context, server.url);
  await guest.connected();
}

const thing = (name) => guest.log.getByRole('button', { name });

test('a newcomer clicks a suggestion and it is done', async () => {
  for (const [name, outcome] of [
    ['Look at the files', 'guests.txt'],
    ['Carry out a plan', 'The plan is carried out'],
    ['See how answers look', 'Answers are more than plain text'],
  ]) {
    await enter({}, { firstRun: true, defaultModel: 'demo', found: [] });
    await thing(name).click();
    await guest.finished.getByText(outcome).first().waitFor();
    await guest.idle();
    assert.match(guest.page.url(), /session=/);
    const { complaints } = guest;
    assert.deepEqual(complaints, []);
    // Gone again, so that the next one comes as a newcomer too.
    await guest.page.getByRole('button', { name: 'Delete session' }).click();
    await guest.page.getByRole('button', { name: 'Dismiss' }).click();
    await thing(name).waitFor();
    await context.close();
  }
});

test('a plan is seen while it is carried out', async () => {
  await enter();
  await thing('Carry out a plan').click();
  await guest.log.getByRole('region', { name: 'Plan' }).getByText('done, 3 of 3').waitFor();
});

test('what was found is chosen by a click, and answers from then on', async () => {
  await enter();
  await guest.log.getByRole('button', { name: 'Use this: Ollama at 127.0.0.1:11434' }).click();
  await guest.log.getByText('In use').waitFor();
  await guest.log.getByText('Add it with megaron models detect.').waitFor();
  await guest.ask('Who is there?');
  await guest.finished.getByText('The small one heard: Who is there?').waitFor();
  await context.unroute('**/api/welcome');
  await guest.page.goto(`${server.url}/?view=models`);
  const row = guest.page.getByRole('main').getByRole('listitem').filter({ hasText: 'box/small' });
  await row.getByText('For new sessions').waitFor();
  await guest.page.getByRole('button', { name: 'Use for new sessions: Demo (built in)' }).click();
  await guest.sessions.getByRole('button', { name: 'New session' }).click();
  await guest.ask('And now?');
  await eventually(async () => assert.equal(small.asked.length, 1, 'it is not asked any more'));
  await guest.log.getByText('What shall we do?').waitFor({ state: 'detached' });
});

for (const { name: look, options } of looks) {
  test(`the first page in ${look}`, async () => {
    await enter(options);
    await guest.log.getByText('Found on this machine').waitFor();
    await inspect(guest, `first-${look}`);
  });
}
