// Devices on the page: one is paired with a code, comes in with its key, and is shut out again.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { inspect, looks } from './inspect.mjs';
import { Server } from './server.mjs';
import { eventually, launch, signIn, visit } from './visit.mjs';

let server, browser, remembered;

before(async () => {
  server = await Server.fresh();
  browser = await launch();
  remembered = await signIn(browser, server);
});
after(async () => {
  await browser?.close();
  await server?.end();
});

/** What the phone's door says to this key. */
const status = async (key) =>
  (await fetch(`${server.url}/status`, { headers: { authorization: `Bearer ${key}` } })).status;

describe('devices', () => {
  test('one is paired, comes in, and is shut out', async () => {
    const context = await browser.newContext({ storageState: remembered });
    const guest = await visit(context, `${server.url}/?view=devices`);
    const { page } = guest;
    await page.getByText('No device is paired yet').waitFor();
    await page.getByRole('textbox', { name: 'Name' }).fill('Anna’s phone');
    await page.getByRole('button', { name: 'Pair a device' }).click();
    const card = page.getByRole('article', { name: 'Pair Anna’s phone' });
    await card.getByRole('img', { name: 'QR code to pair Anna’s phone' }).waitFor();
    const key = await card.locator('code').nth(1).innerText();
    assert.equal(await status(key), 200);

    // The link of the code shows the same, and takes the key out of the address.
    const other = await browser.newContext();
    const phone = await other.newPage();
    await phone.goto(`${server.url}/pair#key=${key}`);
    await eventually(async () => assert.equal(await phone.getByLabel('Key').inputValue(), key));
    assert.equal(new URL(phone.url()).hash, '');
    await other.close();

    await card.getByRole('button', { name: 'Done' }).click();
    await card.waitFor({ state: 'detached' });
    guest.foresee(/409/);
    await page.getByRole('textbox', { name: 'Name' }).fill('Anna’s phone');
    await page.getByRole('button', { name: 'Pair a device' }).click();
    await page.getByRole('alert').getByText('paired already').waitFor();
    await page.getByRole('button', { name: 'Revoke Anna’s phone' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke it' }).click();
    await page.getByText('No device is paired yet').waitFor();
    assert.equal(await status(key), 401);
    await context.close();
  });

  for (const { name: look, options } of looks) {
    test(`a device being paired, in ${look}`, async () => {
      const context = await browser.newContext({ storageState: remembered, ...options });
      const guest = await visit(context, `${server.url}/?view=devices`);
      await guest.page.getByRole('textbox', { name: 'Name' }).fill(`Phone in ${look}`);
      await guest.page.getByRole('button', { name: 'Pair a device' }).click();
      await guest.page.getByRole('img', { name: 'QR code' }).waitFor();
      await guest.connected();
      await inspect(guest, `pairing-${look}`);
      await context.close();
    });
  }
});
