// Applets beside the conversation: what they can do, what they cannot, and how the page goes with them.
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { inspect, looks } from './inspect.mjs';
import { Server } from './server.mjs';
import { eventually, launch, signIn, visit } from './visit.mjs';
import { inspectInside } from './windows.mjs';

let server, browser, remembered, context, guest;

/** Written by what `docs/applets.md` says, and by nothing else. */
const probe = {
  'meta.json': JSON.stringify({
    slug: 'probe',
    name: 'Probe',
    description: 'Tries everything.',
    params: { page: 'which page' },
    permissions: ['shell'],
    updatedAt: '2026-01-01T00:00:00.000Z',
  }),
  'content.html': `
    <h1>Probe</h1>
    <button id="press" onclick="pressed('by hand')">Press</button>
    <a id="same" href="/?applet=probe&page=7">Page seven</a>
    <a id="other" href="/?applet=calculator&expression=6*7">Six times seven</a>
    <img id="picture" src="/api/file?path=one.png" alt="">
    <p id="state"></p>
    <ol id="pages"></ol>
    <script>window.scriptRan = true</script>`,
  'script.js': `
    var local = 'stays here';
    const { onStateUpdate, onUrlParamsChange } = window.appletAPI;
    expose('pressed', (how) => { document.getElementById('state').textContent = 'pressed ' + how; });
    expose({ sum: (a, b) => a + b });
    onStateUpdate((state) => { document.getElementById('state').textContent = JSON.stringify(state); });
    onUrlParamsChange((params) => {
      const line = document.createElement('li');
      line.textContent = params.page || 'none';
      document.getElementById('pages').append(line);
    });
    appletContainer.dataset.ready = 'yes';
    return;
    never();`,
  'style.css': `#state { color: rgb(1, 2, 3); }`,
};

async function put(slug, files) {
  const folder = join(server.home, 'data', 'applets', slug);
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
}

before(async () => {
  server = await Server.fresh();
  await put('probe', probe);
  browser = await launch();
  remembered = await signIn(browser, server);
});
after(async () => {
  await browser?.close();
  await server?.end();
});

async function come(search = '', options = {}) {
  context = await browser.newContext({ storageState: remembered, viewport: { width: 1280, height: 800 }, ...options });
  // Pictures come from a route that answers nothing here; that they are asked for in the right place is what counts.
  await context.route(/\/f\/[^/]+\/api\/file\?/, (route) =>
    route.fulfill({ contentType: 'image/svg+xml', body: '<svg xmlns="http://www.w3.org/2000/svg" width="3" height="2"/>' }),
  );
  guest = await visit(context, server.url + search);
}

function region(title, page = guest.page) {
  return page.getByRole('region', { name: title, exact: true });
}

/** The document of an applet, once it has run: the probe says so itself. */
async function inside(title = 'Probe', page = guest.page) {
  const content = region(title, page).frameLocator('iframe');
  await content.locator(title === 'Probe' ? '[data-ready]' : '.applet-content > *').first().waitFor();
  const element = await region(title, page).locator('iframe').elementHandle();
  const frame = await element.contentFrame();
  assert.ok(frame);
  return frame;
}

const pages = (frame) => frame.locator('#pages li').allTextContents();
const sessionOf = (page) => new URL(page.url()).searchParams.get('session');

afterEach(async () => {
  const { complaints } = guest;
  await context.close();
  assert.deepEqual(complaints, [], 'the console complained');
});

describe('an applet written by the documentation', () => {
  beforeEach(async () => {
    await come();
    await guest.ask('Hello');
    await guest.page.goto(`${server.url}/?session=${sessionOf(guest.page)}&applet=probe&page=1`);
    await guest.connected();
  });

  test('is put together as it was written', async () => {
    const frame = await inside();
    const seen = await frame.evaluate(() => ({
      scriptRan: 'scriptRan' in window,
      local: 'local' in window,
      container: appletContainer.className + ' ' + appletContainer.dataset.slug + ' ' + appletContainer.dataset.ready,
      same: appletContainer === document.querySelector('.applet-instance'),
      colour: getComputedStyle(/** @type {Element} */ (document.getElementById('state'))).color,
      search: Object.fromEntries(new URLSearchParams(location.search)),
      title: document.title,
    }));
    assert.deepEqual(seen, {
      scriptRan: false,
      local: false,
      container: 'applet-instance applet-content probe yes',
      same: true,
      colour: 'rgb(1, 2, 3)',
      search: { session: sessionOf(guest.page), applet: 'probe', page: '1' },
      title: 'Probe',
    });
  });

  test('finds every function it was promised', async () => {
    const frame = await inside();
    await frame.locator('#press').click();
    await frame.getByText('pressed by hand').waitFor();
    const session = sessionOf(guest.page);
    await context.route(/\/f\/[^/]+\/api\/(tmpfile|mcp\/read_file)$/, (route) => {
      const body = route.request().postDataJSON();
      const reply = body.data ? { ok: true, path: '/tmp/x.png', got: body } : { ok: true, content: 'text', got: body };
      return route.fulfill({ headers: { 'access-control-allow-origin': '*' }, json: reply });
    });
    const told = await frame.evaluate(async () => {
      const api = window.appletAPI;
      const large = api.sendAgentMessage('x', { imageData: 'x'.repeat(102401) }).catch((error) => error.message);
      return {
        names: Object.keys(api).sort(),
        slug: api.getAppletSlug(),
        session: api.getSessionId(),
        params: api.getAppletUrlParams(),
        sum: window.sum(2, 3),
        applets: (await api.listApplets()).map((it) => it.slug).sort(),
        saved: await api.saveTempFile('data:,x', { filename: 'x.png' }),
        read: await api.callMCPTool('read_file', { path: '/a' }),
        nothing: window.expose('nothing'),
        large: await large,
        globals: typeof setAppletState + typeof expose,
      };
    });
    assert.deepEqual(told, {
      names: [
        ...['callMCPTool', 'expose', 'getAppletSlug', 'getAppletUrlParams', 'getSessionId', 'listApplets'],
        ...['navigateAppletUrlParam', 'onStateUpdate', 'onUrlParamsChange', 'saveTempFile', 'sendAgentMessage'],
        ...['setAppletState', 'updateAppletUrlParam'],
      ],
      slug: 'probe',
      session,
      params: { session, page: '1' },
      sum: 5,
      applets: [
        ...['applet-browser', 'calculator', 'color-hash', 'doodle', 'drum-machine', 'file-browser', 'git-diff', 'git-status'],
        ...['image-viewer', 'jobs', 'probe', 'text-editor'],
      ],
      saved: { ok: true, path: '/tmp/x.png', got: { data: 'data:,x', filename: 'x.png' } },
      read: { ok: true, content: 'text', got: { path: '/a' } },
      nothing: undefined,
      large: 'Image too large (max 100KB)',
      globals: 'functionfunction',
    });
    await frame.evaluate(() => window.appletAPI.sendAgentMessage('What do you see?'));
    await guest.log.getByRole('article', { name: 'From the applet probe' }).getByText('What do you see?').waitFor();
    await guest.finished.nth(1).waitFor();
    const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const image = `data:image/png;base64,${pixel}`;
    await guest.idle();
    await frame.evaluate((imageData) => window.appletAPI.sendAgentMessage('And now?', { imageData }), image);
    await guest.log.getByRole('article', { name: 'From the applet probe' }).getByText('And now?').waitFor();
  });

  test('loads what lies under /api, however it names it', async () => {
    const frame = await inside();
    const picture = frame.locator('#picture');
    await eventually(async () => assert.equal(await picture.evaluate((it) => it.naturalWidth), 3));
    const asked = [];
    guest.page.on('request', (request) => {
      const { pathname, search } = new URL(request.url());
      if (search.startsWith('?path=')) asked.push(pathname.replace(/^\/f\/[^/]+/, '') + search);
    });
    const loaded = await frame.evaluate(async () => {
      const wait = (image) => new Promise((ok, bad) => Object.assign(image, { onload: () => ok(image.naturalWidth), onerror: bad }));
      const byProperty = new Image();
      const first = wait(byProperty);
      byProperty.src = '/api/file?path=property.png';
      const byAttribute = document.createElement('img');
      const second = wait(byAttribute);
      byAttribute.setAttribute('src', '/api/file?path=attribute.png');
      const box = document.createElement('div');
      box.innerHTML = '<img src="/api/file?path=html.png">';
      const third = wait(box.firstChild);
      const request = new XMLHttpRequest();
      const fourth = new Promise((ok) => (request.onload = () => ok(request.status)));
      request.open('GET', '/api/applets');
      request.send();
      const fifth = (await fetch(new Request('/api/applets'), { credentials: 'include' })).status;
      const picture = /** @type {HTMLImageElement} */ (document.getElementById('picture'));
      return [await first, await second, await third, await fourth, fifth, picture.naturalWidth];
    });
    assert.deepEqual(loaded, [3, 3, 3, 200, 200, 3]);
    assert.deepEqual(asked.sort(), ['attribute', 'html', 'property'].map((it) => `/api/file?path=${it}.png`));
  });

  test('goes through the history with the page, and hears of each place once', async () => {
    const { page } = guest;
    const frame = await inside();
    await frame.evaluate(() => window.appletAPI.navigateAppletUrlParam('page', '2'));
    await page.waitForURL(/page=2/);
    await frame.evaluate(() => window.appletAPI.updateAppletUrlParam('page', '3'));
    await page.waitForURL(/page=3/);
    await eventually(async () => assert.deepEqual(await pages(frame), ['1', '2', '3']));
    assert.match(await frame.evaluate(() => location.search), /page=3/);
    await page.goBack();
    await eventually(async () => assert.deepEqual(await pages(frame), ['1', '2', '3', '1']));
    await page.goForward();
    await eventually(async () => assert.deepEqual(await pages(frame), ['1', '2', '3', '1', '3']));
    await frame.locator('#same').click();
    await page.waitForURL(/page=7/);
    await eventually(async () => assert.deepEqual(await pages(frame), ['1', '2', '3', '1', '3', '7']));
    await frame.evaluate(() => window.appletAPI.navigateAppletUrlParam('page', ''));
    await eventually(() => assert.equal(new URL(page.url()).searchParams.has('page'), false));
    await page.reload();
    const again = await inside();
    await eventually(async () => assert.deepEqual(await pages(again), ['none']));
  });

  test('leads to another applet by a link, or by going there', async () => {
    const { page } = guest;
    await (await inside()).locator('#other').click();
    const calculator = await inside('Calculator');
    await eventually(async () => assert.equal(await calculator.locator('#result').textContent(), '= 42'));
    assert.match(page.url(), /applet=calculator&expression=6\*7/);
    await region('Probe').waitFor({ state: 'detached' });
    await page.goBack();
    const probe = await inside();
    await probe.evaluate(() => void (location.href = '/?applet=applet-browser&search=calc'));
    const list = await inside('Applets');
    await list.getByText('One applet').waitFor();
    await list.getByRole('link', { name: /Calculator/ }).click();
    await inside('Calculator');
    const probes = () => guest.page.frames().filter((it) => it.url().includes('applet=probe'));
    await eventually(() => assert.equal(probes().length, 0));
  });

  test('shares its state with another tab and with the agent', async () => {
    const frame = await inside();
    const tab = await visit(context, guest.page.url());
    const other = await inside('Probe', tab.page);
    await frame.evaluate(() => setAppletState({ count: 1 }));
    await other.getByText('{"count":1}').waitFor();
    assert.equal(await frame.locator('#state').textContent(), '', 'who said it does not hear it');
    await guest.ask('/tool get_applet_state {"key":"count"}');
    await guest.log.getByText('Applet state["count"]: 1').first().waitFor({ state: 'attached' });
    await guest.ask('/tool set_applet_state {"data":{"from":"agent"}}');
    await frame.getByText('{"from":"agent"}').waitFor();
    await other.getByText('{"from":"agent"}').waitFor();
    const state = await frame.evaluate(() => fetch('/api/applet/state').then((it) => it.json()));
    assert.deepEqual(state, { state: { count: 1 } });
    await guest.page.reload();
    const again = await inside();
    const kept = await again.evaluate(() => fetch('/api/applet/state').then((it) => it.json()));
    assert.deepEqual(kept, { state: { count: 1 } }, 'a reload is no new beginning');
    await tab.page.close();
    assert.deepEqual(tab.complaints, []);
  });

  test('keeps what it stores, and nobody else sees it', async () => {
    const frame = await inside();
    await frame.evaluate(() => {
      localStorage.setItem('kept', 'yes');
      localStorage.also = 'too';
      sessionStorage.setItem('passing', 'yes');
      setAppletState({ said: 'after that' });
    });
    // What is said goes in order: once this has come, so has what was stored.
    await eventually(async () => {
      const reply = await frame.evaluate(() => fetch('/api/applet/state').then((it) => it.json()));
      assert.deepEqual(reply, { state: { said: 'after that' } });
    });
    await guest.page.reload();
    await eventually(async () => {
      const again = await inside();
      const kept = await again.evaluate(() => [localStorage.getItem('kept'), localStorage.also, sessionStorage.length]);
      assert.deepEqual(kept, ['yes', 'too', 0]);
    });
    const again = await inside();
    await again.locator('#other').click();
    const calculator = await inside('Calculator');
    assert.equal(await calculator.evaluate(() => localStorage.getItem('kept')), null);
  });

  test('is loaded anew when its files change, where the person is', async () => {
    const frame = await inside();
    await frame.evaluate(() => window.appletAPI.navigateAppletUrlParam('page', '9'));
    await guest.page.waitForURL(/page=9/);
    await put('probe', { 'script.js': `${probe['script.js'].replace('return;', '')}`.replace('never();', "document.title = 'Changed';") });
    await eventually(async () => assert.equal(await (await inside()).title(), 'Changed'));
    await eventually(async () => assert.deepEqual(await pages(await inside()), ['9']));
    await put('probe', probe);
    await eventually(async () => assert.equal(await (await inside()).title(), 'Probe'));
  });

  test('reaches neither the page nor what it was not given', async () => {
    guest.foresee(/403|Content Security Policy|Failed to load resource/);
    const frame = await inside();
    const session = sessionOf(guest.page) ?? '';
    const tried = await frame.evaluate(async (own) => {
      const attempt = (act) => {
        try {
          return String(act());
        } catch (error) {
          return /** @type {Error} */ (error).name;
        }
      };
      const ask = async (method, path, body) => {
        const options = { method, headers: { 'Content-Type': 'application/json' } };
        const reply = await fetch(path, body ? { ...options, body: JSON.stringify(body) } : options);
        return `${reply.status} ${(await reply.json()).error}`;
      };
      return {
        origin: self.origin,
        page: attempt(() => parent.document.title),
        cookies: attempt(() => document.cookie),
        preferences: await ask('GET', '/api/preferences'),
        sessions: await ask('GET', '/api/sessions'),
        approvals: await ask('GET', '/api/approvals'),
        other: await ask('POST', `/api/sessions/${own.slice(0, -1)}x/messages`, { prompt: 'x' }),
        write: await ask('POST', '/api/mcp/write_file', { path: '/tmp/x', content: '' }),
        away: await fetch('https://example.com/').then(String, (error) => error.name),
        front: await fetch(location.origin.replace('null', '') + '/api/applets').then((it) => it.status),
      };
    }, session);
    assert.deepEqual(tried, {
      origin: 'null',
      page: 'SecurityError',
      cookies: 'SecurityError',
      preferences: '403 An applet may not use GET /api/preferences',
      sessions: '403 An applet may not use GET /api/sessions',
      approvals: '403 An applet may not use GET /api/approvals',
      other: `403 An applet may not use POST /api/sessions/${session.slice(0, -1)}x/messages`,
      write: '403 The applet "probe" needs the permission "files:write", which its meta.json does not declare',
      away: 'TypeError',
      front: 200,
    });
  });

  test('asks the person once for what it declared', async () => {
    guest.foresee(/404|403/);
    const frame = await inside();
    const run = () =>
      frame.evaluate(async () => {
        const headers = { 'Content-Type': 'application/json' };
        const reply = await fetch('/api/shell', { method: 'POST', headers, body: '{"command":"true"}' });
        return reply.status;
      });
    const first = run();
    const approvals = guest.page.getByRole('region', { name: 'Approvals' });
    await approvals.getByText('The applet Probe wants to run commands').first().waitFor();
    await inspect(guest, 'applet-approval');
    await approvals.getByRole('button', { name: /^Allow/ }).first().click();
    assert.notEqual(await first, 403);
    assert.notEqual(await run(), 403, 'it was asked once');
    await eventually(async () => assert.equal(await approvals.getByText('wants to run commands').count(), 0));
  });
});

describe('the page', () => {
  test('opens applets from its menu, from links in the chat, and tells the agent what is open', async () => {
    await come();
    await guest.ask('Hello');
    const { page } = guest;
    await page.getByRole('button', { name: 'Apps' }).click();
    await page.getByRole('menuitem', { name: /Calculator/ }).click();
    await inside('Calculator');
    await eventually(() => assert.equal(new URL(page.url()).searchParams.get('applet'), 'calculator'));
    await guest.ask('See [the probe](/?applet=probe&page=5) there');
    await guest.log.getByRole('link', { name: 'the probe' }).last().click();
    const frame = await inside();
    await eventually(async () => assert.deepEqual(await pages(frame), ['5']));
    assert.equal(context.pages().length, 1, 'in place');
    await guest.ask('Thanks');
    const id = sessionOf(page);
    await eventually(async () => {
      await guest.ask('/tool get_relevant_context {"setName":"applet"}');
      const log = await page.evaluate((id) => fetch(`/api/log?session=${id}`).then((it) => it.text()), id);
      assert.match(log, /\\"probe\\",\\n {4}\\"page=5\\"/);
    });
    await region('Probe').getByRole('button', { name: 'Close Probe' }).click();
    await eventually(() => assert.equal(new URL(page.url()).searchParams.get('applet') === 'probe', false));
  });

  test('keeps an applet open when the first message makes the session', async () => {
    await come('/?applet=probe&page=4');
    const early = await inside();
    assert.equal(await early.evaluate(() => window.appletAPI.getSessionId()), null);
    assert.equal(
      await early.evaluate(() => window.appletAPI.sendAgentMessage('x').catch((error) => error.message)),
      'No active session - cannot send agent message',
    );
    await guest.ask('Hello');
    await eventually(async () => {
      const frame = await inside();
      assert.equal(await frame.evaluate(() => window.appletAPI.getSessionId()), sessionOf(guest.page));
      assert.deepEqual(await pages(frame), ['4']);
    });
    assert.match(guest.page.url(), /session=.+&applet=probe&page=4/);
  });

  test('reloads when the agent says so, once, and after it has answered', async () => {
    await come();
    await guest.ask('Hello');
    await guest.page.evaluate(() => void Object.assign(window, { marked: true }));
    await guest.say('/tool reload_page {}');
    await eventually(async () => assert.equal(await guest.page.evaluate(() => 'marked' in window), false));
    await guest.page.evaluate(() => void Object.assign(window, { marked: true }));
    await guest.log.getByText('reload_page').first().waitFor();
    await guest.finished.nth(1).waitFor();
    await guest.ask('Again');
    assert.equal(await guest.page.evaluate(() => 'marked' in window), true);
  });

  test('says so when there is no such applet', async () => {
    await come('/?applet=missing');
    guest.foresee(/404/);
    await guest.page.getByText('Applet "missing" not found').waitFor();
  });
});

for (const look of looks)
  test(`bundled applets look right, ${look.name}`, async () => {
    await come('/?applet=calculator&expression=12*(3%2B4)', look.options);
    const calculator = await inside('Calculator');
    await calculator.getByRole('button', { name: 'Equals' }).click();
    await calculator.getByText('12*(3+4) = 84').waitFor();
    await calculator.locator('#sum').fill('84/7+1');
    await inspectInside(calculator);
    await inspect(guest, `calculator-${look.name}`);
    await calculator.getByRole('button', { name: 'Clear the tape' }).click();
    await guest.page.goto(`${server.url}/?applet=applet-browser`);
    const list = await inside('Applets');
    await list.getByRole('link', { name: /Calculator/ }).waitFor();
    await inspectInside(list);
    await inspect(guest, `applet-browser-${look.name}`);
  });
