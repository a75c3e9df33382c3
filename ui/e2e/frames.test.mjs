// Windows beside the conversation: opened, moved, resized, maximised, closed and found again.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { inspect, looks } from './inspect.mjs';
import { Server } from './server.mjs';
import { deadServer, eventually, launch, signIn, visit } from './visit.mjs';
import { inspectInside, Windows } from './windows.mjs';

let server, browser, remembered, context, guest, windows;

before(async () => {
  server = await Server.fresh();
  browser = await launch();
  remembered = await signIn(browser, server);
});
after(async () => {
  await browser?.close();
  await server?.end();
});

async function come(options = {}, address = server.url) {
  context = await browser.newContext({ storageState: remembered, viewport: { width: 1280, height: 800 }, ...options });
  guest = await visit(context, address);
  windows = new Windows(guest);
}

afterEach(async () => {
  const { complaints } = guest;
  await context.close();
  assert.deepEqual(complaints, [], 'the console complained');
});

/** Marks the documents in all frames, to see whether they are still the same later. */
async function mark(...titles) {
  for (const title of titles) {
    const frame = await windows.inside(title);
    await frame.evaluate((title) => Object.assign(window, { marked: title }), title);
  }
}

async function marks(...titles) {
  const frames = await Promise.all(titles.map((title) => windows.inside(title)));
  return Promise.all(frames.map((frame) => frame.evaluate(() => /** @type {any} */ (window).marked)));
}

describe('on a wide screen', () => {
  beforeEach(() => come());

  test('a note is kept, and found again after a reload in a window that is there again', async () => {
    await guest.ask('Hello');
    await windows.open();
    await windows.pin('Buy bread');
    await guest.page.reload();
    const content = await windows.ready();
    await content.getByRole('listitem').filter({ hasText: 'Buy bread' }).waitFor();
    await content.getByRole('button', { name: 'Take down' }).click();
    await content.getByText('Nothing is pinned here yet').waitFor();
    await windows.region().getByRole('button', { name: 'Close Notice board' }).click();
    await windows.area.waitFor({ state: 'detached' });
    await guest.page.reload();
    await guest.connected();
    assert.equal(await windows.region().count(), 0, 'what was closed stays closed');
  });

  test('what the app tells the agent is said in its session, under its name', async () => {
    await guest.ask('Hello');
    const content = await windows.open();
    await windows.pin('Water the olive tree');
    await content.getByRole('button', { name: 'Tell the agent' }).click();
    await guest.log.getByRole('article', { name: 'From the app demo' }).getByText('Water the olive tree').waitFor();
    await content.getByText('The agent was told.').waitFor();
    await guest.finished.nth(1).waitFor();
    await content.getByRole('button', { name: 'Take down' }).click();
    await content.getByText('Nothing is pinned here yet').waitFor();
  });

  test('without a session the app hears why nothing was said', async () => {
    const content = await windows.open();
    await windows.pin('Anybody there?');
    await content.getByRole('button', { name: 'Tell the agent' }).click();
    await content.getByText('That did not work: there is no session to tell it in yet.').waitFor();
    await content.getByRole('button', { name: 'Take down' }).click();
    await content.getByText('Nothing is pinned here yet').waitFor();
  });

  test('an address can open an app, once', async () => {
    await guest.page.goto(`${server.url}/?app=demo`);
    await windows.ready();
    assert.equal(new URL(guest.page.url()).search, '');
    await guest.page.reload();
    await windows.ready();
    assert.equal(await guest.page.locator('iframe').count(), 1);
    await windows.region().getByRole('button', { name: 'Close Notice board' }).click();
  });

  test('no window loads anew when windows are switched, moved, arranged, resized or maximised', async () => {
    const { page } = guest;
    await windows.open();
    await windows.open('Notice board 2');
    await page.getByRole('tab', { name: 'Notice board', exact: true }).click();
    await mark('Notice board');
    await page.getByRole('tab', { name: 'Notice board 2' }).click();
    await mark('Notice board 2');
    const tabs = () => page.getByRole('tab').allInnerTexts();
    assert.deepEqual(await tabs(), ['Notice board', 'Notice board 2']);
    await page.getByRole('button', { name: 'Move Notice board 2 forward' }).click();
    await eventually(async () => assert.deepEqual(await tabs(), ['Notice board 2', 'Notice board']));
    await page
      .getByRole('tab', { name: 'Notice board', exact: true })
      .dragTo(page.getByRole('tab', { name: 'Notice board 2' }));
    await eventually(async () => assert.deepEqual(await tabs(), ['Notice board', 'Notice board 2']));

    await page.getByRole('button', { name: 'Arrange as tiles' }).click();
    await windows.region().waitFor();
    await windows.region('Notice board 2').waitFor();
    const height = async () => (await windows.region().boundingBox()).height;
    const before = await height();
    const edge = page.getByRole('separator', { name: 'Height of Notice board' });
    await edge.press('ArrowDown');
    await edge.press('ArrowDown');
    await eventually(async () => assert.ok((await height()) > before + 10));
    await page.getByRole('button', { name: 'Move Notice board back' }).click();
    await eventually(async () => {
      const [first, second] = [await windows.region(), await windows.region('Notice board 2')];
      assert.ok((await first.boundingBox()).y > (await second.boundingBox()).y);
    });

    await page.getByRole('button', { name: 'Maximise Notice board', exact: true }).click();
    await windows.region('Notice board 2').waitFor({ state: 'hidden' });
    const covers = async () => assert.ok((await windows.area.boundingBox()).width > 900, 'it covers the conversation');
    await eventually(covers);
    await page.getByRole('button', { name: 'Restore Notice board' }).press('Escape');
    await windows.region('Notice board 2').waitFor();
    assert.deepEqual(await marks('Notice board', 'Notice board 2'), ['Notice board', 'Notice board 2']);
    await page.getByRole('button', { name: 'Close Notice board', exact: true }).click();
    await eventually(async () =>
      assert.deepEqual(await marks('Notice board'), ['Notice board 2'], 'the other one moved up and stayed as it was'),
    );
    await page.getByRole('button', { name: 'Close Notice board', exact: true }).click();
  });

  test('the edge beside the conversation is moved by key and by hand, and stays there', async () => {
    await windows.open();
    const edge = guest.page.getByRole('separator', { name: 'Width of the windows' });
    const share = async () => Number(await edge.getAttribute('aria-valuenow'));
    const shares = (percent) => eventually(async () => assert.equal(await share(), percent));
    await shares(50);
    await edge.press('ArrowRight');
    await edge.press('ArrowRight');
    await shares(40);
    await edge.press('Home');
    await shares(75);
    await edge.press('End');
    await shares(25);
    const box = await edge.boundingBox();
    await guest.page.mouse.move(box.x + 4, box.y + 300);
    await guest.page.mouse.down();
    await guest.page.mouse.move(700, 300, { steps: 5 });
    await guest.page.mouse.up();
    await eventually(async () => assert.ok((await share()) > 50, `${await share()}`));
    // The hand has let go, so it stays where it is.
    const dragged = await share();
    await guest.page.reload();
    await windows.ready();
    await shares(dragged);
    await windows.region().getByRole('button', { name: 'Close Notice board' }).click();
  });

  test('every window of an app hears of what is kept, in other pages too', async () => {
    await windows.open();
    const other = new Windows(await visit(context, server.url));
    await other.open('Notice board 2');
    await other.pin('Seen by all', 'Notice board 2');
    const content = await windows.ready();
    await content.getByRole('listitem').filter({ hasText: 'Seen by all' }).waitFor();
    await content.getByRole('button', { name: 'Take down' }).click();
    await other
      .region('Notice board 2')
      .frameLocator('iframe')
      .getByText('Nothing is pinned here yet')
      .waitFor();
    await other.region('Notice board 2').getByRole('button', { name: /Close/ }).click();
    await other.region().getByRole('button', { name: /Close/ }).click();
  });

  test('a window sits in the conversation, as tall as what is in it', async () => {
    await guest.ask('Hello');
    await windows.open();
    await guest.page.getByRole('button', { name: 'Show Notice board in the conversation' }).click();
    await windows.area.waitFor({ state: 'detached' });
    const inline = guest.log.getByRole('region', { name: 'Notice board' });
    await windows.ready();
    const height = async () => (await inline.locator('iframe').boundingBox()).height;
    // It is so tall until its content has said how tall that is.
    await eventually(async () => assert.notEqual(await height(), 160));
    const before = await height();
    await windows.pin('One');
    await windows.pin('Two');
    await windows.pin('Three');
    await eventually(async () => assert.ok((await height()) > before + 20, `${before} ${await height()}`));
    for (let number = 4; number < 16; number += 1) await windows.pin(`Note ${number}`);
    await eventually(async () => assert.equal(await height(), 480));
    await inspect(guest, 'frames-inline');
    await guest.page.getByRole('button', { name: 'Show Notice board beside the conversation' }).click();
    const content = await windows.ready();
    for (let left = 15; left > 0; left -= 1) {
      await eventually(async () => assert.equal(await content.getByRole('listitem').count(), left));
      await content.getByRole('button', { name: 'Take down' }).first().click();
    }
    await content.getByText('Nothing is pinned here yet').waitFor();
  });

  test('after a restart of the server the window is there again, with what it kept', async () => {
    await guest.ask('Hello');
    await windows.open();
    await windows.pin('Older than the server');
    guest.foresee(deadServer);
    guest.foresee(/404/);
    const sandbox = new URL((await windows.inside()).url()).host;
    await mark('Notice board');
    await server.kill();
    await server.restart(sandbox);
    await eventually(async () => assert.deepEqual(await marks('Notice board'), [undefined]));
    const content = await windows.ready();
    await content.getByRole('listitem').filter({ hasText: 'Older than the server' }).waitFor();
    guest.foresee(/frame-src/);
    await server.kill();
    await server.restart();
    await windows.region().getByText('from another address').waitFor();
    await guest.page.getByRole('button', { name: 'Reload the page' }).click();
    await windows.ready();
    await content.getByRole('button', { name: 'Take down' }).click();
    await content.getByText('Nothing is pinned here yet').waitFor();
  });
});

test('on a phone the window takes the screen, and there is a way back', async () => {
  await come({ viewport: { width: 390, height: 844 } });
  await guest.ask('Hello');
  await windows.open();
  await mark('Notice board');
  await eventually(async () =>
    assert.deepEqual(await windows.area.boundingBox(), { x: 0, y: 0, width: 390, height: 844 }),
  );
  await guest.page.getByRole('button', { name: 'Back to the chat' }).click();
  await windows.region().waitFor({ state: 'hidden' });
  await guest.ask('Still here?');
  await guest.page.getByRole('button', { name: 'Show windows' }).click();
  await windows.region().waitFor();
  assert.deepEqual(await marks('Notice board'), ['Notice board'], 'it was not loaded anew');
});

describe('with something on the board', () => {
  before(async () => {
    await come();
    await windows.open();
    await windows.pin('Oil for the hearth, and two jars of honey');
    await windows.pin('Ask Nestor about the horses');
    await context.close();
  });

  for (const { name: look, wide, options } of looks) {
    test(`it looks well in ${look}`, async () => {
      await come(options);
      await guest.ask('What is on the board?');
      await windows.open();
      await inspect(guest, `frames-${look}`);
      await windows.apps.click();
      await guest.page.getByRole('menuitem').first().waitFor();
      await inspect(guest, `frames-menu-${look}`);
      await guest.page.getByRole('menuitem').first().click();
      const frame = await windows.inside('Notice board 2');
      await inspect(guest, `frames-tabs-${look}`);
      if (wide) {
        await guest.page.getByRole('button', { name: 'Arrange as tiles' }).click();
        await windows.ready();
        await inspect(guest, `frames-tiles-${look}`);
        await guest.page.getByRole('button', { name: 'Maximise Notice board 2' }).click();
        await inspect(guest, `frames-maximised-${look}`);
      }
      // The inspector itself styles things inline, which frames refuse.
      guest.foresee(/Applying inline style/);
      await inspectInside(frame);
    });
  }
});
