// Measures the page in a real browser: `measure.mjs <login url> <session> <turns>` prints one object of numbers.
import { createRequire } from 'node:module';

const require = createRequire(new URL('../../ui/package.json', import.meta.url));
const { chromium } = require('playwright-core');

const [login, session, turns] = process.argv.slice(2);
const origin = new URL(login).origin;
const ROUNDS = 5;
/** A turn of the long session is three items: a question, a call and an answer. */
const SCROLLED = Math.floor(5_000 / 3);

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM_BIN ?? '/usr/bin/chromium',
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--no-first-run',
    '--disable-background-networking',
    '--enable-precise-memory-info',
  ],
});
try {
  const first = await browser.newContext();
  const page = await first.newPage();
  await page.goto(login);
  await page.getByRole('textbox', { name: 'Message' }).waitFor();
  const storageState = await first.storageState();
  await first.close();

  const starts = await rounds(() => start(storageState));
  const opens = await rounds(() => open(storageState));
  const scrolled = await scroll(storageState);
  const result = {
    download: starts[0].download,
    paint: median(starts.map((it) => it.paint)),
    ready: median(starts.map((it) => it.ready)),
    open: median(opens),
    ...scrolled,
  };
  console.log(JSON.stringify(result));
} finally {
  await browser.close();
}

/** The start page in a browser that has never seen it. */
async function start(storageState) {
  const context = await browser.newContext({ storageState });
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await devtools.send('Network.enable');
  const addresses = new Map();
  let bytes = 0;
  devtools.on('Network.responseReceived', ({ requestId, response }) => addresses.set(requestId, new URL(response.url)));
  devtools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (!addresses.get(requestId)?.pathname.startsWith('/api')) bytes += encodedDataLength;
  });
  await page.addInitScript(() => {
    const look = () => {
      if (document.querySelector('textarea:not([disabled])')) Object.assign(window, { ready: performance.now() });
      else requestAnimationFrame(look);
    };
    look();
  });
  await page.goto(origin);
  await page.getByText('Connected').first().waitFor({ state: 'attached' });
  await page.waitForLoadState('networkidle');
  const times = await page.evaluate(() => ({
    paint: performance.getEntriesByName('first-contentful-paint')[0].startTime,
    ready: window.ready,
  }));
  await context.close();
  return { ...times, download: bytes / 1000 };
}

/** From a click in the list of sessions to the last answer on the screen. */
async function open(storageState) {
  const context = await browser.newContext({ storageState });
  const page = await context.newPage();
  await page.goto(origin);
  const took = await opened(page);
  await context.close();
  return took;
}

async function opened(page) {
  const link = page.locator(`a[href*="${session}"]`).first();
  await link.waitFor();
  await page.getByText('Connected').first().waitFor({ state: 'attached' });
  return link.evaluate((link, turns) => {
    const begun = performance.now();
    link.click();
    return new Promise((accept) => {
      const look = () => {
        const log = document.querySelector('[role=log]');
        const last = [...(log?.querySelectorAll('article') ?? [])].at(-1);
        const isSeen = last && last.getBoundingClientRect().top < innerHeight;
        // What is there in this frame is on the screen with the next.
        if (isSeen && last.textContent.includes(`Answer ${turns}.`))
          requestAnimationFrame(() => accept(performance.now() - begun));
        else requestAnimationFrame(look);
      };
      look();
    });
  }, turns);
}

/** Reads backwards through the session, as fast as a wheel turns. */
async function scroll(storageState) {
  const context = await browser.newContext({ storageState });
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await page.goto(origin);
  await opened(page);
  const [nodes, heap] = [await count(page), await memory(devtools)];
  const frames = await page.evaluate(
    (target) => {
      const log = document.querySelector('[role=log]');
      const begun = performance.now();
      let drawn = 0;
      const oldest = () => {
        const found = log.textContent.match(/Question (\d+)/);
        return found ? Number(found[1]) : Infinity;
      };
      return new Promise((accept) => {
        const step = () => {
          drawn += 1;
          log.scrollTop -= 240;
          if (drawn % 30 === 0 && oldest() <= target) accept((drawn * 1000) / (performance.now() - begun));
          else requestAnimationFrame(step);
        };
        requestAnimationFrame(step);
      });
    },
    Number(turns) - SCROLLED,
  );
  const result = { nodes, heap, frames, scrolledNodes: await count(page), scrolledHeap: await memory(devtools) };
  await context.close();
  return result;
}

function count(page) {
  return page.evaluate(() => document.querySelectorAll('*').length);
}

async function memory(devtools) {
  await devtools.send('HeapProfiler.collectGarbage');
  const { usedSize } = await devtools.send('Runtime.getHeapUsage');
  return usedSize / 1e6;
}

async function rounds(measure) {
  const found = [];
  for (let round = 0; round < ROUNDS; round += 1) found.push(await measure());
  return found;
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}
