// The server dies and comes back under an open page, and the conversation is neither lost nor doubled.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { Server } from './server.mjs';
import { eventually, launch, signIn, visit } from './visit.mjs';

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
  guest.foresee(/ERR_CONNECTION|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE|WebSocket connection to/);
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
  assert.deepEqual(await guest.told(), told);
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

test('a message sent while the server is away is said once when it is back', async () => {
  await guest.ask('Before the crash');
  await server.kill();
  await guest.page.getByText('Reconnecting').waitFor();
  await guest.say('Are you there?');
  await guest.log.getByText('Sending').waitFor();
  await server.restart();
  await guest.finished.nth(1).waitFor();
  await guest.idle();
  assert.deepEqual(await guest.mine.allInnerTexts(), ['Before the crash', 'Are you there?']);
  await showsWhatTheServerKnows();
});
