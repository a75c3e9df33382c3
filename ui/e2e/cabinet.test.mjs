// Apps on the page: what there is and may do, adding and removing one, and an app that keeps what is written in it.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { inspect, looks } from './inspect.mjs';
import { Server } from './server.mjs';
import { eventually, launch, signIn, visit } from './visit.mjs';

let server, browser, remembered, context, guest;

before(async () => {
  server = await Server.fresh();
  browser = await launch();
  remembered = await signIn(browser, server);
});
after(async () => {
  await browser?.close();
  await server?.end();
});
afterEach(async () => {
  const { complaints } = guest;
  await context.close();
  for (const id of await readdir(join(server.home, 'data/apps')))
    await rm(join(server.home, 'data/apps', id), { recursive: true, force: true });
  assert.deepEqual(complaints, [], 'the console complained');
});

async function enter(options = {}, address = '/?view=apps') {
  context = await browser.newContext({ storageState: remembered, viewport: { width: 1280, height: 800 }, ...options });
  guest = await visit(context, `${server.url}${address}`);
}

const card = (name) => guest.page.getByRole('article', { name, exact: true });
const button = (name) => guest.page.getByRole('button', { name });

/** Writes an app where the server looks for apps, or elsewhere. */
async function write(id, description, page, root = join(server.home, 'data/apps')) {
  await mkdir(join(root, id), { recursive: true });
  await writeFile(join(root, id, 'index.html'), page);
  await writeFile(join(root, id, 'app.json'), JSON.stringify(description));
}

async function packed(id, description) {
  const root = join(server.home, 'packing');
  await write(id, description, '<!doctype html><title>x</title><p>Here I am', root);
  const archive = join(root, `${id}.tar.gz`);
  await promisify(execFile)('tar', ['-czf', archive, '-C', root, id]);
  return archive;
}

/** Chooses an archive as a person would. */
async function offer(archive) {
  const [chooser] = await Promise.all([guest.page.waitForEvent('filechooser'), button('Add an app').click()]);
  await chooser.setFiles(archive);
}

const tide = {
  name: 'Tide',
  icon: '🌊',
  version: '1.2',
  author: 'Ann',
  description: 'Tells when the water comes',
  permissions: ['downloads', 'storage:shared/'],
  domains: ['api.example.com'],
  fileAssociations: [{ extensions: ['tide'], command: 'open', paramKey: 'content' }],
  hidden: 'no',
};

describe('apps', () => {
  test('an archive says what it asks for before it is put in, and goes with an undo', async () => {
    await enter();
    await card('Scratchpad').getByText('Came with Megaron').waitFor();
    await offer(await packed('tide', tide));
    const asking = guest.page.getByRole('dialog', { name: 'Add Tide?' });
    const may = asking.getByRole('list', { name: 'What Tide may do' }).getByRole('listitem');
    await may.first().waitFor();
    assert.deepEqual(await may.allInnerTexts(), [
      'Offer files for download',
      'Read and change what apps keep in shared/, after asking you',
      'Speak to api.example.com',
      'Open .tide files',
    ]);
    await asking.getByText('expected true or false, got "no"').waitFor();
    await asking.getByRole('button', { name: 'Cancel' }).click();
    assert.equal(await card('Tide').count(), 0, 'nothing was kept');
    await offer(await packed('tide', tide));
    await asking.getByRole('button', { name: 'Add it' }).click();
    await card('Tide').getByText('By Ann').waitFor();
    await card('Tide').getByRole('button', { name: 'Remove Tide' }).click();
    await card('Tide').getByRole('button', { name: 'Undo removing Tide' }).click();
    await card('Tide').getByRole('button', { name: 'Remove Tide' }).click();
    // Whoever leaves has made up their mind.
    await guest.page.getByRole('link', { name: 'Settings' }).click();
    await guest.page.getByRole('link', { name: 'Apps', exact: true }).click();
    await card('Scratchpad').waitFor();
    await eventually(async () => assert.equal(await card('Tide').count(), 0));
  });

  test('what is no app is refused in words that say why', async () => {
    await enter();
    guest.foresee(/400/);
    const wrong = join(server.home, 'wrong.zip');
    await writeFile(wrong, 'hello');
    await offer(wrong);
    await guest.page.getByRole('alert').getByText('expected a .zip or a .tar.gz archive').waitFor();
  });

  test('an app on the disk shows at once, and loads anew when its files change', async () => {
    await enter();
    await card('Scratchpad').waitFor();
    // Only who is connected hears of it.
    await guest.connected();
    await write('clock', { name: 'Clock' }, '<!doctype html><p id="time">one');
    await card('Clock').getByRole('button', { name: 'Open Clock' }).click();
    const shown = guest.page.getByRole('region', { name: 'Clock', exact: true }).frameLocator('iframe');
    await shown.getByText('one').waitFor();
    // It may change before the frame is listened for, so it does until that is seen.
    await eventually(async () => {
      await write('clock', { name: 'Clock' }, '<!doctype html><p id="time">two');
      await shown.getByText('two').waitFor({ timeout: 3000 });
    });
  });

  test('what is written in an app is there again after a reload, and is nobody else’s', async () => {
    await enter({}, '/');
    await guest.ask('Hello');
    await guest.page.getByRole('link', { name: 'Apps', exact: true }).click();
    await card('Scratchpad').getByRole('button', { name: 'Open Scratchpad' }).click();
    const region = guest.page.getByRole('region', { name: 'Scratchpad', exact: true });
    const pad = region.frameLocator('iframe');
    await pad.getByRole('textbox', { name: 'Scratchpad' }).fill('the tide turns at six');
    await pad.getByText('Kept').waitFor();
    await guest.page.reload();
    await eventually(async () =>
      assert.equal(await pad.getByRole('textbox', { name: 'Scratchpad' }).inputValue(), 'the tide turns at six'),
    );
    const frame = await (await region.locator('iframe').elementHandle())?.contentFrame();
    assert.ok(frame);
    guest.foresee(/40[134]|Blocked a frame|SecurityError/);
    const seen = await frame.evaluate(async () => {
      const attempt = async (act) => {
        try {
          return String(await act());
        } catch (error) {
          const { name, message } = /** @type {Error} */ (error);
          return name === 'SecurityError' ? 'refused' : message;
        }
      };
      const base = location.pathname.match(/^\/f\/[^/]+\//)?.[0] ?? '';
      return {
        parent: await attempt(() => parent.document.title),
        cookies: await attempt(() => document.cookie),
        other: await attempt(() => window.yaar.storage.read('apps/sheet/x')),
        above: await attempt(() => window.yaar.storage.read('apps/self/../sheet/x')),
        encoded: await attempt(() => fetch(`${base}api/storage/apps/self/%2e%2e/sheet/x`).then((it) => it.status)),
        bare: await attempt(() => fetch(`${base}api/storage/apps/self/text.txt`).then((it) => it.status)),
        url: await attempt(() => fetch(window.yaar.storage.url('apps/self/text.txt')).then((it) => it.text())),
        sessions: await attempt(() => fetch(`${base}api/sessions`).then((it) => it.status)),
      };
    });
    assert.deepEqual(seen, {
      parent: 'refused',
      cookies: 'refused',
      other: 'Access denied',
      above: 'Access denied',
      encoded: '401',
      bare: '401',
      url: 'the tide turns at six',
      sessions: '403',
    });
  });
});

/** An app that opens `.tally` files, and shows what is in them. */
const opener = (id) => `<!doctype html><title>${id}</title><p id="text">empty</p><script>
yaar.app.register({ appId: '${id}', name: '${id}', commands: { open: { description: 'Open', timeoutMs: 60000, handler: ({ content }) => {
  document.getElementById('text').textContent = content;
} } } });
</script>`;

describe('a file', () => {
  test('is opened by the same app, whoever opens it and however', async () => {
    for (const [id, name] of [['ledger', 'Ledger'], ['table', 'Table']]) {
      const associated = [{ extensions: ['.tally'], command: 'open', paramKey: 'content' }];
      await write(id, { name, fileAssociations: associated }, opener(id));
    }
    const put = (text) => writeFile(join(server.workspace, 'a.tally'), text);
    await put('one');
    await enter({}, '/');
    await guest.ask('Hello');
    const session = new URL(guest.page.url()).searchParams.get('session') ?? '';
    await guest.page.goto(`${server.url}/?${new URLSearchParams({ session, applet: 'file-browser' })}`);
    const region = (name) => guest.page.getByRole('region', { name, exact: true });
    const files = region('Files').frameLocator('iframe');
    const shows = (name, text) => region(name).frameLocator('iframe').getByText(text, { exact: true }).waitFor();
    const back = () => guest.page.getByRole('tab', { name: 'Files' }).click();

    // Apps that are there already answer at once, also on a machine that is busy.
    for (const name of ['Ledger', 'Table']) {
      await guest.page.evaluate(
        (wish) => fetch('/api/apps/open', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(wish) }),
        { session, appId: name.toLowerCase() },
      );
      await shows(name, 'empty');
    }
    await back();
    // A click only chooses; and where several could, the person says which.
    await files.getByRole('link', { name: /a\.tally/ }).click();
    await files.locator('li.chosen').getByText('a.tally').waitFor();
    await files.getByRole('link', { name: /a\.tally/ }).dblclick();
    const menu = files.getByRole('menu', { name: 'Open with… a.tally' }).getByRole('menuitem');
    await menu.first().waitFor();
    assert.deepEqual(await menu.allTextContents(), ['Ledger', 'Table', 'Editor']);
    await menu.getByText('Table').click();
    await shows('Table', 'one');

    // What no message takes goes to an app, wherever it is dropped.
    await guest.page.evaluate(() => {
      const data = new DataTransfer();
      data.items.add(new File(['two'], 'b.tally'));
      const event = new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true });
      document.querySelector('[role=log]')?.dispatchEvent(event);
    });
    const asking = guest.page.getByRole('dialog', { name: 'Open b.tally with…' });
    await asking.getByRole('radio', { name: 'Ledger' }).check();
    await asking.getByRole('checkbox', { name: 'Always open such files with it' }).check();
    await asking.getByRole('button', { name: 'Open' }).click();
    await shows('Ledger', 'two');

    // From now on it is known which.
    await put('six');
    await back();
    await files.getByRole('link', { name: /a\.tally/ }).dblclick();
    await shows('Ledger', 'six');
    await put('ten');
    await guest.ask('/tool file_open {"path": "a.tally"}');
    await shows('Ledger', 'ten');
    await put('end');
    await server.command('open', join(server.workspace, 'a.tally'), '--session', session);
    await shows('Ledger', 'end');
  });
});

describe('how apps look', () => {
  for (const { name, options } of looks) {
    test(name, async () => {
      await write('tide', { ...tide, icon: undefined }, '<p>');
      await enter(options);
      await card('Tide').waitFor();
      await inspect(guest, `apps-${name}`);
      await offer(await packed('wave', { ...tide, name: 'Wave' }));
      await guest.page.getByRole('dialog', { name: 'Add Wave?' }).waitFor();
      await inspect(guest, `apps-install-${name}`);
    });
  }
});
