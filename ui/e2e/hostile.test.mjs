// What is in a window tries to get out: nothing of the page, of the person or of other windows is within its reach.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { Server } from './server.mjs';
import { eventually, launch, signIn, visit } from './visit.mjs';
import { Windows } from './windows.mjs';

let server, browser, remembered, context, guest, windows;

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
  guest = await visit(context, server.url);
  windows = new Windows(guest);
  await guest.ask('Hello');
  await windows.open();
});
afterEach(() => context.close());

/** How each attempt ended: the name of the error, or that it worked. */
function attempts(frame) {
  return frame.evaluate(() => {
    const tries = {
      'read the page': () => parent.document.body.innerHTML,
      'read the top': () => top?.document.title,
      'read the address': () => parent.location.href,
      'call the page': () => /** @type {any} */ (parent).eval('1'),
      'read cookies': () => document.cookie,
      'write cookies': () => (document.cookie = 'a=b'),
      'use storage': () => localStorage.length,
      'use storage of the session': () => sessionStorage.length,
      'open a database': () => indexedDB.open('a'),
      'leave by the top': () => {
        if (top) top.location.href = 'about:blank';
      },
      'reach its own element': () => window.frameElement?.getAttribute('sandbox'),
    };
    return Object.entries(tries).map(([name, attempt]) => {
      try {
        const outcome = attempt();
        return `${name}: ${outcome === undefined || outcome === null ? 'nothing' : 'worked'}`;
      } catch (error) {
        return `${name}: ${/** @type {Error} */ (error).name}`;
      }
    });
  });
}

test('the page, its address, cookies, storage and the top window are out of reach', async () => {
  const frame = await windows.inside();
  assert.equal(await frame.evaluate(() => origin), 'null');
  assert.deepEqual(await attempts(frame), [
    'read the page: SecurityError',
    'read the top: SecurityError',
    'read the address: SecurityError',
    'call the page: SecurityError',
    'read cookies: SecurityError',
    'write cookies: SecurityError',
    'use storage: SecurityError',
    'use storage of the session: SecurityError',
    'open a database: SecurityError',
    'leave by the top: SecurityError',
    'reach its own element: nothing',
  ]);
  assert.equal(new URL(guest.page.url()).origin, server.url);
  await guest.connected();
});

test('neither the server nor the rest of the world can be asked for anything', async () => {
  const frame = await windows.inside();
  const outcomes = await frame.evaluate(async (server) => {
    const asked = [`${server}/api/sessions`, `${location.origin}/`, 'http://127.0.0.1:1/', `${server}/healthz`];
    const answers = await Promise.all(
      asked.map((url) =>
        fetch(url, { credentials: 'include' }).then(
          (it) => it.status,
          (error) => error.name,
        ),
      ),
    );
    const socket = await new Promise((resolve) => {
      try {
        const attempt = new WebSocket(`${server.replace('http', 'ws')}/ws`);
        attempt.onopen = () => resolve('open');
        attempt.onerror = () => resolve('refused');
      } catch (error) {
        resolve(/** @type {Error} */ (error).name);
      }
    });
    const own = await fetch('board.css').then((it) => it.status);
    return { answers, socket, own };
  }, server.url);
  assert.deepEqual(outcomes.answers, Array(4).fill('TypeError'));
  assert.notEqual(outcomes.socket, 'open');
  assert.equal(outcomes.own, 200, 'its own files are its own');
});

test('the very address of a window, opened by itself, is as shut in', async () => {
  const frame = await windows.inside();
  const alone = await context.newPage();
  await alone.goto(frame.url());
  assert.equal(await alone.evaluate(() => origin), 'null');
  assert.match(
    await alone.evaluate(() => {
      try {
        return document.cookie;
      } catch (error) {
        return /** @type {Error} */ (error).name;
      }
    }),
    /SecurityError/,
  );
});

test('another page cannot frame it', async () => {
  const frame = await windows.inside();
  const other = createServer((_, answer) => {
    answer.setHeader('content-type', 'text/html');
    answer.end(`<iframe src="${frame.url()}"></iframe>`);
  });
  await new Promise((listening) => other.listen(0, '127.0.0.1', () => listening(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (other.address());
  const elsewhere = await context.newPage();
  const refused = elsewhere.waitForEvent('console', (it) => /frame-ancestors/.test(it.text()));
  await elsewhere.goto(`http://127.0.0.1:${port}/`);
  await refused;
  other.close();
  other.closeAllConnections();
});

test('a window speaks for itself alone', async () => {
  await windows.open('Notice board 2');
  const second = await windows.inside('Notice board 2');
  const content = await windows.ready('Notice board 2');
  // It names the first frame, writes to its window, and pretends to be the page.
  await second.evaluate(() => {
    parent.postMessage({ type: 'frameMessage', frameId: 'another', message: { type: 'note', text: 'forged' } }, '*');
    const first = parent.frames[0];
    first?.postMessage({ type: 'notes', notes: [{ id: 'x', text: 'forged' }] }, '*');
    first?.postMessage({ type: 'megaron:error', error: 'forged' }, '*');
    first?.postMessage({ type: 'megaron:theme', theme: { scheme: 'dark', tokens: { '--paper': 'red' } } }, '*');
  });
  await content.getByText('That did not work: expected a note, remove or say').waitFor();
  await guest.page.getByRole('tab', { name: 'Notice board', exact: true }).click();
  const first = await windows.inside();
  // Whatever was sent before this has arrived by now.
  await windows.pin('genuine');
  assert.deepEqual(await first.evaluate(() => document.getElementById('notes')?.innerText.includes('forged')), false);
  assert.equal(await first.evaluate(() => document.getElementById('remark')?.textContent), '');
  assert.equal(await first.evaluate(() => document.documentElement.style.colorScheme), 'light');
});

test('a popup of a window is nobody to the page', async () => {
  const frame = await windows.inside();
  const opened = context.waitForEvent('page');
  await frame.evaluate(() => void open('about:blank'));
  const popup = await opened;
  await popup.evaluate(() => opener.parent.postMessage({ type: 'note', text: 'from a popup' }, '*'));
  await windows.pin('from the window');
  const content = await windows.ready();
  assert.equal(await content.getByRole('listitem').filter({ hasText: 'from a popup' }).count(), 0);
  await popup.close();
});

test('a window that goes to another window can say nothing any more, until it starts again', async () => {
  await windows.open('Notice board 2');
  const second = await windows.inside('Notice board 2');
  await guest.page.getByRole('tab', { name: 'Notice board', exact: true }).click();
  const first = await windows.inside();
  await first.evaluate((address) => (location.href = address), second.url());
  const strayed = windows.region().getByText('went somewhere else by itself');
  await strayed.waitFor();
  const form = windows.region().frameLocator('iframe');
  await form.getByRole('textbox').fill('from elsewhere');
  await form.getByRole('button', { name: 'Pin' }).click();
  await windows.region().getByRole('button', { name: 'Start again' }).click();
  await strayed.waitFor({ state: 'hidden' });
  const content = await windows.ready();
  await windows.pin('home again');
  assert.equal(await content.getByRole('listitem').filter({ hasText: 'from elsewhere' }).count(), 0);
});

for (const place of ['data:text/html,<script>parent.postMessage({type:"note",text:"out"},"*")</script>', 'about:blank', '/']) {
  test(`a window does not get as far as ${place.slice(0, 11)}`, async () => {
    const frame = await windows.inside();
    await frame.evaluate((place) => (location.href = place), place);
    await windows.region().getByText('went somewhere else by itself').waitFor();
    await windows.region().getByRole('button', { name: 'Start again' }).click();
    const content = await windows.ready();
    await windows.pin(`back from ${place.slice(0, 5)}`);
    assert.equal(await content.getByText('out', { exact: true }).count(), 0);
  });
}

test('a flood puts the window out and harms nobody else', async () => {
  const frame = await windows.inside();
  await frame.evaluate(() => {
    for (let count = 0; count < 20_000; count += 1) parent.postMessage({ type: 'note', text: '' }, '*');
  });
  const out = windows.region().getByText('stopped because it sent far too many messages');
  await out.waitFor();
  await guest.ask('Are you still there?');
  await windows.region().getByRole('button', { name: 'Start again' }).click();
  await windows.ready();
  await windows.pin('after the flood');
});

test('a message that is too large comes back with an error, and the connection lives', async () => {
  const frame = await windows.inside();
  const error = await frame.evaluate(
    () =>
      new Promise((resolve) => {
        const { megaron } = /** @type {any} */ (window);
        megaron.onError(resolve);
        megaron.send({ type: 'note', text: 'x'.repeat(1_000_001) });
      }),
  );
  assert.equal(error, 'a message may have 1000000 bytes at most');
  await eventually(async () => windows.pin('small enough'));
});
