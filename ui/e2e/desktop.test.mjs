// Desktops on the page, with a real display: it is seen live, used by hand, lent, taken over and handed back, recorded and done again.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Display } from './display.mjs';
import { inspect, looks } from './inspect.mjs';
import { Server } from './server.mjs';
import { eventually, launch, signIn, visit } from './visit.mjs';

const WIDTH = 1024;
const HEIGHT = 640;

let display, server, browser, remembered, folder;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'megaron-screen-'));
  display = await Display.open(`${WIDTH}x${HEIGHT}x24`);
  const surroundings = { DISPLAY: display.name, WAYLAND_DISPLAY: '' };
  server = await Server.fresh('[shell]\nsandbox = "never"\n', undefined, undefined, undefined, surroundings);
  browser = await launch();
  remembered = await signIn(browser, server);
});
after(async () => {
  await browser?.close();
  await server?.end();
  await display?.close();
  if (folder) await rm(folder, { recursive: true, force: true });
});

/** The colour of a pixel of the screen, as the page shows it. */
const colour = (page, x, y) =>
  page.locator('canvas').evaluate(
    (canvas, [x, y]) => [...canvas.getContext('2d').getImageData(x, y, 1, 1).data.slice(0, 3)],
    [x, y],
  );

/** In the page: how large a picture is, and its colours at these points. */
async function decoded([base64, points]) {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([bytes]));
  const { width, height } = bitmap;
  const pencil = /** @type {OffscreenCanvasRenderingContext2D} */ (new OffscreenCanvas(width, height).getContext('2d'));
  pencil.drawImage(bitmap, 0, 0);
  return [[width, height], ...points.map(([x, y]) => [...pencil.getImageData(x, y, 1, 1).data.slice(0, 3)])];
}

/** Where on the page a point of the screen is. */
async function spot(page, x, y) {
  const box = await page.locator('canvas').boundingBox();
  const scale = Math.min(box.width / WIDTH, box.height / HEIGHT);
  return [
    box.x + (box.width - WIDTH * scale) / 2 + (x + 0.5) * scale,
    box.y + (box.height - HEIGHT * scale) / 2 + (y + 0.5) * scale,
  ];
}

async function click(page, x, y) {
  await page.mouse.click(...(await spot(page, x, y)));
}

/** A terminal that reports every press of a button with its place in it, and every line that is typed. */
function reporter(file) {
  const script = `printf '\\033[?1000h\\033[?1006h'; stty -echo -icanon; cat > ${file}`;
  return display.terminal(script, '-geometry', '60x20+0+0', '-bg', '#204060', '-fg', '#ffffff');
}

describe('the desktop', () => {
  test('is seen live, used by hand, recorded, and done again', async () => {
    const typed = join(folder, 'typed');
    const heard = async () => await readFile(typed, 'utf8').catch(() => '');
    const context = await browser.newContext({ storageState: remembered, viewport: { width: 1400, height: 900 } });
    const guest = await visit(context, `${server.url}/?view=desktop`);
    const { page } = guest;
    await page.getByRole('img', { name: 'Screen of this machine' }).waitFor();
    await eventually(async () => assert.deepEqual(await colour(page, 200, 200), [0, 0, 0]));
    reporter(typed);
    await eventually(async () => assert.deepEqual(await colour(page, 200, 200), [0x20, 0x40, 0x60]));

    await page.getByRole('button', { name: 'Take over' }).click();
    await page.getByText('You have the hands').waitFor();
    const screen = page.getByRole('application', { name: 'under your control' });
    await screen.waitFor();
    await page.getByRole('button', { name: 'Record', exact: true }).click();
    await page.getByText('Recording: 0 steps').waitFor();
    await eventually(async () => {
      await click(page, 105, 45);
      assert.match(await heard(), /\x1b\[<0;\d+;\d+M/);
    });
    await page.keyboard.type('ls -1');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Control+k');
    await eventually(async () => assert.match(await heard(), /ls -1[\r\n]\x0b$/));
    await page.getByText(/Recording: [2-9] steps/).waitFor();
    await page.getByRole('list', { name: 'What was done on this desktop' }).getByText('key_combo').first().waitFor();

    // The keyboard is not lost in there.
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.getByRole('img', { name: 'Screen of this machine' }).waitFor();
    await page.getByRole('button', { name: 'Keep it' }).click();
    await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('list files');
    await page.getByRole('dialog').getByRole('button', { name: 'Keep', exact: true }).click();
    await page.getByText('list files').waitFor();
    const before = (await heard()).length;
    await page.getByRole('button', { name: 'Do list files again' }).click();
    await page.getByText('“list files” was done again.').waitFor();
    await eventually(async () => assert.match((await heard()).slice(before), /ls -1[\r\n]\x0b/));

    // Something else is where the click was.
    display.terminal('sleep 1000', '-geometry', '60x20+0+0', '-bg', '#802020');
    await eventually(async () => assert.deepEqual(await colour(page, 200, 200), [0x80, 0x20, 0x20]));
    await page.getByRole('button', { name: 'Do list files again' }).click();
    const question = page.getByRole('dialog', { name: '“list files” has stopped' });
    await question.getByText('looks different').waitFor();
    await inspect(guest, 'desktop-differs');
    await question.getByRole('button', { name: 'Stop here' }).click();

    await page.getByRole('button', { name: 'Remove list files' }).click();
    await page.getByRole('button', { name: 'Undo removing list files' }).click();
    await page.getByRole('button', { name: 'Rename list files' }).waitFor();
    await page.getByRole('button', { name: 'Hand back' }).click();
    await page.getByText('Nobody may use it but you.').waitFor();
    assert.deepEqual(guest.complaints, []);
    await context.close();
  });

  test('an agent opens a terminal, types a command and looks at what comes of it, and the page shows it', async () => {
    const context = await browser.newContext({ storageState: remembered, viewport: { width: 1400, height: 900 } });
    const guest = await visit(context, `${server.url}/?view=desktop`);
    const { page } = guest;
    const ask = (path, body) =>
      page.evaluate(
        async ([path, body]) => {
          const headers = { 'Content-Type': 'application/json' };
          const answer = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
          if (!answer.ok) throw new Error(await answer.text());
          return await answer.json();
        },
        [path, body],
      );
    const { sessionId } = await ask('/api/sessions', { model: 'demo', mode: 'full' });
    const classes = ['look', 'point', 'type', 'act'];
    await ask('/api/desktop/arm', { device: 'local', session: sessionId, seconds: 600, classes });
    const say = async (...steps) => {
      const prompt = steps.map(([tool, args]) => `/tool ${tool} ${JSON.stringify(args)}`).join('\n');
      await ask(`/api/sessions/${sessionId}/messages`, { prompt });
    };
    const look = `-display ${display.name} -bw 0 -geometry 60x8+0+440 -bg '#203020' -fg '#ffffff'`;
    await say(['shell', { command: `xterm ${look} -e sh`, background: true, sandbox: false }]);
    await eventually(async () => assert.deepEqual(await colour(page, 200, 500), [0x20, 0x30, 0x20]));
    await say(
      ['mouse_move', { x: 200, y: 500, duration: 0 }],
      ['mouse_click', { button: 'left' }],
      // It changes the colour of the terminal.
      ['keyboard_input', { text: "printf '\\033]11;#00aa00\\007'\n" }],
    );
    await eventually(async () => assert.deepEqual(await colour(page, 200, 500), [0, 0xaa, 0]));
    const photo = await ask('/api/command', { type: 'screenshot', device: 'local', format: 'jpeg', cursor: false });
    const [size, ...points] = await page.evaluate(decoded, [photo.data, [[200, 500], [900, 300]]]);
    assert.deepEqual([photo.format, size], ['jpeg', [WIDTH, HEIGHT]]);
    for (const [point, expected] of [[points[0], [0, 0xaa, 0]], [points[1], [0, 0, 0]]])
      assert.ok(point.every((it, at) => Math.abs(it - expected[at]) <= 8), `${point} is not ${expected}`);
    const done = page.getByRole('list', { name: 'What was done on this desktop' });
    await done.locator('summary', { hasText: 'keyboard_input' }).first().click();
    await done.getByText('the agent').first().waitFor();
    // Where it pointed last is marked.
    await page.locator('svg[viewBox="0 0 1024 640"] circle').first().waitFor({ state: 'attached' });
    await guest.connected();
    await inspect(guest, 'desktop-agent');
    await say(['computer', { action: 'zoom', region: [100, 480, 300, 520] }]);
    await done.locator('summary', { hasText: 'zoom' }).first().waitFor();
    await page.getByRole('button', { name: 'Take back' }).click();
    await page.getByText('Nobody may use it but you.').waitFor();

    // What the agent was shown of the screen is in the conversation.
    await page.goto(`${server.url}/?session=${sessionId}`);
    const seen = page.getByRole('log').getByRole('img').last();
    await eventually(async () =>
      assert.deepEqual(
        await seen.evaluate((/** @type {HTMLImageElement} */ image) => {
          if (image.naturalWidth === 0) return image.alt;
          const canvas = Object.assign(document.createElement('canvas'), { width: 200, height: 40 });
          const pencil = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
          pencil.drawImage(image, 0, 0);
          return [image.naturalWidth, image.naturalHeight, ...pencil.getImageData(150, 20, 1, 1).data.slice(0, 3)];
        }),
        [200, 40, 0, 0xaa, 0],
      ),
    );
    await inspect(guest, 'desktop-agent-saw');

    // Whoever is asked sees what would be touched.
    const { sessionId: asking } = await ask('/api/sessions', { model: 'demo', mode: 'ask' });
    await ask('/api/desktop/arm', { device: 'local', session: asking, seconds: 600, classes });
    await ask(`/api/sessions/${asking}/messages`, { prompt: '/tool keyboard_input {"text":"exit\\n"}' });
    await page.goto(`${server.url}/?session=${asking}`);
    const target = page.getByRole('img', { name: 'What would be touched on the screen, as it looks now' });
    await eventually(async () =>
      assert.ok(await target.evaluate((/** @type {HTMLImageElement} */ image) => image.naturalWidth > 0)),
    );
    await inspect(guest, 'desktop-asks');
    await page.getByRole('button', { name: 'Deny' }).click();
    await target.waitFor({ state: 'detached' });
    await ask('/api/desktop/disarm', { device: 'local' });
    assert.deepEqual(guest.complaints, []);
    await context.close();
  });

  for (const { name: look, wide, options } of looks) {
    test(`a part of the screen is lent, in ${look}`, async () => {
      const context = await browser.newContext({ storageState: remembered, ...options });
      const guest = await visit(context, `${server.url}/?view=desktop`);
      const { page } = guest;
      await page.getByRole('button', { name: 'Lend to agents' }).click();
      const dialog = page.getByRole('dialog', { name: 'Lend this desktop to agents' });
      const where = dialog.getByRole('group', { name: 'Where' });
      const side = (name) => where.getByRole('spinbutton', { name });
      assert.equal(await where.getByRole('radio', { name: 'The whole screen' }).isChecked(), true);
      assert.equal(await side('Width').count(), 0);
      // By keyboard alone, from the first choice to the last.
      await where.getByRole('radio', { name: 'The whole screen' }).focus();
      await page.keyboard.press('ArrowDown');
      assert.equal(await where.getByRole('radio', { name: 'A part' }).isChecked(), true);
      assert.deepEqual([await side('Width').inputValue(), await side('Height').inputValue()], [`${WIDTH}`, `${HEIGHT}`]);
      for (const value of ['256', '64', '0', '320']) {
        await page.keyboard.press('Tab');
        await page.keyboard.press('Control+a');
        await page.keyboard.type(value);
      }
      await inspect(guest, `desktop-part-asked-${look}`);
      // Nothing has no width, and the browser says so.
      await page.keyboard.press('Enter');
      assert.equal(await side('Width').evaluate((/** @type {HTMLInputElement} */ input) => input.validity.rangeUnderflow), true);
      await side('Width').fill('512');
      await dialog.getByRole('button', { name: 'Lend it' }).click();
      const strip = page.getByRole('complementary', { name: 'Desktops that agents may use' });
      await strip.waitFor();
      if (wide) await strip.getByText('512 × 320 pixels at 256, 64').waitFor();
      await page.getByText(/^Every session may use 512 × 320 pixels at 256, 64 for 14:\d\d more\.$/).waitFor();
      const outline = page.locator('svg rect').last();
      await outline.waitFor();
      const [left, top] = await spot(page, 256, 64);
      const box = await outline.boundingBox();
      assert.ok(Math.abs(box.x - left) < 4 && Math.abs(box.y - top) < 4, JSON.stringify({ box, left, top }));
      guest.foresee(/403/);
      const answers = await page.evaluate(async () => {
        const move = async (x) => {
          const body = JSON.stringify({ type: 'mouse_move', device: 'local', x, y: 100, duration: 0 });
          const headers = { 'Content-Type': 'application/json' };
          return (await fetch('/api/command', { method: 'POST', headers, body })).status;
        };
        return [await move(300), await move(200)];
      });
      assert.deepEqual(answers, [200, 403]);
      await guest.connected();
      await inspect(guest, `desktop-part-lent-${look}`);
      await page.getByRole('button', { name: 'Take back' }).click();
      await page.getByText('Nobody may use it but you.').waitFor();
      await outline.waitFor({ state: 'detached' });
      await context.close();
    });
  }

  for (const { name: look, options } of looks) {
    test(`lent to agents, in ${look}`, async () => {
      const context = await browser.newContext({ storageState: remembered, ...options });
      const guest = await visit(context, `${server.url}/?view=desktop`);
      const { page } = guest;
      await page.getByRole('button', { name: 'Lend to agents' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Lend it' }).click();
      const strip = page.getByRole('complementary', { name: 'Desktops that agents may use' });
      await strip.getByText('Agents may use this machine').waitFor();
      await eventually(async () => assert.notDeepEqual(await colour(page, 200, 200), [0, 0, 0]));
      await guest.connected();
      await inspect(guest, `desktop-lent-${look}`);
      await page.goto(`${server.url}/`);
      await guest.box.waitFor();
      await strip.waitFor();
      await guest.connected();
      await inspect(guest, `desktop-strip-${look}`);
      await strip.getByRole('button', { name: 'Halt every desktop' }).click();
      await strip.waitFor({ state: 'detached' });
      await page.goto(`${server.url}/?view=desktop`);
      await page.getByText('You have the hands').waitFor();
      await page.getByRole('button', { name: 'Take back' }).click();
      await page.getByRole('button', { name: 'Lend to agents' }).waitFor();
      await eventually(async () => assert.notDeepEqual(await colour(page, 200, 200), [0, 0, 0]));
      await guest.connected();
      await inspect(guest, `desktop-hands-${look}`);
      await page.getByRole('button', { name: 'Hand back' }).click();
      await page.getByText('Nobody may use it but you.').waitFor();
      await context.close();
    });
  }
});
