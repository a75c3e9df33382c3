// How long a widget's call of a tool takes, through us and through the official host in the same browser:
// `widgets.mjs write FILE` writes the widget, `widgets.mjs <login url> FILE` prints the times of both.
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { bundle, document } from '../../ui/e2e/official/bundle.mjs';

const require = createRequire(new URL('../../ui/package.json', import.meta.url));
const { chromium } = require('playwright-core');
const [what, file] = process.argv.slice(2);

/** As many as a view may make in a minute, with a few to spare. */
const WARMING = 40;
const ROUNDS = 5;
const CALLS = 30;

if (what === 'write') {
  await writeFile(file, document(await bundle('guest.mjs'), 'quiet'));
  process.exit(0);
}

/** The least that a server of tools can be, for the official host: no process in between. */
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'bare', version: '1' },
  }),
  'tools/list': () => ({ tools: [{ name: 'echo', description: 'Echo', inputSchema: { type: 'object' } }] }),
  'tools/call': ({ arguments: given }) => ({ content: [{ type: 'text', text: `echo ${JSON.stringify(given)}` }] }),
};
const bare = createServer(async (request, response) => {
  if (request.method === 'GET' && request.url === '/') {
    return response.setHeader('content-type', 'text/html').end('<!doctype html><title>reference</title><body></body>');
  }
  if (request.method !== 'POST') return response.writeHead(405).end();
  let body = '';
  for await (const part of request) body += part;
  const { id, method, params } = JSON.parse(body);
  if (id === undefined) return response.writeHead(202).end();
  const known = Object.hasOwn(answers, method);
  const answer = known ? { result: answers[method](params ?? {}) } : { error: { code: -32601, message: 'Method not found' } };
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
});
await new Promise((resolve) => bare.listen(0, '127.0.0.1', () => resolve(undefined)));
const address = `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (bare.address()).port}/`;

const quiet = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'];
const awake = ['--disable-renderer-backgrounding', '--disable-backgrounding-occluded-windows'];
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM_BIN ?? '/usr/bin/chromium',
  args: [...quiet, ...awake],
});

/** The document of the widget on a page, once it is at rest. */
async function widget(page) {
  await page.locator('iframe').contentFrame().getByText('finished').waitFor();
  return (await page.locator('iframe').elementHandle()).contentFrame();
}

try {
  const ours = await (await browser.newContext()).newPage();
  await ours.goto(what);
  await ours.getByRole('textbox', { name: 'Message' }).waitFor();
  // Its server of tools takes a moment to start.
  while ((await (await ours.request.get(new URL('/api/widgets', what).href)).json()).widgets.length === 0)
    await new Promise((resolve) => setTimeout(resolve, 50));
  await ours.getByRole('textbox', { name: 'Message' }).fill('/tool echo {}');
  await ours.getByRole('button', { name: 'Send' }).click();
  const theirs = await (await browser.newContext()).newPage();
  await theirs.goto(address);
  await theirs.addScriptTag({ type: 'module', content: await bundle('over-http.mjs') });
  await theirs.waitForFunction(() => 'host' in window);
  const html = await readFile(file, 'utf8');
  await theirs.evaluate(([html, at]) => /** @type {any} */ (window).host(html, at), [html, `${address}mcp`]);
  const views = { ours: await widget(ours), theirs: await widget(theirs) };
  const measure = (view, count) => view.evaluate((count) => /** @type {any} */ (window).measure(count), count);
  for (const view of Object.values(views)) await measure(view, WARMING);
  const times = { ours: [], theirs: [] };
  for (let round = 0; round < ROUNDS; round += 1)
    for (const name of ['ours', 'theirs']) times[name].push(...(await measure(views[name], CALLS)));
  console.log(JSON.stringify(times));
} finally {
  await browser.close();
  bare.close();
}
