// The picture viewer: shown by association or by hand, zoomed, turned, kept.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { looks } from '../inspect.mjs';
import { launch } from '../visit.mjs';
import { eventually, House, Shown } from './harness.mjs';

let house, browser, context, app;

before(async () => {
  browser = await launch();
});
after(() => browser?.close());

async function come(options = {}) {
  house = await House.open();
  context = await browser.newContext({ viewport: { width: 1000, height: 700 }, ...options });
  app = await Shown.open(context, house, 'images');
}
afterEach(async () => {
  const { complaints } = app;
  await context.close();
  await house.close();
  assert.deepEqual(complaints, [], 'the console complained');
});

const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="600" height="400"><script>window.ran=1</script>
  <path d="M60 340 L300 60 L540 340 Z" fill="#a63f1b"/><circle cx="300" cy="250" r="60" fill="#f0926a"/></svg>`;
const base64 = (text) => Buffer.from(text).toString('base64');
const picture = () => app.content.locator('#picture');
const width = async () => Math.round((await picture().boundingBox()).width);

describe('a picture', () => {
  beforeEach(() => come());

  test('is shown by its bytes, whatever it is called, and nothing in it runs', async () => {
    await app.sound();
    const opened = await app.command('openFile', { content: base64(svg), name: 'roof.png', encoding: 'base64' });
    assert.deepEqual(opened, { name: 'roof.png', type: 'image/svg+xml', bytes: svg.length, width: 600, height: 400 });
    await app.content.getByText('roof.png · 600 × 400 · svg+xml').waitFor();
    assert.equal(await app.frame.evaluate(() => /** @type {any} */ (window).ran), undefined);
    assert.deepEqual(await app.query('view'), { zoom: 1, rotation: 0, fit: true });
  });

  test('is refused with a reason when it is none', async () => {
    await assert.rejects(app.command('openFile', { content: '!!!' }), /the content is not base64/);
    await assert.rejects(
      app.command('openFile', { content: base64('just words') }),
      /this is no picture that can be shown/,
    );
    await assert.rejects(app.command('openFile', { content: base64('\x89PNG\r\n\x1a\nbroken') }), /broken|no picture/);
    await assert.rejects(app.command('setView', { zoom: 2 }), /no picture is open/);
    assert.equal(await app.query('image'), null);
  });

  test('is zoomed and turned by command, button and key', async () => {
    await app.command('openFile', { content: base64(svg) });
    assert.deepEqual(await app.command('setView', { zoom: 2 }), { zoom: 2, rotation: 0, fit: false });
    await eventually(async () => assert.equal(await width(), 1200));
    await app.content.getByRole('button', { name: 'Turn right' }).click();
    await eventually(async () => assert.equal(await width(), 800));
    await app.page.keyboard.press('1');
    await eventually(async () => assert.equal(await width(), 400));
    await app.page.keyboard.press('R');
    await app.page.keyboard.press('-');
    await eventually(async () => assert.equal(await width(), 480));
    await app.page.keyboard.press('0');
    assert.deepEqual(await app.query('view'), { zoom: 1, rotation: 0, fit: true });
    await app.page.setViewportSize({ width: 324, height: 700 });
    await eventually(async () => assert.equal(await width(), 300));
  });

  test('that a person opens is told to the agent and there again after a reload', async () => {
    await app.content
      .locator('#file')
      .setInputFiles({ name: 'mine.svg', mimeType: 'image/svg+xml', buffer: Buffer.from(svg) });
    await app.content.getByText('mine.svg').waitFor();
    await eventually(async () => assert.equal((await app.heard('yaar:app-interaction')).length, 1));
    await app.command('setView', { rotation: 90 });
    await app.reload();
    await app.content.getByText('mine.svg · 600 × 400').waitFor();
    assert.equal((await app.query('view')).rotation, 90);
    await app.command('close');
    await app.content.getByText('No picture is open').waitFor();
    await eventually(() => assert.deepEqual([...house.files.keys()], ['apps/images/windows/w1.json']));
  });
});

for (const { name, options } of looks)
  test(`it looks well in ${name}`, async () => {
    await come(options);
    await app.look(`app-images-empty-${name}`);
    await app.command('openFile', { content: base64(svg), name: 'roof.svg' });
    await app.content.getByText('roof.svg').waitFor();
    await app.look(`app-images-${name}`);
  });
