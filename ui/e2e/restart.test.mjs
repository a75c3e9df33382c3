// An agent restarts the server: it asks first, the turn ends first, and the page goes on where it was.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Server } from './server.mjs';
import { deadServer, eventually, launch, signIn, visit } from './visit.mjs';

let server, browser;

before(async () => {
  server = await Server.fresh();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.end();
});

test('a restart is asked for, waits for the turn, and loses nobody', async () => {
  const context = await browser.newContext({ storageState: await signIn(browser, server) });
  const guest = await visit(context, server.url);
  // Until the server is back, the browser complains of every attempt.
  guest.foresee(deadServer);
  guest.foresee(/Failed to load resource/);
  await guest.ask('Hello');
  const before = server.log.match(/stopping/g)?.length ?? 0;
  await guest.say('/tool restart_server {"delay":1}');
  const approvals = guest.page.getByRole('region', { name: 'Approvals' });
  await approvals.getByText('Restarting the server').first().waitFor();
  await approvals.getByRole('button', { name: /^Allow/ }).first().click();
  await guest.finished.nth(1).waitFor();
  await eventually(() => assert.equal((server.log.match(/stopping/g)?.length ?? 0) > before, true));
  await eventually(async () => assert.equal((await fetch(`${server.url}/healthz`)).status, 200));
  await guest.connected();
  assert.equal(server.process?.exitCode, null, 'it is the same process');
  await guest.ask('Still there?');
  const told = await guest.told();
  assert.equal(told.filter((line) => line === 'Still there?').length, 1);
  assert.equal(told.filter((line) => line === 'Hello').length, 1);
  assert.deepEqual(guest.complaints, []);
  await context.close();
});
