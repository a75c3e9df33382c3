// A video is shown in the conversation, and its site hears of the reader only once they ask for it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { inspect, looks } from './inspect.mjs';
import { Server } from './server.mjs';
import { eventually, launch, signIn, visit } from './visit.mjs';

const SITE = 'https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ';
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

/** A browser in which the site answers, and what was asked of anybody but our server. */
async function enter(options = {}) {
  const context = await browser.newContext({ storageState: remembered, ...options });
  const asked = [];
  await context.route(
    (url) => url.origin !== new URL(server.url).origin,
    (route) => {
      asked.push(route.request().url());
      return route.fulfill({ contentType: 'text/html', body: '<p>the player</p>' });
    },
  );
  return { context, asked, guest: await visit(context, server.url) };
}

test('an embed waits for a click, stands before the text, and is there again after a reload', async () => {
  const { context, asked, guest } = await enter();
  await guest.ask('/tool embed_media {"url":"https://youtu.be/dQw4w9WgXcQ"}');
  const figure = guest.log.getByRole('figure');
  await figure.waitFor();
  assert.deepEqual(asked, [], 'nobody was told');
  const place = () =>
    guest.log.evaluate((log) =>
      [...log.querySelectorAll('figure, article[aria-label=Answer]')].map((it) => it.tagName.toLowerCase()),
    );
  await eventually(async () => assert.deepEqual(await place(), ['figure', 'article']));
  await guest.page.reload();
  await figure.waitFor();
  await eventually(async () => assert.deepEqual(await place(), ['figure', 'article']));
  assert.deepEqual(asked, [], 'nor by reading it again');
  await figure.getByRole('button', { name: /^Load the player/ }).click();
  await guest.page.frameLocator('figure iframe').getByText('the player').waitFor();
  assert.deepEqual(asked, [SITE]);
  assert.deepEqual(guest.complaints, []);
  await context.close();
});

for (const look of looks)
  test(`an embed looks well: ${look.name}`, async () => {
    const { context, guest } = await enter(look.options);
    await guest.ask('/tool embed_media {"url":"https://vimeo.com/76979871"}');
    await guest.log.getByRole('figure').waitFor();
    await inspect(guest, `embed-${look.name}`);
    await context.close();
  });
