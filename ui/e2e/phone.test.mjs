// The page on a phone: it comes in by the pairing link, is walked with a thumb, and is told of what happens.
import assert from 'node:assert/strict';
import { createDecipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { inspect } from './inspect.mjs';
import { Server } from './server.mjs';
import { eventually, launch, visit } from './visit.mjs';

/** A push service for one browser, which keeps what it is sent. */
class Service {
  /** @type {Buffer[]} */
  sent = [];
  browser = createECDH('prime256v1');
  secret = randomBytes(16);
  point = this.browser.generateKeys();

  async start() {
    this.http = createServer(async (request, response) => {
      const parts = [];
      for await (const part of request) parts.push(part);
      this.sent.push(Buffer.concat(parts));
      response.writeHead(201).end();
    }).listen(0, '127.0.0.1');
    await once(this.http, 'listening');
    this.endpoint = `http://127.0.0.1:${/** @type {any} */ (this.http.address()).port}/send`;
  }

  get keys() {
    return { p256dh: this.point.toString('base64url'), auth: this.secret.toString('base64url') };
  }

  /** What is in a message, as the browser reads it: RFC 8291. */
  open(sealed) {
    const [salt, sender, record] = [sealed.subarray(0, 16), sealed.subarray(21, 86), sealed.subarray(86)];
    const derive = (from, secret, about, length) => Buffer.from(hkdfSync('sha256', secret, from, about, length));
    const about = Buffer.concat([Buffer.from('WebPush: info\0'), this.point, sender]);
    const key = derive(this.secret, this.browser.computeSecret(sender), about, 32);
    const content = derive(salt, key, 'Content-Encoding: aes128gcm\0', 16);
    const nonce = derive(salt, key, 'Content-Encoding: nonce\0', 12);
    const opener = createDecipheriv('aes-128-gcm', content, nonce).setAuthTag(record.subarray(-16));
    const text = Buffer.concat([opener.update(record.subarray(0, -16)), opener.final()]);
    return text.subarray(0, -1).toString();
  }

  end() {
    this.http?.closeAllConnections();
    this.http?.close();
  }
}

const service = new Service();
let server, browser, key;

before(async () => {
  await service.start();
  server = await Server.fresh('[web]\nallow = ["127.0.0.1"]\n');
  browser = await launch();
  const paired = await server.command('pair', '--name', 'Anna', '--everything');
  key = /\b[\w-]{43}\b/.exec(paired)?.[0];
});
after(async () => {
  await browser?.close();
  await server?.end();
  service.end();
});

const tall = { name: 'light-tall', viewport: { width: 390, height: 844 }, colorScheme: /** @type {const} */ ('light') };
const small = { name: 'dark-small', viewport: { width: 360, height: 640 }, colorScheme: /** @type {const} */ ('dark') };

const phone = ({ viewport, colorScheme }) => ({
  viewport,
  colorScheme,
  hasTouch: true,
  isMobile: true,
  reducedMotion: /** @type {const} */ ('reduce'),
  permissions: ['notifications'],
});

/** Runs in the page: what a thumb would miss. Links within a text are as large as the text. */
function missed() {
  const small = [];
  for (const it of document.querySelectorAll('button, a[href], input, textarea, summary, [role=menuitem]')) {
    if (!it.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    if (it.closest('.prose, .heard-only, [inert], p') || it.matches('.skip')) continue;
    const target = it.closest('label') ?? it;
    const box = target.getBoundingClientRect();
    // What looks small may reach farther than it looks.
    const reach = getComputedStyle(target, '::after');
    const slim = target.matches('.slim');
    const width = slim ? Math.max(box.width, parseFloat(reach.width)) : box.width;
    const height = slim ? Math.max(box.height, parseFloat(reach.height)) : box.height;
    if (width < 43.5 || height < 43.5) small.push(`${it.textContent?.trim() || it.ariaLabel} ${width} × ${height}`);
  }
  return small;
}

const enter = async (context) => {
  const guest = await visit(context, `${server.url}/pair#key=${key}`);
  await guest.page.getByRole('button', { name: 'Open Megaron here' }).tap();
  await guest.box.waitFor();
  return guest;
};

describe('the page on a phone', () => {
  for (const size of [tall, small]) {
    test(`is walked with a thumb, ${size.name}`, async () => {
      const context = await browser.newContext(phone(size));
      const guest = await enter(context);
      const { page } = guest;
      const look = async (name) => {
        assert.deepEqual(await page.evaluate(missed), [], `within reach: ${name}`);
        await inspect(guest, `phone-${name}-${size.name}`);
      };
      await look('start');
      const steps = [
        { text: 'Look around', status: 'done' },
        { text: 'Sort them', status: 'active' },
      ];
      await guest.ask(`/tool plan ${JSON.stringify({ title: 'Tidy up the notes', steps })}`);
      await guest.log.getByText('ended early, 1 of 2').waitFor();
      await guest.say(`/tool write_file ${JSON.stringify({ path: `${size.name}.txt`, content: 'hi' })}`);
      const asked = page.getByRole('region', { name: 'Approvals' });
      await asked.getByRole('button', { name: 'Deny', exact: true }).waitFor();
      await look('asked');
      const box = await guest.box.boundingBox();
      assert.ok(box && box.y + box.height <= size.viewport.height, 'the place to write is on the screen');
      await asked.getByRole('button', { name: 'Deny', exact: true }).tap();
      await guest.idle();
      for (const view of ['devices', 'settings', 'approvals']) {
        await page.goto(`${server.url}/?view=${view}`);
        await guest.connected();
        await page.getByRole('heading').first().waitFor();
        await look(view);
      }
      await context.close();
    });
  }

  test('is told of what happens, and shows it when that is tapped', async () => {
    const context = await browser.newContext(phone(tall));
    // A browser that no service of the internet carries messages to.
    await context.addInitScript(
      ({ endpoint, keys }) => {
        let made = null;
        const subscription = {
          endpoint,
          toJSON: () => ({ endpoint, keys }),
          unsubscribe: async () => ((made = null), true),
        };
        Object.assign(PushManager.prototype, {
          subscribe: async () => (made = subscription),
          getSubscription: async () => made,
        });
      },
      { endpoint: service.endpoint, keys: service.keys },
    );
    const guest = await enter(context);
    const { page } = guest;
    const manifest = await page.evaluate(async () => {
      const link = /** @type {HTMLLinkElement} */ (document.querySelector('link[rel=manifest]'));
      const { name, display, start_url, icons } = await (await fetch(link.href)).json();
      const found = await Promise.all(icons.map(async ({ src }) => (await fetch(src)).status));
      return { name, display, start_url, found };
    });
    assert.deepEqual(manifest, { name: 'Megaron', display: 'standalone', start_url: '/', found: [200, 200, 200, 200] });
    await guest.ask('hello');
    const sessionId = new URL(page.url()).searchParams.get('session');

    await page.evaluate(async () => void (await navigator.serviceWorker.ready));
    await page.goto(`${server.url}/?view=devices`);
    await page.getByRole('switch', { name: 'Notifications on this device' }).tap();
    const card = page.getByRole('group', { name: 'Linux' }).or(page.getByRole('group', { name: 'Android' }));
    await card.getByRole('switch', { name: 'Quiet hours' }).tap();
    await card.getByLabel('From').fill('21:30');
    await card.getByLabel('From').blur();
    await card.getByRole('switch', { name: 'Hide what they say' }).tap();
    await eventually(async () => {
      const [{ settings }] = (await page.evaluate(async () => (await fetch('/api/push')).json())).subscriptions;
      assert.deepEqual(
        [settings.quiet, settings.hideContent],
        [{ from: '21:30', to: '07:00', exceptQuestions: true }, true],
      );
    });
    await card.getByRole('button', { name: 'Send a test' }).tap();
    await card.getByRole('status').getByText('It was sent.').waitFor();
    const sent = JSON.parse(service.open(service.sent[0]));
    assert.deepEqual(sent, { title: 'Megaron', body: 'Notifications reach this device.', kind: 'test' });
    assert.deepEqual(await page.evaluate(missed), []);
    await inspect(guest, 'phone-push');

    // What the service would hand to the browser.
    const devtools = await context.newCDPSession(page);
    const registered = new Promise((resolve) =>
      devtools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => registrations[0] && resolve(registrations[0])),
    );
    await devtools.send('ServiceWorker.enable');
    const { registrationId } = await registered;
    const data = JSON.stringify({ title: 'Sums', body: 'It is four.', kind: 'task', sessionId });
    await devtools.send('ServiceWorker.deliverPushMessage', { origin: server.url, registrationId, data });
    const shown = () =>
      page.evaluate(async () => {
        const registration = await navigator.serviceWorker.ready;
        const all = await registration.getNotifications();
        return all.map(({ title, body, tag, data }) => ({ title, body, tag, data }));
      });
    const expected = { title: 'Sums', body: 'It is four.', tag: sessionId, data: { sessionId, kind: 'task' } };
    await eventually(async () => assert.deepEqual(await shown(), [expected]));

    // A click cannot be made here; what it does can.
    const [worker] = context.serviceWorkers();
    await worker.evaluate((notice) => /** @type {any} */ (globalThis).open(notice), expected.data);
    await page.waitForURL(`${server.url}/?session=${sessionId}`);
    await guest.log.getByText('hello').first().waitFor();
    assert.deepEqual(guest.complaints, []);

    // A phone that is lost is shut out, and what is open there with it.
    guest.foresee(/401|WebSocket connection to/);
    await server.command('key', 'revoke', 'Anna');
    await page.getByRole('alert').getByText('You are not signed in').waitFor();
    await context.close();
  });
});
