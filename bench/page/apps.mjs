// Shows an app in a window, and beside it a page that does nothing but pass messages on: `apps.mjs <login url> <session> <other url>`
// says when both are there, and stays until its input ends.
import { createRequire } from 'node:module';

const require = createRequire(new URL('../../ui/package.json', import.meta.url));
const { chromium } = require('playwright-core');

const [login, session, other] = process.argv.slice(2);

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM_BIN ?? '/usr/bin/chromium',
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-renderer-backgrounding',
    '--disable-backgrounding-occluded-windows',
  ],
});
try {
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  await page.goto(login);
  await page.getByRole('textbox', { name: 'Message' }).waitFor();
  await page.goto(`${new URL(login).origin}/?session=${session}`);
  await page.getByRole('region', { name: 'awkward' }).frameLocator('iframe').locator('#commands button').first().waitFor();
  const bare = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  await bare.goto(other);
  console.log('ready');
  for await (const line of process.stdin) void line;
} finally {
  await browser.close();
}
