// Whatever a model, a tool, a file or a provider says: nothing of it runs, nothing leaves for elsewhere, nothing pops up.
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { answers, diagrams, formulas, markup } from './hostile.mjs';
import { ScriptedModel } from './scripted.mjs';
import { Server } from './server.mjs';
import { eventually, launch, signIn, visit } from './visit.mjs';

const evil = `<img src=x onerror=pwned()>`;
const names = [`a${evil}.txt`, '"onmouseover=pwned() x=".txt', "'-pwned()-'.md"];

let model, server, browser, remembered, context, guest, asked, dialogs;

before(async () => {
  model = await ScriptedModel.start();
  server = await Server.fresh(model.config.replace('models = ["it"]', `models = ["it", ${JSON.stringify(evil)}]`));
  const folder = join(server.workspace, 'hostile');
  await mkdir(folder);
  for (const name of names) await writeFile(join(folder, name), markup.join('\n'));
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
  asked = [];
  dialogs = [];
  context.on('request', (request) => asked.push(request));
  context.on('dialog', (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  await context.addInitScript(() => {
    // The drawing program itself tries things; that is why it lives in a room apart, and only the page counts here.
    const tried = /** @type {string[]} */ ([]);
    document.addEventListener('securitypolicyviolation', (event) =>
      tried.push(`${event.violatedDirective} ${event.blockedURI}`),
    );
    Object.assign(window, {
      tried,
      pwned: () => {
        /** @type {any} */ (window.top).wasPwned = true;
      },
    });
  });
  guest = await visit(context, server.url);
  // Refusals of the policy are looked at apart, and a picture that is not there is no fault.
  guest.foresee(/Content Security Policy/);
  guest.foresee(/404/);
});
afterEach(async () => {
  // Whatever was waiting to happen has had its chance once a round trip is over and a frame was drawn.
  await guest.page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
  const happened = await guest.page.evaluate(() => ({
    ran: /** @type {any} */ (window).wasPwned ?? false,
    tried: /** @type {any} */ (window).tried,
    page: document.getElementById('page')?.parentElement === document.body,
    handlers: [...document.querySelectorAll('*')].flatMap((it) =>
      [...it.attributes].filter(({ name }) => name.startsWith('on')).map(({ name }) => `${it.tagName} ${name}`),
    ),
    foreign: [
      ...document.querySelectorAll('#page :is(script, iframe, object, embed, link, meta, base, style, video, audio)'),
    ].map((it) => it.outerHTML),
    leading: [...document.querySelectorAll('[href], [src], [action], [formaction]')]
      .flatMap((it) => ['href', 'src', 'action', 'formaction'].map((name) => it.getAttribute(name) ?? ''))
      .filter((address) =>
        /^\W*(?:javascript|vbscript|file|data:(?!image\/))/i.test(address.replace(/[\s\u0000-\u001f]/g, '')),
      ),
    named: [...document.querySelectorAll('.prose :is([id], [name])')].map((it) => it.outerHTML.slice(0, 200)),
    styled: [...document.querySelectorAll('#page [style]')]
      .map((it) => it.getAttribute('style') ?? '')
      .filter((style) => /url\(|fixed|expression|import/i.test(style)),
  }));
  const { complaints } = guest;
  await context.close();
  const ours = new URL(server.url).origin;
  // What the policy refused never left.
  const sent = asked.filter((request) => request.failure()?.errorText !== 'csp').map((request) => request.url());
  const away = sent.filter((url) => !url.startsWith(`${ours}/`) && !/^(?:blob|data):/.test(url));
  assert.deepEqual(
    { ...happened, away, dialogs, complaints },
    {
      ran: false,
      tried: [],
      page: true,
      handlers: [],
      foreign: [],
      leading: [],
      named: [],
      styled: [],
      away: [],
      dialogs: [],
      complaints: [],
    },
  );
});

/** All blocks have become what they will be. */
async function finished() {
  await eventually(async () => {
    const waiting = await guest.log.evaluate(
      (log) =>
        [...log.querySelectorAll('[data-formula=inline], [data-formula=display]')].filter(
          (it) => !it.querySelector('.katex, [data-reason]'),
        ).length +
        [...log.querySelectorAll('[data-code=mermaid]')].filter(
          (it) => !it.querySelector('[data-diagram], [data-reason]'),
        ).length,
    );
    assert.equal(waiting, 0);
  });
}

test('answers of a model', async () => {
  let [set, drawn, read] = [0, 0, ''];
  // In short sessions, of which everything is drawn.
  for (let at = 0; at < answers.length; at += 20) {
    await guest.page.goto(server.url);
    const some = answers.slice(at, at + 20);
    for (const answer of some) {
      model.will(answer);
      await guest.ask('Go on');
    }
    await finished();
    assert.equal(await guest.answers.count(), some.length);
    set += await guest.log.locator('.katex').count();
    drawn += await guest.log.locator('[data-diagram] img').count();
    read += await guest.log.innerText();
  }
  assert.ok(set > 0, 'some formulas were set');
  assert.ok(drawn > 0, 'some diagrams were drawn');
  assert.match(read, /<script>pwned\(\)<\/script>/, 'markup is shown as it was written');
});

test('an answer while it is being written, cut anywhere', async () => {
  const text = [...markup.slice(0, 8), ...formulas.slice(0, 3)].join('\n\n');
  model.will({ pieces: text.match(/[\s\S]{1,3}/g) });
  await guest.ask('Go on, slowly');
});

test('answers that were stored are as harmless when they are read again', async () => {
  model.will([markup.join('\n\n'), formulas.join('\n\n'), diagrams.join('\n\n')].join('\n\n'));
  await guest.ask('Go on');
  await finished();
  await guest.page.reload();
  await guest.finished.first().waitFor();
  await finished();
});

test('what a person says', async () => {
  model.will(...markup.map(() => 'Yes.'));
  for (const text of markup) await guest.ask(`${text}\n${answers.at(-1)}`.slice(0, 2000));
});

test('names of tools, what they are given, and that they fail', async () => {
  const calls = markup.slice(0, 6).map((text) => ({ name: text, args: { [text]: text } }));
  model.will({ text: 'Calling.', calls }, 'Done.');
  await guest.ask('Call something');
  for (const summary of await guest.log.locator('summary').all()) await summary.click();
});

test('names of files, and what is in them', async () => {
  const calls = [
    { name: 'list_directory', args: { path: 'hostile' } },
    ...names.map((name) => ({ name: 'read_file', args: { path: `hostile/${name}` } })),
  ];
  model.will({ calls }, 'Done.');
  await guest.ask('Look around');
  for (const summary of await guest.log.locator('summary').all()) await summary.click();
  await guest.log.getByText('<script>pwned()</script>').first().waitFor();
});

test('names of sessions, in the list, the heading and the title', async () => {
  model.will('Yes.');
  await guest.ask('Hello');
  for (const name of markup.map((text) => text.replaceAll('\u0000', '').slice(0, 100))) {
    await guest.page.evaluate(async (name) => {
      const id = new URLSearchParams(location.search).get('session');
      const headers = { 'Content-Type': 'application/json' };
      const answer = await fetch(`/api/sessions/${id}`, { method: 'PATCH', headers, body: JSON.stringify({ name }) });
      if (!answer.ok) throw new Error(await answer.text());
    }, name);
    await guest.page.getByRole('heading', { level: 1 }).getByText(name, { exact: true }).waitFor();
  }
});

test('names of models', async () => {
  model.will('Yes.', 'Yes.');
  await guest.ask('Hello');
  await guest.page.getByRole('button', { name: 'Model:' }).click();
  await guest.page.getByRole('option', { name: evil }).click();
  await guest.page.getByRole('button', { name: `model: ${evil}` }).waitFor();
  await guest.ask('Hello again');
});

test('what a provider says when it refuses', async () => {
  model.will({ refusal: markup.join(' ') });
  await guest.say('Hello');
  await guest.log.getByText('Something went wrong.').waitFor();
  await guest.idle();
});

test('a question to the person, and what was to be run', async () => {
  const command = `echo '${markup.slice(0, 5).join(' ').replaceAll("'", '')}'`;
  model.will({ calls: [{ name: 'shell', args: { command } }] }, 'Done.');
  await guest.say('Run something');
  const approvals = guest.page.getByRole('region', { name: 'Approvals' });
  await approvals.getByRole('button', { name: 'Deny' }).first().click();
  await guest.idle();
});

test('the room in which diagrams are drawn lets nothing in or out, and only the page look in', async () => {
  const response = await guest.page.request.get(`${server.url}/diagram.html`);
  const policy = response.headers()['content-security-policy'] ?? '';
  assert.deepEqual(
    policy.split(';').map((it) => it.trim()),
    [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self' 'unsafe-inline'",
      "form-action 'none'",
      "base-uri 'none'",
      "frame-ancestors 'self'",
    ],
  );
  assert.equal(response.headers()['x-frame-options'], 'SAMEORIGIN');
});
