// Each view of a widget by itself: what it alone may do, what it tells the model, and where it stays while the reader goes elsewhere.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { inspect, looks } from './inspect.mjs';
import { png } from './png.mjs';
import { ScriptedModel } from './scripted.mjs';
import { Server } from './server.mjs';
import { eventually, launch, signIn, visit } from './visit.mjs';

const program = join(import.meta.dirname, 'desk-server.mjs');
const [red, blue] = [png(160, 120, [180, 60, 30]), png(120, 160, [40, 90, 150])].map((it) => it.toString('base64'));
let model, server, browser, remembered, long;

before(async () => {
  model = await ScriptedModel.start();
  const table = `[mcp.servers.desk]\ncommand = "node"\nargs = ${JSON.stringify([program, red, blue])}\ntrusted = true\n`;
  server = await Server.fresh(`${model.config}${table}`, async (server) => {
    long = await server.remember(5_000);
  });
  browser = await launch();
  remembered = await signIn(browser, server);
});
after(async () => {
  await browser?.close();
  await server?.end();
  await model?.end();
});

/** A page whose server knows its tools. */
async function enter(path = '') {
  const context = await browser.newContext({ storageState: remembered, ...looks[0]?.options });
  const guest = await visit(context, `${server.url}${path}`);
  await eventually(async () => {
    const answer = await context.request.get(`${server.url}/api/widgets`);
    assert.deepEqual((await answer.json()).widgets.map((it) => it.tool), ['desk']);
  });
  const widgets = guest.page.getByRole('region', { name: 'Widget of Desk', exact: true });
  return { context, guest, widgets };
}

const insideOf = (widget) => widget.locator('iframe').contentFrame();
const frameOf = async (widget) => (await widget.locator('iframe').elementHandle()).contentFrame();
/** Only a view that was greeted may ask for anything. */
const greeted = (widget) => insideOf(widget).getByText(/^greeted by /).waitFor();
const press = async (widget, name) => {
  await greeted(widget);
  await insideOf(widget).getByRole('button', { name }).click();
};

/** What a view was answered, once it was. */
const answer = (widget, id) =>
  eventually(async () => {
    const frame = await frameOf(widget);
    const heard = await frame.evaluate(() => /** @type {any} */ (window).heard);
    const mine = heard.find((it) => it.id === id);
    assert.ok(mine, `${id} in ${JSON.stringify(heard)}`);
    return mine.result ?? mine.error;
  });

const stamped = (number) => ({ content: [{ type: 'text', text: `stamped ${number}` }] });

test('what one view may do while it is shown, another of the same widget is asked about', async () => {
  const { context, guest, widgets } = await enter();
  const approvals = guest.page.getByRole('region', { name: 'Approvals' });
  const asked = approvals.getByRole('article');
  const [one, other] = [widgets.first(), widgets.last()];
  model.will({ calls: [{ name: 'desk', args: {} }, { name: 'desk', args: {} }] }, 'Two of them.');
  await guest.ask('Two desks, please.');
  await eventually(async () => assert.equal(await widgets.count(), 2));
  // Until then the other may still grow, and move this one away.
  await greeted(other);
  await press(one, 'Stamp');
  await asked.getByRole('button', { name: 'For longer' }).click();
  const reach = asked.getByRole('radio', { name: /^For this widget, while it is shown/ });
  assert.equal(await reach.isChecked(), true, 'nothing reaches further than it must');
  assert.equal(await asked.getByRole('combobox', { name: 'How long' }).count(), 0);
  for (const { name, options } of looks.filter((it) => it.wide === (it.options.colorScheme === 'light'))) {
    await guest.page.emulateMedia({ colorScheme: options.colorScheme });
    await guest.page.setViewportSize(options.viewport);
    await reach.scrollIntoViewIfNeeded();
    await inspect(guest, `widget-leave-${name}`);
  }
  await asked.getByRole('button', { name: 'Allow while it is shown' }).click();
  assert.deepEqual(await answer(one, 'Stamp 1'), stamped(1));
  // Nobody says yes to this one.
  await press(one, 'Stamp');
  assert.deepEqual(await answer(one, 'Stamp 2'), stamped(2));
  assert.equal(await asked.count(), 0);

  await press(other, 'Stamp');
  await asked.getByRole('button', { name: 'Deny', exact: true }).click();
  const { isError, content } = await answer(other, 'Stamp 1');
  assert.deepEqual([isError, content.length], [true, 1]);
  assert.match(content[0].text, /^The person refused this/);
  // It was for the view, and not for its call: shown anew it is another.
  await guest.page.reload();
  await press(one, 'Stamp');
  await asked.getByRole('button', { name: 'Allow', exact: true }).click();
  assert.deepEqual(await answer(one, 'Stamp 1'), stamped(3));
  assert.deepEqual(guest.complaints, []);
  await context.close();
});

test('what the person presses stays where it is while a widget above it grows', async () => {
  const { context, guest, widgets } = await enter();
  const allow = guest.page.getByRole('region', { name: 'Approvals' }).getByRole('button', { name: 'Allow', exact: true });
  model.will({ calls: [{ name: 'desk', args: {} }] }, 'There.');
  await guest.ask('A desk, please.');
  await press(widgets, 'Stamp');
  await allow.hover();
  const before = await allow.boundingBox();
  await guest.page.mouse.down();
  const growing = { method: 'ui/notifications/size-changed', params: { height: 300 } };
  await (await frameOf(widgets)).evaluate((growing) => /** @type {any} */ (window).post(growing), growing);
  const frame = widgets.locator('iframe');
  await eventually(async () => assert.equal((await frame.boundingBox())?.height, 300));
  assert.deepEqual(await allow.boundingBox(), before);
  await guest.page.mouse.up();
  assert.deepEqual((await answer(widgets, 'Stamp 1')).isError ?? false, false);
  // And then there is room for all of it.
  await eventually(async () => {
    const [row, box] = [await guest.log.locator('.rows').boundingBox(), await frame.boundingBox()];
    assert.ok(row && box && row.y + row.height > box.y + box.height, JSON.stringify([row, box]));
  });
  assert.deepEqual(guest.complaints, []);
  await context.close();
});

/** The pictures in what the person said last, as the model was given it. */
const pictures = () => {
  const { messages } = model.asked.at(-1);
  const since = messages.findLastIndex((it) => it.role === 'assistant');
  const blocks = messages.slice(since + 1).flatMap((it) => (Array.isArray(it.content) ? it.content : []));
  return blocks.filter((it) => it.type === 'image_url').map((it) => it.image_url.url);
};

test('the person sees the pictures that a widget tells the model, and no others', async () => {
  const { context, guest, widgets } = await enter();
  model.will({ calls: [{ name: 'desk', args: {} }] }, 'There.', 'I see.', 'I see nothing.');
  await guest.ask('A desk, please.');
  await widgets.getByText('What the model sees').click();
  await widgets.getByText('The widget has told the model nothing.').waitFor();
  const seen = widgets.getByRole('img', { name: 'Picture 1, which the model sees as well' });
  const size = () =>
    seen.evaluate((it) => {
      const { naturalWidth, naturalHeight } = /** @type {HTMLImageElement} */ (it);
      return [naturalWidth, naturalHeight];
    });
  const shows = async (name, text, width, height) => {
    await press(widgets, name);
    assert.deepEqual(await answer(widgets, `${name} 1`), {});
    await widgets.getByText(text).waitFor();
    await seen.scrollIntoViewIfNeeded();
    await eventually(async () => assert.deepEqual(await size(), [width, height]));
    assert.equal(await widgets.getByRole('img').count(), 1);
  };
  await shows('Red', 'a red chart', 160, 120);
  // The newest takes the place of what was there.
  await shows('Blue', 'a blue chart', 120, 160);
  assert.equal(await widgets.getByText('a red chart').count(), 0);
  for (const { name, options } of looks.filter((it) => it.wide === (it.options.colorScheme === 'light'))) {
    await guest.page.emulateMedia({ colorScheme: options.colorScheme });
    await guest.page.setViewportSize(options.viewport);
    await seen.scrollIntoViewIfNeeded();
    await inspect(guest, `widget-pictures-${name}`);
  }
  await guest.ask('What is on it?');
  assert.deepEqual(pictures(), [`data:image/png;base64,${blue}`]);
  await press(widgets, 'Words');
  await widgets.getByText('no chart any more').waitFor();
  await seen.waitFor({ state: 'detached' });
  await guest.ask('And now?');
  assert.deepEqual(pictures(), []);
  assert.match(JSON.stringify(model.asked.at(-1).messages.slice(-2)), /no chart any more/);
  assert.deepEqual(guest.complaints, []);
  await context.close();
});

test('a widget kept in sight stays as it is wherever the reader goes, and goes back to its place', async () => {
  const { context, guest, widgets } = await enter(`/?session=${long.sessionId}`);
  const question = (number) => guest.mine.getByText(`Question ${number}`, { exact: true });
  const order = guest.mine.getByText('/tool desk {}');
  const said = guest.answers.last().getByText('desk ok: a desk');
  const marked = async () => (await frameOf(widgets)).evaluate(() => /** @type {any} */ (window).mark);
  await question(long.turns).waitFor();
  // The model of that session does what it is told.
  await guest.say('/tool desk {}');
  await insideOf(widgets).getByText('greeted by').waitFor();
  await said.waitFor();
  await (await frameOf(widgets)).evaluate(() => void (/** @type {any} */ (window).mark = 'same'));
  await widgets.getByRole('button', { name: 'Keep in sight' }).click();
  const back = widgets.getByRole('button', { name: 'Back to the conversation' });
  await back.waitFor();
  await guest.log.focus();
  await guest.page.keyboard.press('Home');
  await question(1).waitFor();
  await order.waitFor({ state: 'detached' });
  // It is seen whole, and heeds the person, far from where it belongs.
  const place = await widgets.boundingBox();
  const { width, height } = guest.page.viewportSize() ?? { width: 0, height: 0 };
  assert.ok(place && place.x > 0 && place.y > 0 && place.x + place.width < width && place.y + place.height < height);
  await press(widgets, 'Words');
  assert.deepEqual(await answer(widgets, 'Words 1'), {});
  await inspect(guest, 'widget-in-sight');
  assert.equal(await marked(), 'same');

  await guest.log.focus();
  await guest.page.keyboard.press('End');
  await said.waitFor();
  await back.click();
  await guest.log.getByRole('region', { name: 'Widget of Desk' }).getByRole('button', { name: 'Show large' }).waitFor();
  assert.equal(await marked(), 'same', 'it was never loaded anew');
  // Between what was asked and what was answered, as before.
  await eventually(async () => {
    const tops = [order, widgets, said];
    const found = await Promise.all(tops.map(async (it) => (await it.boundingBox())?.y ?? NaN));
    assert.ok(found[0] < found[1] && found[1] < found[2], found.join(' < '));
  });
  assert.deepEqual(guest.complaints, []);
  await context.close();
});
