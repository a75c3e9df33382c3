// A person sends pictures by every way there is, and looks at those that tools bring.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { inspect, looks } from './inspect.mjs';
import { png } from './png.mjs';
import { ScriptedModel } from './scripted.mjs';
import { Server } from './server.mjs';
import { eventually, focused, launch, signIn, visit } from './visit.mjs';

const red = { name: 'red.png', mimeType: 'image/png', buffer: png(160, 120, [180, 60, 30]) };
const blue = { name: 'blue.png', mimeType: 'image/png', buffer: png(120, 160, [40, 90, 150]) };

let model, server, browser, remembered, context, guest, waiting;

before(async () => {
  model = await ScriptedModel.start();
  server = await Server.fresh(model.config);
  await writeFile(join(server.workspace, 'plan.png'), png(320, 200, [60, 110, 70]));
  browser = await launch();
  remembered = await signIn(browser, server);
});
after(async () => {
  await browser?.close();
  await server?.end();
  await model?.end();
});
beforeEach(async () => {
  context = await browser.newContext({ storageState: remembered });
  await enter();
});
afterEach(async () => {
  const { complaints } = guest;
  await context.close();
  assert.deepEqual(complaints, [], 'the console complained');
});

async function enter() {
  guest = await visit(context, server.url);
  waiting = guest.page.getByRole('list', { name: 'Pictures to send' }).getByRole('img');
}

const names = () => waiting.evaluateAll((all) => all.map((it) => /** @type {HTMLImageElement} */ (it).alt));

/** Picks files, and waits until the page has read them. */
async function pick(...files) {
  const before = await waiting.count();
  const chooser = guest.page.waitForEvent('filechooser');
  await guest.page.getByRole('button', { name: 'Add pictures' }).click();
  await (await chooser).setFiles(files);
  await eventually(async () => assert.equal(await waiting.count(), before + files.length));
}

/** Makes the events that a browser makes when files come from outside. */
async function bring(event, files) {
  await guest.box.waitFor();
  const given = files.map(({ name, mimeType, buffer }) => ({ name, mimeType, bytes: [...buffer] }));
  await guest.page.evaluate(
    ({ event, given }) => {
      const data = new DataTransfer();
      for (const { name, mimeType, bytes } of given)
        data.items.add(new File([new Uint8Array(bytes)], name, { type: mimeType }));
      const box = document.querySelector('textarea');
      if (event === 'paste') box?.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
      else document.querySelector('[role=log]')?.dispatchEvent(new DragEvent(event, { dataTransfer: data, bubbles: true, cancelable: true }));
    },
    { event, given },
  );
}

/** Whether so many pictures have really come, not only their frames. */
const loaded = (pictures, count) =>
  eventually(async () => {
    const widths = await pictures.evaluateAll((all) => all.map((it) => it.naturalWidth));
    assert.ok(widths.length === count && widths.every((width) => width > 0), `widths are ${widths}`);
  });

test('pictures are picked, several at once, one stays behind, and the rest is sent and shown', async () => {
  model.will('I see.');
  await pick(red, blue);
  await eventually(async () => assert.deepEqual(await names(), ['red.png', 'blue.png']));
  await guest.page.getByRole('button', { name: 'Remove red.png' }).click();
  await eventually(async () => assert.deepEqual(await names(), ['blue.png']));
  await pick(red);
  await guest.ask('What is this?');
  assert.equal(await waiting.count(), 0);
  await loaded(guest.mine.getByRole('img'), 2);
  await guest.page.reload();
  await loaded(guest.mine.getByRole('img'), 2);
});

test('a picture is pasted', async () => {
  await bring('paste', [red]);
  await eventually(async () => assert.deepEqual(await names(), ['red.png']));
});

test('pictures are dropped anywhere, and the page says that they may be', async () => {
  await bring('dragenter', [red]);
  await guest.page.getByText('Drop files here').waitFor();
  await bring('drop', [red, blue]);
  await eventually(async () => assert.deepEqual(await names(), ['red.png', 'blue.png']));
  await guest.page.getByText('Drop files here').waitFor({ state: 'detached' });
});

test('what is no picture, or too much, is refused in words, and the rest is taken', async () => {
  const notes = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('hello') };
  await bring('drop', [notes, red]);
  await guest.page.getByRole('alert').getByText('notes.txt is not a picture that can be sent.').waitFor();
  await eventually(async () => assert.deepEqual(await names(), ['red.png']));
  const many = Array.from({ length: 11 }, (_, at) => ({ ...blue, name: `${at}.png` }));
  await bring('drop', many);
  await guest.page.getByRole('alert').getByText('A message takes at most 10 pictures.').waitFor();
  await eventually(async () => assert.equal((await names()).length, 10));
});

test('pictures stay with the session they were added in', async () => {
  model.will('Yes.');
  await guest.ask('Hello');
  await bring('drop', [red]);
  await guest.page.getByRole('dialog', { name: 'What shall become of red.png?' }).getByRole('button', { name: 'Attach' }).click();
  await eventually(async () => assert.deepEqual(await names(), ['red.png']));
  await guest.sessions.getByRole('button', { name: 'New session' }).click();
  await eventually(async () => assert.deepEqual(await names(), []));
  await guest.page.goBack();
  await eventually(async () => assert.deepEqual(await names(), ['red.png']));
});

test('a message with a picture is said again with its picture', async () => {
  model.will('I see.', 'I see better.');
  await pick(red);
  await guest.ask('What is this?');
  await guest.log.getByRole('button', { name: 'Try again' }).click();
  await guest.finished.getByText('I see better.').waitFor();
  await guest.idle();
  await loaded(guest.mine.getByRole('img'), 1);
});

test('a picture that a tool returned is shown, larger on demand, also by keyboard', async () => {
  model.will({ calls: [{ name: 'read_file', args: { path: 'plan.png' } }] }, 'There it is.');
  await guest.ask('Show me the plan');
  const small = guest.log.getByRole('button', { name: /^Show .* larger$/ });
  await loaded(small.getByRole('img'), 1);
  await small.focus();
  await guest.page.keyboard.press('Enter');
  const large = guest.page.getByRole('dialog');
  await loaded(large.getByRole('img'), 1);
  await guest.page.keyboard.press('Escape');
  await large.waitFor({ state: 'detached' });
  await focused(small);
});

for (const { name: look, options } of looks) {
  test(`pictures in ${look}`, async () => {
    await context.close();
    context = await browser.newContext({ storageState: remembered, ...options });
    await enter();
    model.will({ calls: [{ name: 'read_file', args: { path: 'plan.png' } }] }, 'There it is.');
    await pick(red, blue);
    await guest.ask('What are these, and what is the plan?');
    await loaded(guest.log.getByRole('img'), 3);
    await bring('drop', [red, blue, { name: 'notes.none', mimeType: 'text/plain', buffer: Buffer.from('x') }]);
    const asked = guest.page.getByRole('dialog', { name: 'What shall become of these 2 files?' });
    await asked.waitFor();
    await inspect(guest, `dropped-${look}`);
    await asked.getByRole('button', { name: 'Attach' }).click();
    await loaded(waiting, 2);
    await inspect(guest, `pictures-${look}`);
    await bring('dragenter', [red]);
    await guest.page.getByText('Drop files here').waitFor();
    await inspect(guest, `dropping-${look}`);
    await bring('drop', []);
    await guest.log.getByRole('button', { name: /^Show .* larger$/ }).last().click();
    await loaded(guest.page.getByRole('dialog').getByRole('img'), 1);
    await inspect(guest, `picture-${look}`);
  });
}
