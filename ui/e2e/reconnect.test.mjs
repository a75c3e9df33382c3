// The server dies and comes back under an open page, and the conversation is neither lost nor doubled.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { inspect, looks } from './inspect.mjs';
import { Server } from './server.mjs';
import { deadServer, eventually, launch, signIn, Visit, visit } from './visit.mjs';

let server, browser, context, guest;

before(async () => {
  browser = await launch();
});
after(() => browser?.close());
beforeEach(async () => {
  server = await Server.fresh();
  context = await browser.newContext({ storageState: await signIn(browser, server) });
  guest = await visit(context, server.url);
  // The server may be dead for a while.
  guest.foresee(deadServer);
});
afterEach(async () => {
  const { complaints } = guest;
  await context.close();
  await server.end();
  assert.deepEqual(complaints, [], 'the console complained');
});

/** A page opened now shows what the server knows; the one that lived through it all must show the same. */
async function showsWhatTheServerKnows() {
  const fresh = await visit(context, guest.page.url());
  await fresh.mine.first().waitFor();
  await eventually(async () => assert.deepEqual(await guest.told(), await fresh.told()));
  await fresh.page.close();
}

test('a conversation survives a killed server and goes on', async () => {
  await guest.ask('Before the crash');
  const told = await guest.told();
  await server.kill();
  await guest.page.getByText('Reconnecting').waitFor();
  assert.deepEqual(await guest.told(), told, 'it stays readable meanwhile');
  await server.restart();
  await guest.connected();
  await eventually(async () => assert.deepEqual(await guest.told(), told));
  await guest.ask('After the crash');
  assert.deepEqual(await guest.mine.allInnerTexts(), ['Before the crash', 'After the crash']);
  await showsWhatTheServerKnows();
});

test('a server killed in the middle of an answer leaves nothing doubled', async () => {
  await guest.ask('Before the crash');
  await guest.say('/slow 30\n/long 200');
  await guest.answers.nth(1).waitFor();
  await server.kill();
  await guest.page.getByText('Reconnecting').waitFor();
  await server.restart();
  await guest.connected();
  await guest.idle();
  await showsWhatTheServerKnows();
  await guest.ask('After the crash');
  assert.deepEqual(await guest.mine.allInnerTexts(), ['Before the crash', '/slow 30\n/long 200', 'After the crash']);
  await showsWhatTheServerKnows();
});

/** What the server has been told in the session on show. */
function said(page) {
  return page.evaluate(async () => {
    const id = new URLSearchParams(location.search).get('session');
    const { frames } = await (await fetch(`/api/sessions/${id}/events?limit=1000`)).json();
    return frames.filter(({ event }) => event.type === 'user.message').map(({ event }) => event.data.content);
  });
}

/** Until nothing is left to send and nothing runs. */
async function delivered(visitor, texts) {
  await eventually(async () => assert.deepEqual(await said(visitor.page), texts));
  await visitor.idle();
  await eventually(async () => assert.deepEqual(await visitor.mine.allInnerTexts(), texts));
  await eventually(async () => assert.equal(await visitor.log.getByText(/Not sent|Sending/).count(), 0));
}

test('a message sent while the server is away waits, says why, and is said once when it is back', async () => {
  await guest.ask('Before the crash');
  await server.kill();
  await guest.page.getByText('Reconnecting').waitFor();
  await guest.say('Are you there?');
  await guest.log.getByText(/Not sent yet: the server cannot be reached/i).waitFor();
  await server.restart();
  await delivered(guest, ['Before the crash', 'Are you there?']);
  await showsWhatTheServerKnows();
});

test('"Try now" does not wait for the next attempt', async () => {
  await guest.ask('Before the crash');
  await server.kill();
  await guest.page.getByText('Reconnecting').waitFor();
  await server.restart();
  await guest.page.getByRole('button', { name: 'Try now' }).or(guest.page.getByText('Connected')).first().click();
  await guest.connected();
  await guest.page.getByRole('button', { name: 'Try now' }).waitFor({ state: 'detached' });
});

test('what was written while offline goes in order, without what was removed', async () => {
  await guest.ask('Before the tunnel');
  await context.setOffline(true);
  for (const text of ['First', 'Second', 'Third']) await guest.say(text);
  const second = guest.log.getByRole('article', { name: 'You, sending' }).filter({ hasText: 'Second' });
  await guest.log
    .getByText(/Not sent yet/)
    .first()
    .waitFor();
  await guest.log.getByRole('article', { name: 'You, sending' }).filter({ hasText: 'Third' }).waitFor();
  await second.getByRole('button', { name: 'Remove' }).click();
  await second.waitFor({ state: 'detached' });
  await context.setOffline(false);
  await delivered(guest, ['Before the tunnel', 'First', 'Third']);
});

test('what was written outlives the page it was written on', async () => {
  await guest.ask('Before the crash');
  const address = guest.page.url();
  await server.kill();
  await guest.page.getByText('Reconnecting').waitFor();
  await guest.say('One for later');
  await guest.say('Two for later');
  await guest.log
    .getByText(/Not sent yet/)
    .nth(1)
    .waitFor();
  guest.foresee(/./);
  await guest.page.reload().catch(() => 'nobody is there');
  await server.restart();
  guest = new Visit(guest.page);
  // Of what went before, the browser may complain late.
  guest.foresee(deadServer);
  await guest.page.goto(address);
  await delivered(guest, ['Before the crash', 'One for later', 'Two for later']);
  await guest.page.reload();
  await delivered(guest, ['Before the crash', 'One for later', 'Two for later']);
});

test('two tabs that wrote meanwhile send everything once, in the order it was written', async () => {
  await guest.ask('Before the crash');
  const second = await visit(context, guest.page.url());
  await second.mine.first().waitFor();
  await server.kill();
  await Promise.all([guest, second].map((it) => it.page.getByText('Reconnecting').waitFor()));
  await guest.say('From the first');
  await second.log.getByText('From the first').waitFor();
  await second.say('From the second');
  await guest.log.getByText('From the second').waitFor();
  await guest.say('Again from the first');
  await second.log.getByText('Again from the first').waitFor();
  await server.restart();
  const all = ['Before the crash', 'From the first', 'From the second', 'Again from the first'];
  await delivered(guest, all);
  await delivered(second, all);
});

test('another tab sends what was written on one that is gone', async () => {
  await guest.ask('Before the crash');
  const second = await visit(context, guest.page.url());
  await second.mine.first().waitFor();
  await server.kill();
  await second.page.getByText('Reconnecting').waitFor();
  await second.say('I must go');
  await guest.log.getByText('I must go').waitFor();
  await second.page.close();
  await server.restart();
  await delivered(guest, ['Before the crash', 'I must go']);
});

test('a session begun while the server is away is made once, with all that was written', async () => {
  await guest.connected();
  await server.kill();
  await guest.page.getByText('Reconnecting').waitFor();
  await guest.say('Hello?');
  await guest.log.getByText('Hello?').waitFor();
  await guest.say('Anybody home?');
  await guest.log.getByText('Anybody home?').waitFor();
  await server.restart();
  await eventually(() => assert.match(guest.page.url(), /session=/));
  await delivered(guest, ['Hello?', 'Anybody home?']);
  await eventually(async () =>
    assert.equal(await guest.sessions.getByRole('link').filter({ hasText: 'Hello?' }).count(), 1),
  );
});

test('tabs stay in step: what is renamed, seen or deleted in one is so in the other', async () => {
  await guest.ask('Something shared');
  const second = await visit(context, server.url);
  const link = second.sessions.getByRole('link').filter({ hasText: 'Something shared' });
  await link.waitFor();
  await guest.page.getByRole('button', { name: 'Rename session' }).click();
  await guest.page.getByRole('textbox', { name: 'Name' }).fill('Shared');
  await guest.page.getByRole('button', { name: 'Rename', exact: true }).click();
  await second.sessions.getByRole('link', { name: 'Shared' }).first().waitFor();
  await guest.page.getByRole('button', { name: 'Delete session' }).click();
  await second.sessions.getByRole('link', { name: 'Shared' }).waitFor({ state: 'detached' });
});

test('what is taken back elsewhere goes here too, with all that followed it', async () => {
  await guest.ask('Keep this');
  await guest.ask('Not this');
  await guest.ask('Nor this');
  await guest.page.evaluate(async () => {
    const address = `/api/sessions/${new URLSearchParams(location.search).get('session')}`;
    const { frames } = await (await fetch(`${address}/events`)).json();
    const replaces = frames.find(({ event }) => event.data.content === 'Not this').seq;
    const body = JSON.stringify({ prompt: 'But this', replaces });
    await fetch(`${address}/messages`, { method: 'POST', body, headers: { 'Content-Type': 'application/json' } });
  });
  await eventually(async () => assert.deepEqual(await guest.mine.allInnerTexts(), ['Keep this', 'But this']));
  await guest.idle();
  await showsWhatTheServerKnows();
});

for (const { name, options } of looks) {
  test(`a lost connection in ${name}`, async () => {
    await guest.ask('Before the crash');
    const reader = await visit(
      await browser.newContext({ storageState: await context.storageState(), ...options }),
      guest.page.url(),
    );
    reader.foresee(deadServer);
    await reader.finished.first().waitFor();
    await server.kill();
    await reader.page.getByText('Reconnecting').waitFor();
    await reader.say('And this, as soon as you can be reached again.');
    await reader.say('It is about the porch.');
    await reader.log
      .getByText(/Not sent yet/)
      .nth(1)
      .waitFor();
    await inspect(reader, `away-${name}`);
    await reader.page.context().close();
  });
}
