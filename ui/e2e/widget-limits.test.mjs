// A widget whose page is another than the last time, and one that asks for more at once than it may.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { inspect, looks } from './inspect.mjs';
import { Server } from './server.mjs';
import { eventually, launch, signIn, visit } from './visit.mjs';

const program = join(import.meta.dirname, 'press-server.mjs');
const config = `[mcp.servers.press]\ncommand = "node"\nargs = [${JSON.stringify(program)}]\ntrusted = true\n`;
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
beforeEach(async () => {
  context = await browser.newContext({ storageState: remembered, ...looks[0]?.options });
  guest = await visit(context, server.url);
  await eventually(async () => assert.deepEqual((await api('/api/widgets')).widgets.map((it) => it.tool), ['poster']));
});
afterEach(() => context.close());

const api = async (path) => (await guest.page.request.get(`${server.url}${path}`)).json();
const call = (tool) => guest.ask(`/tool ${tool} {}`);
const posters = () => guest.log.getByRole('region', { name: 'Widget of Poster' });
const CHANGED = 'Its page has changed since the last time.';

/** The document of a widget, once it was greeted. */
async function inside(widget) {
  await widget.locator('iframe').contentFrame().getByText('greeted by megaron').waitFor();
  return (await widget.locator('iframe').elementHandle()).contentFrame();
}

test('a widget whose page has changed since the last time says so, and those from before stay as they were', async () => {
  await call('poster');
  await inside(posters());
  await call('reprint');
  await call('poster');
  await call('poster');
  /** What is seen of each, in the order of the calls: its page, and whether that is said to be another. */
  const seen = async () => {
    assert.equal(await posters().count(), 3);
    return Promise.all(
      [0, 1, 2].map(async (at) => {
        const widget = posters().nth(at);
        return [await (await inside(widget)).title(), await widget.getByText(CHANGED).count()];
      }),
    );
  };
  const expected = [
    ['edition 1', 0],
    ['edition 2', 1],
    ['edition 2', 0],
  ];
  await eventually(async () => assert.deepEqual(await seen(), expected));
  const session = new URL(guest.page.url()).searchParams.get('session');
  const { views } = await api(`/api/sessions/${session}/widgets`);
  assert.deepEqual(views.map((it) => it.changed), [false, true, false]);
  const [third, second, first] = views.map((it) => it.page);
  assert.deepEqual([third === second, second === first], [true, false]);
  for (const { name, options } of looks) {
    await guest.page.emulateMedia({ colorScheme: options.colorScheme });
    await guest.page.setViewportSize(options.viewport);
    await posters().nth(1).scrollIntoViewIfNeeded();
    await inspect(guest, `widget-changed-${name}`);
  }
  await guest.page.reload();
  await eventually(async () => assert.deepEqual(await seen(), expected));
  assert.deepEqual(guest.complaints, []);
});

test('the one request too many of a view is refused, and those before it are answered', async () => {
  await call('poster');
  const frame = await inside(posters());
  /** @returns {Promise<Map<string, any>>} */
  const answers = async () => {
    const heard = await frame.evaluate(() => /** @type {any} */ (window).heard);
    return new Map(heard.filter((it) => /^hold /.test(it.id)).map((it) => [it.id, it]));
  };
  const hold = (from, to) =>
    frame.evaluate(
      ([from, to]) => {
        for (let number = from; number <= to; number += 1)
          /** @type {any} */ (window).post({ id: `hold ${number}`, method: 'tools/call', params: { name: 'hold', arguments: { number } } });
      },
      [from, to],
    );
  await hold(1, 17);
  await eventually(async () => assert.equal((await answers()).size, 1));
  const { error } = (await answers()).get('hold 17');
  assert.deepEqual([error.code, error.data], [-32000, { limit: 'inFlight', max: 16 }]);
  // Whoever is not that view is heeded as ever.
  await eventually(async () => {
    await call('waiting');
    assert.match((await guest.answers.last().textContent()) ?? '', /16 wait/);
  });
  assert.equal((await answers()).size, 1);
  await call('release');
  await eventually(async () => assert.equal((await answers()).size, 17));
  const given = await answers();
  for (let number = 1; number <= 16; number += 1)
    assert.deepEqual(given.get(`hold ${number}`).result.content, [{ type: 'text', text: `held ${number}` }]);
  // There is room again.
  await hold(18, 18);
  await eventually(async () => {
    await call('release');
    assert.deepEqual((await answers()).get('hold 18')?.result?.content, [{ type: 'text', text: 'held 18' }]);
  });
  assert.deepEqual(guest.complaints, []);
});
