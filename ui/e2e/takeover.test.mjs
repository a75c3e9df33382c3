// A person takes a window over from the agent and hands it back; who did what is told, and taken back.
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { cellOf } from './apps/harness.mjs';
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

async function come(options = {}, address = server.url) {
  context = await browser.newContext({ storageState: remembered, viewport: { width: 1280, height: 800 }, ...options });
  guest = await visit(context, address);
}

const sheet = (of = guest) => of.page.getByRole('region', { name: 'Sheet', exact: true });
const content = (of = guest) => sheet(of).frameLocator('iframe');
const shows = (name, text, of = guest) =>
  eventually(async () => assert.equal(await cellOf(content(of), name).innerText(), text));
const handBack = (of = guest) => sheet(of).getByRole('button', { name: 'Hand back Sheet' });
const put = (name, text) =>
  `/tool app_command ${JSON.stringify({ windowId: 'sheet', command: 'setCells', params: { cells: { [name]: text } } })}`;
const order = (tool, args) => `/tool ${tool} ${JSON.stringify(args)}`;
const history = () => guest.page.getByRole('dialog', { name: 'History of Sheet' });

/** Waits until the app has said so often that it is there. The one that says it last is the one that is asked. */
const ready = (times) =>
  eventually(async () => {
    const session = new URL(guest.page.url()).searchParams.get('session');
    const facts = await guest.page.evaluate(
      (id) => fetch(`/api/log?session=${id}&limit=1000`).then((it) => it.json()),
      session,
    );
    assert.equal(facts.facts.filter((it) => it.fact === 'app' && it.app === 'ready').length, times);
  });

/** The events of the history, each as who and what. */
async function told() {
  const events = await history().getByRole('listitem').all();
  return Promise.all(
    events.map(async (event) => {
      const who = await event.locator('strong').innerText();
      return `${who}: ${(await event.locator('.what').innerText()).replace(/\s+/g, ' ')}`;
    }),
  );
}

describe('while the agent works in the sheet', () => {
  test('a touch takes it over in every tab, one key hands it back, and what was done is undone', async () => {
    await come();
    await guest.ask(order('app_open', { appId: 'sheet' }));
    await ready(1);
    const other = await visit(context, guest.page.url());
    await ready(2);
    await guest.page.bringToFront();

    // The agent has written one cell, and goes on when it is answered.
    const question = { question: 'Shall I go on?', choices: ['Yes'] };
    await guest.say([put('A1', 'one'), order('ask_person', question), put('A2', 'two')].join('\n'));
    const yes = guest.page.getByRole('region', { name: 'Approvals' }).getByRole('button', { name: 'Yes' });
    await yes.waitFor();
    await sheet().getByText('Agent at work').waitFor();
    assert.equal(await handBack().count(), 0);
    await other.page.bringToFront();
    await shows('A1', 'one', other);

    await cellOf(content(other), 'B1').click();
    await handBack(other).waitFor();
    await handBack().waitFor();
    await other.page.keyboard.type('mine\n');
    await shows('B1', 'mine', other);
    await sheet(other).getByRole('status').filter({ hasText: 'You have taken Sheet over.' }).waitFor();

    await guest.page.bringToFront();
    await yes.click();
    await guest.log.getByText('App command', { exact: true }).nth(1).waitFor();
    assert.equal(await cellOf(content(other), 'A2').innerText(), '', 'the agent waits');

    // From within the frame, where the focus is.
    await other.page.bringToFront();
    await content(other).getByRole('grid').focus();
    await other.page.keyboard.press('Alt+Shift+H');
    await shows('A2', 'two', other);
    await handBack(other).waitFor({ state: 'detached' });
    await guest.page.bringToFront();
    await handBack().waitFor({ state: 'detached' });
    await guest.finished.nth(1).waitFor();
    await guest.idle();
    await sheet().getByText('Agent at work').waitFor({ state: 'detached' });

    await sheet().getByRole('button', { name: 'History of Sheet' }).click();
    await eventually(async () => {
      const events = await told();
      for (const event of ['Agent: setCells {"cells":{"A2":"two"}}', 'You: handed back', 'You: took over'])
        assert.ok(events.includes(event), `${event} in ${events.join('\n')}`);
      assert.match(events.join('\n'), /You: changed .*cells/);
    });

    // Newest first: what the person typed in between is the sheet's to judge.
    const undo = history().getByRole('button', { name: 'Undo setCells' });
    await undo.click();
    await shows('A2', '', other);
    await history().getByRole('button', { name: 'Redo what undo took back' }).click();
    await shows('A2', 'two', other);
    await undo.click();
    await shows('A2', '', other);
    guest.foresee(/409/);
    await undo.click();
    await history().getByRole('alert').filter({ hasText: 'cannot be undone by itself' }).waitFor();
    await shows('A1', 'one', other);
    assert.deepEqual(other.complaints, []);
  });

  test('it is told in light and dark, wide and narrow', async () => {
    await come();
    await guest.ask(order('app_open', { appId: 'sheet' }));
    await ready(1);
    await guest.ask(put('A1', '=6*7'));
    const address = guest.page.url();
    const session = new URL(address).searchParams.get('session');
    const taken = await context.request.post(`${server.url}/api/windows/sheet/hands`, {
      data: { session, hands: 'person' },
      headers: { origin: new URL(server.url).origin },
    });
    assert.equal(taken.status(), 200);
    await context.close();
    for (const { name, wide, options } of looks) {
      await come(options, address);
      if (!wide) await guest.page.getByRole('button', { name: 'Show windows' }).click();
      await handBack().waitFor();
      await shows('A1', '42');
      if (['dark-wide', 'light-narrow'].includes(name)) {
        await sheet().getByRole('button', { name: 'History of Sheet' }).click();
        await history().getByRole('button', { name: 'Undo setCells' }).waitFor();
      }
      await inspect(guest, `takeover-${name}`);
      if (name !== looks.at(-1)?.name) await context.close();
    }
  });
});
