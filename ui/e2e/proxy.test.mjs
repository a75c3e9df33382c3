// Windows for those who come by other ways: through a proxy with TLS, or over IPv6.
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { chromium } from 'playwright-core';
import { inspect, looks } from './inspect.mjs';
import { certificate, freePort, proxy } from './proxy.mjs';
import { Server } from './server.mjs';
import { visit } from './visit.mjs';
import { Windows } from './windows.mjs';

const [HOUSE, FRAMES] = ['megaron.test', 'frames.test'];

let browser, tls, context, guest, windows;

before(async () => {
  tls = await certificate(HOUSE);
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM_BIN ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--host-resolver-rules=MAP *.test 127.0.0.1'],
  });
});
after(() => browser?.close());
afterEach(async () => {
  const { complaints } = guest;
  await context.close();
  assert.deepEqual(complaints, [], 'the console complained');
});

async function signIn({ pathname, search }, origin) {
  const page = await context.newPage();
  await page.goto(`${origin}${pathname}${search}`);
  await page.getByRole('textbox', { name: 'Message' }).waitFor();
  await page.close();
}

/** Signs in by way of this address, unless somebody is signed in there, and asks for the notice board. */
async function come(server, origin, options = {}) {
  // What the page keeps for being offline needs a certificate that is more than put up with.
  const usual = { ignoreHTTPSErrors: true, serviceWorkers: /** @type {const} */ ('block'), viewport: { width: 1280, height: 800 } };
  context = await browser.newContext({ ...usual, ...options });
  if (!options.storageState) await signIn(new URL(server.login), origin);
  guest = await visit(context, origin);
  windows = new Windows(guest);
  await guest.box.waitFor();
  await windows.apps.click();
  await guest.page.getByRole('menuitem', { name: /Notice board/ }).click();
}

describe('behind a proxy with TLS', () => {
  let server, door, remembered;

  before(async () => {
    server = await Server.fresh(`allowed_hosts = ["${HOUSE}"]`);
    door = await proxy(tls, () => server.url);
  });
  after(async () => {
    door?.close();
    await server?.end();
  });

  test('the page says why a window cannot be shown', async () => {
    await come(server, `https://${HOUSE}:${door.port}`);
    await windows.region().getByText('which browsers refuse').waitFor();
    await windows.region().getByText('--sandbox-origin').waitFor();
    assert.equal(await windows.region().locator('iframe').count(), 0, 'and shows nothing in its place');
    remembered = await context.storageState();
    // Windows that were open would be open again.
    remembered.origins = [];
  });

  for (const look of looks) {
    test(`looks: ${look.name}`, async () => {
      await come(server, `https://${HOUSE}:${door.port}`, { ...look.options, storageState: remembered });
      await windows.region().getByText('which browsers refuse').waitFor();
      await inspect(guest, `mixed-${look.name}`);
    });
  }
});

test('behind a proxy that has a name for windows, they are shown', async () => {
  const port = await freePort();
  const inner = await proxy(tls, () => `http://127.0.0.1:${port}`);
  const config = `allowed_hosts = ["${HOUSE}"]\n[server]\nsandbox_origin = "https://${FRAMES}:${inner.port}"`;
  const server = await Server.fresh(config, undefined, undefined, `127.0.0.1:${port}`);
  const door = await proxy(tls, () => server.url);
  try {
    await come(server, `https://${HOUSE}:${door.port}`);
    await windows.ready();
    await windows.pin('Seen from afar');
  } finally {
    // Before the server goes, of which the page would complain.
    await context.close();
    inner.close();
    door.close();
    await server.end();
  }
});

test('over IPv6 the page says why a window cannot be shown', async () => {
  const server = await Server.fresh('', undefined, '[::1]:0');
  try {
    await come(server, server.url);
    guest.foresee(/400 \(Bad Request\)/);
    await windows.region().getByText('Windows cannot be shown at an IPv6 address').waitFor();
  } finally {
    await context.close();
    await server.end();
  }
});
