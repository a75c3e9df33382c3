// Widgets of a server that means no good try to get out, and to get at each other: nothing of it works, and what is wrong is said.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { inspect, looks } from './inspect.mjs';
import { Server } from './server.mjs';
import { eventually, focused, launch, signIn, visit } from './visit.mjs';

const program = join(import.meta.dirname, 'hostile-server.mjs');
const config = `[mcp.servers.hostile]\ncommand = "node"\nargs = [${JSON.stringify(program)}]\ntrusted = true\n`;
let server, browser, remembered, context, guest;

before(async () => {
  server = await Server.fresh(config);
  browser = await launch();
  remembered = await signIn(browser, server);
});
after(async () => {
  await browser?.close();
  await server?.end();
});

async function enter(options = {}) {
  context = await browser.newContext({ storageState: remembered, ...options });
  guest = await visit(context, server.url);
  await eventually(async () => {
    const answer = await guest.page.request.get(`${server.url}/api/widgets`);
    assert.ok((await answer.json()).widgets.length >= 6);
  });
}
beforeEach(() => enter());
afterEach(() => context.close());

const region = (name) => guest.log.getByRole('region', { name: `Widget of ${name}` });

/** Calls a tool, and gives back its widget. */
async function show(tool) {
  await guest.ask(`/tool ${tool} {}`);
  return region(tool[0].toUpperCase() + tool.slice(1));
}

/** The document of a widget, once it was greeted. */
async function inside(widget) {
  await widget.locator('iframe').contentFrame().getByText('greeted by megaron').waitFor();
  return (await widget.locator('iframe').elementHandle()).contentFrame();
}

/** How each attempt ended: the name of the error, or what came of it. */
function attempts(frame) {
  return frame.evaluate(() => {
    const [other] = /** @type {any[]} */ (
      Array.from({ length: parent.length }, (_, at) => parent[at]).filter((it) => it !== window)
    );
    const link = document.createElement('a');
    Object.assign(link, { href: 'about:blank', target: '_top' });
    document.body.append(link);
    const tries = {
      'there is a sibling': () => other !== undefined,
      'read the page': () => parent.document.body.innerHTML,
      'read a sibling': () => other.document.body.innerHTML,
      'call a sibling': () => other.heard.length,
      'read cookies': () => document.cookie,
      'use storage': () => localStorage.length,
      'open a database': () => indexedDB.open('a'),
      'navigate the top': () => (/** @type {any} */ (top).location.href = 'about:blank'),
      'navigate a sibling': () => (other.location.href = 'about:blank'),
      'open a popup': () => open('about:blank'),
      'lead the top away': () => link.click(),
    };
    return Object.entries(tries).map(([name, attempt]) => {
      try {
        const outcome = attempt();
        return `${name}: ${outcome === undefined || outcome === null ? 'nothing' : outcome === true ? 'yes' : 'worked'}`;
      } catch (error) {
        return `${name}: ${/** @type {Error} */ (error).name}`;
      }
    });
  });
}

test('a widget reaches neither the page nor its siblings, and no word of it passes for somebody else', async () => {
  guest.foresee(/unsafe attempt|sandbox|Blocked|Content Security Policy|Permissions policy/i);
  const victim = await inside(await show('victim'));
  const widget = await show('trap');
  const trap = await inside(widget);
  assert.deepEqual(await attempts(trap), [
    'there is a sibling: yes',
    'read the page: SecurityError',
    'read a sibling: SecurityError',
    'call a sibling: SecurityError',
    'read cookies: SecurityError',
    'use storage: SecurityError',
    'open a database: SecurityError',
    'navigate the top: SecurityError',
    'navigate a sibling: SecurityError',
    'open a popup: nothing',
    'lead the top away: nothing',
  ]);
  assert.equal(new URL(guest.page.url()).origin, server.url);
  assert.equal(context.pages().length, 1);

  // A forged answer to its sibling is not heard there; what the page says afterwards is.
  const before = await victim.evaluate(() => /** @type {any} */ (window).heard.length);
  await trap.evaluate(() => {
    for (let at = 0; at < parent.length; at += 1)
      parent[at]?.postMessage({ jsonrpc: '2.0', id: 0, result: { hostInfo: { name: 'the trap' } } }, '*');
  });
  await victim.evaluate(() => /** @type {any} */ (window).post({ id: 'last', method: 'ping' }));
  await eventually(async () => {
    const heard = await victim.evaluate(() => /** @type {any} */ (window).heard);
    assert.deepEqual(heard.slice(before), [{ jsonrpc: '2.0', id: 'last', result: {} }]);
  });
  assert.equal(await victim.evaluate(() => document.querySelector('#said')?.textContent), 'greeted by megaron');

  // A frame within a frame speaks to the page itself, and is nobody there.
  await trap.evaluate(async () => {
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'counted', arguments: {} } };
    const inner = document.createElement('iframe');
    inner.srcdoc = `<script>parent.parent.postMessage(${JSON.stringify(call)}, '*')</script>`;
    const loaded = new Promise((resolve) => inner.addEventListener('load', resolve));
    document.body.append(inner);
    await loaded;
    parent.postMessage({ type: 'frameMessage', frameId: 'x', message: call }, '*');
  });
  // The same words under its own name are heard, and counted as its own.
  await trap.evaluate(() =>
    /** @type {any} */ (window).post({ id: 5, method: 'tools/call', params: { name: 'counted', arguments: {} } }),
  );
  await eventually(async () => {
    const heard = await trap.evaluate(() => /** @type {any} */ (window).heard);
    const answer = heard.find((it) => it.id === 5);
    assert.equal(answer?.result?.content?.[0]?.text, 'called 1 times');
  });
});

test('a widget that says too much, or what only its host may say, changes nothing and is answered', async () => {
  const widget = await show('trap');
  const trap = await inside(widget);
  const answered = async (id) => (await trap.evaluate(() => /** @type {any} */ (window).heard)).find((it) => it.id === id);
  const address = await widget.locator('iframe').getAttribute('src');
  await trap.evaluate(() => {
    const { post } = /** @type {any} */ (window);
    post({ method: 'ui/notifications/sandbox-resource-ready', params: { html: '<p>taken over</p>', sandbox: 'allow-same-origin' } });
    const params = { x: 'x'.repeat(2 << 20) };
    for (let id = 10; id < 20; id += 1) post({ id, method: 'ping', params });
    for (let count = 0; count < 10; count += 1) post({ method: 'notifications/message', params });
    post({ id: 'after', method: 'ping' });
  });
  await eventually(async () => assert.deepEqual(await answered('after'), { jsonrpc: '2.0', id: 'after', result: {} }));
  for (let id = 10; id < 20; id += 1) {
    const { error } = await answered(id);
    assert.deepEqual([error.code, error.data], [-32000, { limit: 'messageBytes', max: 1_000_000 }]);
  }
  // The page is at hand all the while, and the widget what it was.
  await guest.box.fill('still here');
  assert.equal(await guest.box.inputValue(), 'still here');
  assert.equal(await widget.locator('iframe').getAttribute('src'), address);
  assert.equal(await trap.evaluate(() => document.querySelector('#said')?.textContent), 'greeted by megaron');
  assert.deepEqual(guest.complaints, []);
});

test('what a server asks for is given only where that is harmless, and its policy is a header', async () => {
  guest.foresee(/sandbox|Content Security Policy|Permissions policy/i);
  const widget = await show('trap');
  const trap = await inside(widget);
  const frame = widget.locator('iframe');
  assert.equal(await frame.getAttribute('sandbox'), 'allow-scripts allow-forms');
  assert.doesNotMatch((await frame.getAttribute('allow')) ?? '', /microphone|camera/);
  assert.equal(await trap.evaluate(() => origin), 'null');
  const allowed = await trap.evaluate(() =>
    ['microphone', 'camera', 'geolocation', 'clipboard-write'].filter((name) =>
      /** @type {any} */ (document).featurePolicy.allowsFeature(name),
    ),
  );
  assert.deepEqual(allowed, []);
  const answer = await guest.page.request.get((await frame.getAttribute('src')) ?? '');
  const policy = answer.headers()['content-security-policy'] ?? '';
  assert.match(policy, /connect-src https:\/\/api\.example;/);
  assert.match(policy, /script-src [^;]*https:\/\/cdn\.example/);
  assert.match(policy, /object-src 'none'/);
  assert.doesNotMatch(policy, /script-src \*|a\.com/);
  assert.equal((await guest.page.request.get(new URL('/api/sessions', answer.url()).href)).status(), 404);
});

test('a widget that never has enough room gets no more than there is', async () => {
  const tall = await show('tall');
  await inside(tall);
  await eventually(async () => assert.equal((await tall.locator('iframe').boundingBox())?.height, 800));
});

test('a widget is shown large or kept in sight, and stays the same all the while', async () => {
  const widget = await show('victim');
  const document = await inside(widget);
  await document.evaluate(() => (/** @type {any} */ (window).mark = 'same'));
  const marked = async () => {
    assert.equal(await document.evaluate(() => /** @type {any} */ (window).mark), 'same');
  };
  await widget.getByRole('button', { name: 'Show large' }).click();
  const large = guest.page.getByRole('dialog', { name: 'Widget of Victim' });
  const back = large.getByRole('button', { name: 'Back to the conversation' });
  await focused(back);
  const box = await large.boundingBox();
  assert.deepEqual([box?.x, box?.y, box?.width, box?.height], [0, 0, 1280, 720]);
  await marked();
  await guest.page.keyboard.press('Escape');
  await large.waitFor({ state: 'hidden' });
  await widget.getByRole('button', { name: 'Keep in sight' }).click();
  await widget.getByRole('button', { name: 'Back to the conversation' }).waitFor();
  await marked();
  await widget.getByRole('button', { name: 'Back to the conversation' }).click();
  await widget.getByRole('button', { name: 'Show large' }).waitFor();
  await marked();
  assert.deepEqual(guest.complaints, []);
});

test('a widget far out of sight is taken down, and is there again for whoever comes near', async () => {
  await guest.page.clock.install();
  await guest.page.reload();
  const widget = await show('victim');
  const frame = widget.locator('iframe');
  await inside(widget);
  const first = await frame.getAttribute('src');
  await guest.ask(`Hello\n${'a line\n'.repeat(300)}`);
  await eventually(async () => {
    await guest.page.clock.fastForward(30_000);
    await widget.getByText('The widget rests').waitFor({ state: 'attached', timeout: 1_000 });
  });
  assert.equal(await frame.count(), 0);
  await guest.log.evaluate((log) => (log.scrollTop = 0));
  await inside(widget);
  assert.notEqual(await frame.getAttribute('src'), first);
  assert.deepEqual(guest.complaints, []);
});

test('widgets look well however they are shown, in light and dark, wide and narrow', async () => {
  await context.close();
  await enter(looks[0]?.options);
  const widget = await show('victim');
  await inside(widget);
  const back = guest.page.getByRole('button', { name: 'Back to the conversation' });
  // One of each is enough: all are drawn in the same tokens.
  for (const { name, options } of [looks[0], looks[3]].filter((it) => it !== undefined)) {
    await guest.page.emulateMedia({ colorScheme: options.colorScheme });
    await guest.page.setViewportSize(options.viewport);
    await inspect(guest, `widget-${name}`);
    for (const [way, title] of Object.entries({ large: 'Show large', kept: 'Keep in sight' })) {
      await widget.getByRole('button', { name: title }).click();
      await back.waitFor();
      await inspect(guest, `widget-${way}-${name}`);
      await back.click();
      await widget.getByRole('button', { name: title }).waitFor();
    }
  }
});
