// The App Protocol with a real server, page and frames: whatever tabs and apps do, a command counts once and silence is told.
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { Agent } from './agent.mjs';
import { Server } from './server.mjs';
import { deadServer, eventually, launch, signIn, visit } from './visit.mjs';

let server, browser, remembered, context, agent;
/** Everybody who looks. */
let guests = [];

const AWKWARD = '/api/apps/awkward/index.html';
const SILENT = 'App did not respond (timeout).';
const LOST = `${SILENT} The connection that hosted the app closed before it replied; the command may have run.`;
const RELOADED = `${SILENT} The app reloaded before it replied; the command may have run.`;
const REPLACED = `${SILENT} The window was closed or shows something else now; the command may have run.`;
const NONE = { always: 0, last: 0, never: 0, runs: 0 };

before(async () => {
  server = await Server.fresh('', handmade);
  browser = await launch();
  remembered = await signIn(browser, server);
});
after(async () => {
  await browser?.close();
  await server?.end();
});
beforeEach(async () => {
  context = await browser.newContext({ storageState: remembered, viewport: { width: 1280, height: 800 } });
  agent = await Agent.come(server);
  await agent.call('app_open', { appId: 'awkward' });
});
afterEach(async () => {
  const complaints = guests.flatMap((it) => it.complaints);
  guests = [];
  await context.close();
  agent.leave();
  assert.deepEqual(complaints, [], 'the console complained');
});

/** One more tab that shows the windows of the session. */
async function look() {
  const guest = await visit(context, `${server.url}/?session=${agent.session}`);
  guests.push(guest);
  await guest.page.locator('iframe').first().waitFor({ state: 'attached' });
  return guest;
}

const region = (guest, title = 'Awkward') => guest.page.getByRole('region', { name: title, exact: true });
const content = (guest, title) => region(guest, title).frameLocator('iframe');
const inside = async (guest, title) => {
  const element = await region(guest, title).locator('iframe').elementHandle();
  const frame = await element?.contentFrame();
  assert.ok(frame);
  return frame;
};
const run = (command, params, window = 'awkward') => agent.command(window, command, params);
/** Begins what does not end by itself, and comes back when the app is at it. */
async function held(guest) {
  const holding = run('holds');
  await content(guest).locator('#log').getByText('holds').waitFor();
  return { holding };
}

test('a command runs once, in the tab that was ready last, and others are told it when it is their turn', async () => {
  const first = await look();
  await agent.registered(1);
  await look();
  await agent.registered(2);
  assert.deepEqual(await run('addAlways', { by: 2 }), { always: 2 });
  assert.deepEqual(await run('addLast'), { last: 1 });
  assert.deepEqual(await run('addLast', { by: 5 }), { last: 6 });
  assert.deepEqual(await run('addNever'), { never: 1 });
  await first.page.reload();
  await agent.registered(3);
  assert.deepEqual(await run('tells'), {
    counters: { ...NONE, always: 2, last: 5 },
    log: ['addAlways {"by":2} (replayed)', 'addLast {"by":5} (replayed)'],
  });
  assert.deepEqual(await run('addAlways'), { always: 3 });
  await first.page.close();
  await eventually(async () => assert.equal((await agent.facts('owner')).at(-1).reason, 'failover'));
  const { counters, log } = await run('tells');
  assert.deepEqual(counters, { always: 3, last: 6, never: 1, runs: 0 }, 'only what it lacks is given to the other');
  assert.deepEqual(log.slice(4), ['addAlways  (replayed)']);
  const asked = (await agent.facts('request')).filter((it) => it.cause === 'tool').map((it) => it.request);
  const said = (await agent.facts('response')).map((it) => it.request).filter((it) => asked.includes(it));
  assert.deepEqual(said.toSorted(), asked.toSorted(), 'each has one answer');
});

test('what was under way in a tab that closes is told at once, and not done in another', async () => {
  await look();
  await agent.registered(1);
  const owner = await look();
  await agent.registered(2);
  const holding = await held(owner);
  await owner.page.close();
  assert.equal(await holding.holding, LOST);
  assert.deepEqual(await run('tells'), { counters: NONE, log: [] });
});

test('an app that loads anew before it has answered, or goes elsewhere and comes back, is told all that counts', async () => {
  const guest = await look();
  await agent.registered(1);
  await run('addAlways', { by: 3 });
  const reloading = await held(guest);
  await (await inside(guest)).evaluate(() => location.reload());
  assert.equal(await reloading.holding, RELOADED);
  await agent.registered(2);
  assert.equal(await run('navigates'), RELOADED);
  await agent.registered(3);
  const turning = await held(guest);
  await guest.page.reload();
  assert.equal(await turning.holding, LOST);
  await agent.registered(4);
  const given = ['addAlways {"by":3} (replayed)'];
  assert.deepEqual(await run('tells'), { counters: { ...NONE, always: 3 }, log: given });
});

test('another app in the window, and the same window opened anew, know nothing of what was before', async () => {
  const guest = await look();
  await agent.registered(1);
  await run('addAlways');
  const replaced = await held(guest);
  await agent.call('window_update', { windowId: 'awkward', content: '/api/apps/sheet/index.html' });
  assert.equal(await replaced.holding, REPLACED);
  await agent.registered(2);
  assert.equal(JSON.parse(await agent.query('awkward', 'manifest')).appId, 'sheet');
  await agent.call('window_update', { windowId: 'awkward', content: AWKWARD });
  await agent.registered(3);
  assert.deepEqual(await run('tells'), { counters: NONE, log: [] });
  await run('addAlways');
  const closed = await held(guest);
  await agent.call('window_close', { windowId: 'awkward' });
  assert.equal(await closed.holding, REPLACED);
  assert.equal(await agent.query('awkward', 'counters'), 'Window "awkward" not found.');
  await agent.call('app_open', { appId: 'awkward' });
  await agent.registered(4);
  assert.deepEqual(await run('tells'), { counters: NONE, log: [] });
  assert.deepEqual(await agent.facts('replay'), []);
});

test('only the app that was asked answers, and only once; whoever else tries is put on record', async () => {
  await agent.call('app_open', { appId: 'awkward', windowId: 'other' });
  const guest = await look();
  await agent.registered(2);
  const holding = run('holds');
  const requestId = await agent.requestFor('holds');
  assert.equal(await run('forges', { requestId }, 'other'), 'Done.');
  await guest.page.evaluate(
    ({ session, requestId }) =>
      new Promise((done) => {
        const socket = new WebSocket(`${location.origin.replace('http', 'ws')}/ws?sessionId=${session}`);
        const response = { kind: 'command', result: 'forged' };
        socket.onmessage = () => {
          socket.onmessage = null;
          socket.send(JSON.stringify({ type: 'APP_PROTOCOL_RESPONSE', requestId, windowId: 'awkward', response }));
          socket.send(JSON.stringify({ type: 'APP_PROTOCOL_RESPONSE', requestId: 'req-guessed', response }));
          done(undefined);
        };
      }),
    { session: agent.session, requestId },
  );
  await eventually(async () => {
    const rejected = (await agent.facts('rejected')).map((it) => [it.request, it.why]);
    assert.deepEqual(rejected, [
      [requestId, 'it was asked of another window'],
      [requestId, 'it was asked of another connection'],
      ['req-guessed', 'no such request is open'],
    ]);
  });
  assert.deepEqual(await run('releases'), { released: 1 });
  assert.deepEqual(await holding, { runs: 1 });
  assert.equal(await run('answersTwice'), 'the first answer');
  assert.equal(await run('answersStrangely'), 'Unknown response type: yaar:app-surprise-response');
  assert.equal(await run('answersWrongly'), 'Unexpected response kind.');
});

test('an app that says too much is put out, which whoever asks it is told, and starts again with all that counts', async () => {
  const guest = await look();
  await agent.registered(1);
  await run('addAlways', { by: 4 });
  assert.deepEqual(await run('readyStorm', { count: 1000 }), { times: 1000 });
  assert.deepEqual(await run('addAlways'), { always: 5 }, 'nothing was repeated for it');
  assert.equal((await agent.facts('ready')).length, 1);
  const holding = run('holds');
  await agent.requestFor('holds');
  assert.equal(await run('readyStorm', { count: 5000 }), 'No iframe found in window');
  assert.equal(await holding, 'No iframe found in window');
  await region(guest).getByText('stopped because it sent far too many messages').waitFor();
  assert.equal(await agent.query('awkward', 'counters'), 'No iframe found in window');
  await region(guest).getByRole('button', { name: 'Start again' }).click();
  await agent.registered(2);
  assert.deepEqual((await run('tells')).counters, { ...NONE, always: 5 });
});

test('silence is told after its time, each kind in its own words, and what comes late follows', async () => {
  await agent.call('window_create', {
    windowId: 'silent',
    title: 'Silent',
    renderer: 'iframe',
    content: '/api/apps/awkward/silent.html',
  });
  const unseen = await agent.query('awkward', 'counters');
  assert.equal(
    unseen,
    'App did not register with the App Protocol (timeout). The iframe app may not call window.yaar.app.register(). ' +
      'No client is connected to this session, so no page can load the app.',
  );
  const guest = await look();
  await agent.registered(1);
  const answers = Promise.all([
    agent.query('silent', 'counters'),
    agent.query('awkward', 'never'),
    run('never'),
    run('late', { ms: 5500 }),
  ]);
  const late = await agent.requestFor('late');
  const never = await agent.requestFor('never');
  const open = (request) =>
    `${SILENT}\nThe request ${request} is still open. Its result will follow as a message in this session, ` +
    'unless the app is closed or loaded anew first.';
  assert.deepEqual(await answers, [
    'App did not register with the App Protocol (timeout). The iframe app may not call window.yaar.app.register().',
    SILENT,
    open(never),
    open(late),
  ]);
  await guest.log.getByText(`request ${late}) had no reply in time. It has succeeded now.`).waitFor();
  const outcome = (await agent.facts()).filter((it) => it.request === late && it.app !== 'request');
  assert.deepEqual(
    outcome.map((it) => [it.app, it.reason ?? it.late]),
    [
      ['failed', 'timeout'],
      ['response', true],
    ],
  );
});

/** An app as somebody writes it by hand, with a copy of the kit that compiled apps carry along. */
async function handmade({ home }) {
  const folder = join(home, 'data/apps/handmade');
  await mkdir(folder, { recursive: true });
  const page = (name) => `<!doctype html><html><head><script>
    window.yaar.app.register({ appId: 'handmade', name: '${name}', commands: {
      count: { description: 'Counts', replay: 'last', timeoutMs: 20000, handler: () => (window.n = (window.n ?? 0) + 1) } } });
    </script><script>
    if (!window.__yaarAppProtocolInstalled) parent.postMessage({ type: 'yaar:app-ready', appId: 'copy' }, '*');
    </script></head><body><h1>${name}</h1><a href="second.html">On</a></body></html>`;
  await writeFile(join(folder, 'app.json'), '{"name":"Handmade"}');
  await writeFile(join(folder, 'index.html'), page('First'));
  await writeFile(join(folder, 'second.html'), page('Second'));
}

test('a page written by hand registers in its first script, and again after going on and loading anew', async () => {
  await agent.call('app_open', { appId: 'handmade' });
  const guest = await look();
  const name = async () => JSON.parse(await agent.query('handmade', 'manifest')).name;
  await agent.registered(2);
  const { commands } = JSON.parse(await agent.query('handmade', 'manifest'));
  assert.deepEqual(commands, { count: { description: 'Counts', replay: 'last', timeoutMs: 20000 } });
  await run('count', undefined, 'handmade');
  assert.equal(await run('count', undefined, 'handmade'), 2);
  await content(guest, 'Handmade').getByRole('link', { name: 'On' }).click();
  await agent.registered(3);
  assert.equal(await name(), 'Second');
  assert.equal(await run('count', undefined, 'handmade'), 2, 'the last was given again');
  await (await inside(guest, 'Handmade')).evaluate(() => location.reload());
  await agent.registered(4);
  assert.equal(await name(), 'Second');
  assert.equal(await run('count', undefined, 'handmade'), 2);
});

/** Does something so many times, some of it at once. */
async function times(count, act) {
  let next = 0;
  const worker = async () => {
    while (next < count) await act(next++);
  };
  await Promise.all(Array.from({ length: 64 }, worker));
}

test('a thousand commands are there after a power cut and a reload, each once, and the next one works', async () => {
  await agent.call('app_open', { appId: 'sheet' });
  const guest = await look();
  await agent.registered(2);
  const cell = (n) => `${'ABCDE'[n % 5]}${Math.floor(n / 5) + 1}`;
  await times(1000, async (n) => {
    const { ok } = await run('setCells', { cells: { [cell(n)]: n } }, 'sheet');
    assert.equal(ok, true);
    if (n % 10 === 0) await run('addAlways');
  });
  const before = JSON.parse(await agent.query('sheet', 'values'));
  assert.deepEqual(before.rows.flat(), Array.from({ length: 1000 }, (_, n) => n));
  guest.foresee(deadServer);
  const sandbox = new URL((await inside(guest, 'Sheet')).url()).host;
  await server.kill();
  await server.restart(sandbox);
  await eventually(async () => assert.equal((await agent.facts('ready')).length, 4));
  await guest.ask('/tool app_command {"windowId":"awkward","command":"tells"}');
  const { counters, log } = (await agent.facts('response')).at(-1).response.value;
  assert.deepEqual([counters, log], [{ ...NONE, always: 100 }, Array(100).fill('addAlways ')], 'nothing is done twice');
  await guest.page.reload();
  await agent.registered(4);
  await guest.ask('/tool app_command {"windowId":"awkward","command":"addAlways"}');
  await guest.ask('/tool app_query {"windowId":"sheet","stateKey":"values"}');
  await guest.ask('/tool app_command {"windowId":"sheet","command":"evaluate","params":{"formula":"=SUM(A1:E200)"}}');
  const said = (await agent.facts('response')).slice(-3).map((it) => it.response.value);
  assert.deepEqual([said[0], said[1].rows, said[2].value], [{ always: 101 }, before.rows, 499_500]);
});
