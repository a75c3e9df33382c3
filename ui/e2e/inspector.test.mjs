// Looking into the app of a window: what is said to it and by it, how it stands, and asking it by hand.
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { inspect, looks } from './inspect.mjs';
import { Server } from './server.mjs';
import { eventually, launch, signIn, visit } from './visit.mjs';

let server, browser, remembered, context, guest;

/** It works on `work` until somebody presses the button, and tells meanwhile how far it is. */
const page = `<!doctype html><html lang="en"><title>Tally</title>
<p id="count">0</p><button id="finish">Finish</button><button id="break">Break</button>
<script>
let count = 0, finish = () => {};
document.getElementById('finish').onclick = () => finish();
document.getElementById('break').onclick = () => { console.warn('about to break', { at: count }); throw new Error('broken in two'); };
yaar.app.register({
  appId: 'tally', name: 'Tally',
  state: { count: { description: 'What was counted so far', schema: { type: 'integer' }, handler: () => count } },
  commands: {
    add: {
      description: 'Count further', timeoutMs: 60000,
      params: { type: 'object', properties: {
        by: { type: 'integer', minimum: 1, description: 'How much further' }, aloud: { type: 'boolean' },
      }, required: ['by'] },
      handler: ({ by }) => { document.getElementById('count').textContent = count += by; yaar.app.stateChanged('count'); return { count }; },
    },
    work: {
      description: 'Take a while', timeoutMs: 600000, replay: 'never',
      handler: (_, call) => new Promise((done) => { finish = () => done('worked'); call.progress(1, 4, 'Reading rows'); }),
    },
    put: { description: 'Take anything', timeoutMs: 60000, params: { type: 'object', properties: { deep: { type: 'object' } } }, handler: (it) => it },
  },
});
</script>`;

before(async () => {
  server = await Server.fresh('', async ({ home }) => {
    const folder = join(home, 'data/apps/tally');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'app.json'), JSON.stringify({ name: 'Tally' }));
    await writeFile(join(folder, 'index.html'), page);
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

const region = () => guest.page.getByRole('region', { name: 'Tally', exact: true });
const app = () => region().frameLocator('iframe');
const panel = () => guest.page.getByRole('region', { name: 'Inspector of Tally' });
const tab = (name) => panel().getByRole('tab', { name });
const rows = () => panel().getByRole('group', { name: 'Traffic of Tally' }).getByRole('listitem');
const row = (...said) => said.reduce((all, hasText) => all.filter({ hasText }), rows()).first();

/** Waits for a row; if none comes, what was there instead is in the failure. */
async function comes(...said) {
  await row(...said)
    .waitFor()
    .catch(async (error) => {
      const shown = await panel()
        .innerText()
        .catch(() => 'no panel');
      throw new Error(`no row says ${said.join(', ')}; the inspector showed:\n${shown}`, { cause: error });
    });
}

/** A session with the app in a window. */
async function enter(options = {}) {
  context = await browser.newContext({ storageState: remembered, viewport: { width: 1280, height: 800 }, ...options });
  guest = await visit(context, server.url);
  await guest.ask('Hello');
  const session = new URL(guest.page.url()).searchParams.get('session');
  await guest.page.evaluate(
    (wish) =>
      fetch('/api/apps/open', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(wish),
      }),
    { session, appId: 'tally' },
  );
  const show = guest.page.getByRole('button', { name: 'Show windows' });
  await region().or(show).first().waitFor();
  if (await show.isVisible()) await show.click();
  await app().locator('#count').waitFor();
}

async function open() {
  await region().getByRole('button', { name: 'More of Tally' }).click();
  await guest.page.getByRole('menuitem', { name: 'Inspect the app' }).click();
  await panel().getByText('Ready').first().waitFor();
}

async function send(what, fill) {
  await tab('Send').click();
  await panel().getByLabel('What to send').selectOption(what);
  await fill?.();
  await panel().getByRole('button', { name: 'Send it' }).click();
}

describe('the inspector', () => {
  test('asks by hand, with fields where the schema is plain, and shows what comes of it', async () => {
    await enter();
    await open();
    const by = panel().getByRole('textbox', { name: 'by' });
    await send('command add', () => by.fill('two'));
    await panel().getByText('This is not a number.').waitFor();
    await by.fill('2');
    await panel().getByRole('button', { name: 'Send it' }).click();
    await panel().getByRole('group', { name: 'What came back' }).getByText('"count": 2').waitFor();
    await app().getByText('2', { exact: true }).waitFor();
    // What is written as JSON is for the server to judge, as it would be for an agent.
    await panel().getByRole('checkbox', { name: 'Write the parameters as JSON' }).check();
    await panel().getByRole('textbox', { name: 'Parameters, as JSON' }).fill('{ "by": "two" }');
    await panel().getByRole('button', { name: 'Send it' }).click();
    await panel().getByText('Invalid params for command "add" at /by: expected integer, got string.').waitFor();
    await send('command put', () => panel().getByRole('textbox', { name: 'Parameters, as JSON' }).fill('{"deep":{"a":[1]}}'));
    await panel().getByRole('group', { name: 'What came back' }).getByText('"a": [').waitFor();
    await send('state count');
    // A query is waited for five seconds, which may be too short on a machine that is busy.
    await eventually(async () => {
      const told = panel().getByRole('group', { name: 'What came back' });
      await told.waitFor();
      const text = await told.innerText();
      if (text !== '2') await panel().getByRole('button', { name: 'Send it' }).click();
      assert.equal(text, '2');
    });

    await tab('Traffic').click();
    for (const [kind, what, status] of [
      ['command', 'add', 'done'],
      ['refused', 'add', 'failed'],
      ['query', 'count', 'done'],
      ['changed', 'count', ''],
    ])
      await comes(kind, what, status);
    await row('refused', 'add').getByRole('button').click();
    await rows().getByText('expected integer, got string').waitFor();
    await panel().getByRole('searchbox', { name: 'Search the traffic' }).fill('"a":[1]');
    await eventually(async () => assert.equal(await rows().count(), 1));
    await panel().getByRole('searchbox', { name: 'Search the traffic' }).fill('');

    await tab('Traffic').press('ArrowRight');
    await panel().getByText('Asked at').waitFor();
    assert.match(await panel().getByRole('tabpanel').innerText(), /conn-\d+, load 1\s+document [0-9a-f]{8}/);
    await panel().getByText('What was counted so far').first().waitFor();
    await tab('App').press('Escape');
    await panel().waitFor({ state: 'detached' });
  });

  test('shows the past, what is said live and what goes wrong within, and copies it', async () => {
    await enter({ permissions: ['clipboard-read', 'clipboard-write'] });
    await guest.ask('/tool app_command {"windowId": "tally", "command": "add", "params": {"by": 3}}');
    // Before anybody looked.
    guest.foresee(/broken in two/);
    await app().getByRole('button', { name: 'Break' }).click();
    await guest.box.press('Control+k');
    await guest.page.getByRole('combobox').fill('Inspect Tally');
    await guest.page.getByRole('option', { name: /Inspect Tally/ }).click();
    await comes('console', 'about to break {"at":3}');
    await comes('console', 'Uncaught Error: broken in two');
    await comes('command', 'add', 'done');

    await send('command work');
    const bar = region().getByRole('progressbar', { name: 'Reading rows' });
    await bar.waitFor();
    assert.equal(await bar.getAttribute('aria-valuenow'), '25');
    await tab('Traffic').click();
    await comes('command', 'work', 'Reading rows 1/4');
    await app().getByRole('button', { name: 'Finish' }).click();
    await bar.waitFor({ state: 'detached' });
    await comes('command', 'work', 'done');

    for (const kind of ['Queries', 'Events', 'Console'])
      await panel().getByRole('button', { name: kind, exact: true }).click();
    await eventually(async () => assert.equal(await rows().count(), 2));
    await panel().getByRole('button', { name: 'Copy all' }).click();
    await panel().getByText('Copied.').first().waitFor({ state: 'attached' });
    const copied = JSON.parse(await guest.page.evaluate(() => navigator.clipboard.readText()));
    const short = copied.filter((it) => it.type !== 'progress').map((it) => [it.type, it.request?.command ?? it.value]);
    assert.deepEqual(short, [
      ['request', 'add'],
      ['response', { count: 3 }],
      ['request', 'work'],
      ['response', 'worked'],
    ]);
    await panel().getByRole('button', { name: 'Clear' }).click();
    await panel().getByText('Nothing was said yet.').waitFor();
    await guest.page.reload();
    await app().getByText('3', { exact: true }).waitFor();
    await open();
    await comes('replayed');
  });
});

describe('how the inspector looks', () => {
  for (const { name, options } of looks) {
    test(name, async () => {
      await enter(options);
      guest.foresee(/broken in two/);
      await open();
      await send('command add', () => panel().getByRole('textbox', { name: 'by' }).fill('2'));
      await panel().getByRole('group', { name: 'What came back' }).getByText('"count": 2').waitFor();
      await inspect(guest, `inspector-send-${name}`);
      await app().getByRole('button', { name: 'Break' }).click();
      await send('command work');
      await tab('Traffic').click();
      await comes('console', 'broken in two');
      await comes('command', 'work', 'Reading rows');
      await row('command', 'add', 'done').getByRole('button').click();
      await inspect(guest, `inspector-traffic-${name}`);
      await app().getByRole('button', { name: 'Finish' }).click();
      await comes('command', 'work', 'done');
      await tab('App').click();
      await panel().getByText('Asked at').waitFor();
      await inspect(guest, `inspector-app-${name}`);
    });
  }
});
