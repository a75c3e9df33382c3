// A person's visit in a real browser: what they see by name and role, and what the console complained of.
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';

/** How long anything is waited for, in milliseconds: long, as only what fails takes that long. */
const PATIENCE = 30_000;

const quiet = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** The browser of the system, or the one `CHROMIUM_BIN` names; none is downloaded. */
export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM_BIN ?? '/usr/bin/chromium',
    args: ['--no-sandbox', ...quiet],
  });
}

/** How many times slower than it could the browser is to run the page: `MEGARON_E2E_SLOW=3` shakes out races. */
const slowness = Number(process.env.MEGARON_E2E_SLOW ?? 1);

/** @type {WeakMap<object, Promise<any>>} */
const brakes = new WeakMap();

async function slowDown(page, rate = slowness) {
  if (!(slowness > 1)) return;
  if (!brakes.has(page)) brakes.set(page, page.context().newCDPSession(page));
  await (await brakes.get(page)).send('Emulation.setCPUThrottlingRate', { rate });
}

/** Does something that would only take longer on a slow page. */
export async function unhurried(page, act) {
  await slowDown(page, 1);
  await act();
  await slowDown(page);
}

/** Signs in once and gives back what the browser must remember for further visits. */
export async function signIn(browser, server) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(server.login);
  await page.getByRole('textbox', { name: 'Message' }).waitFor();
  assert.equal(new URL(page.url()).pathname, '/');
  const remembered = await context.storageState();
  await context.close();
  return remembered;
}

/** What the browser complains of, in one way or another, while a server is dead. */
export const deadServer =
  /ERR_CONNECTION|ERR_SOCKET|ERR_NETWORK|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE|ERR_INTERNET|WebSocket connection to|error occurred when fetching the script/;

export class Visit {
  /** @type {string[]} */
  #heard = [];
  /** @type {RegExp[]} */
  #foreseen = [];

  constructor(page) {
    this.page = page;
    page.setDefaultTimeout(PATIENCE);
    page.on('console', (message) => message.type() === 'error' && this.#heard.push(message.text()));
    page.on('pageerror', (error) => this.#heard.push(String(error)));
    this.box = page.getByRole('textbox', { name: 'Message' });
    this.log = page.getByRole('log');
    this.answers = this.log.getByRole('article', { name: 'Answer' });
    this.finished = this.log.locator('article[aria-label="Answer"][aria-busy="false"]');
    this.mine = this.log.getByRole('article', { name: 'You', exact: true });
    this.sessions = page.getByRole('navigation', { name: 'Sessions' });
    this.stop = page.getByRole('button', { name: 'Stop' });
  }

  /** The browser itself complains of every refusal, sooner or later: those that a test provokes are no fault of the page. */
  foresee(complaint) {
    this.#foreseen.push(complaint);
  }

  /** What the console complained of, but for what was foreseen. */
  get complaints() {
    return this.#heard.filter((text) => !this.#foreseen.some((it) => it.test(text)));
  }

  async say(text) {
    await this.box.fill(text);
    await this.page.getByRole('button', { name: 'Send' }).click();
  }

  /** Says something and waits until it has been answered whole. */
  async ask(text) {
    // What was said before is there, or that there is nothing: only then can answers be counted.
    await this.log.locator('article, h2').first().waitFor();
    const before = await this.finished.count();
    await this.say(text);
    await this.finished.nth(before).waitFor();
    await this.idle();
  }

  async idle() {
    await this.stop.waitFor({ state: 'hidden' });
  }

  /** What the conversation reads like, without the accidents of layout. */
  async told() {
    return (await this.log.innerText())
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean);
  }

  connected() {
    return this.page.getByRole('status').filter({ hasText: 'Connected' }).waitFor();
  }
}

/** Opens a page of a context as a visit. */
export async function visit(context, address, page) {
  page ??= await context.newPage();
  await slowDown(page);
  const guest = new Visit(page);
  await page.goto(address);
  return guest;
}

/** Waits until somebody has the focus. */
export function focused(what) {
  return eventually(async () => assert.equal(await what.evaluate((it) => it === document.activeElement), true));
}

/** Tries an assertion until it holds; its last failure is the test's. */
export async function eventually(assertion) {
  const deadline = Date.now() + PATIENCE;
  for (;;) {
    try {
      return await assertion();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
