// What a model writes is set as it was meant: code, tables, formulas and diagrams, while it grows and when it stands.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { inspect, looks } from './inspect.mjs';
import { held, ScriptedModel } from './scripted.mjs';
import { Server } from './server.mjs';
import { eventually, launch, signIn, visit } from './visit.mjs';

const code = '```rust\nfn main() {\n    // Greets the guests.\n    println!("Welcome, {}!", 42);\n}\n```';
const diagram = '```mermaid\nflowchart LR\n  Guest -->|knocks| Door\n  Door --> Hearth\n```';
const whole = [
  '## The feast\n\nSome *words* and a [link](https://example.org/).',
  code,
  '| Guest | Horses | Says |\n|---|--:|---|\n| Nestor | 3 | ' +
    'a long speech '.repeat(12) +
    '|\n| Telemachus | 1 | little |',
  '- [x] wine\n- [ ] bread\n  ```sh\n  bake --quickly "all of it"\n  ```',
  'The sum is $\\sum_{k=1}^{n} k$, also \\(\\tfrac{n(n+1)}{2}\\):\n\n$$\n\\int_0^1 x^2 \\, dx = \\frac{1}{3}\n$$',
  diagram,
].join('\n\n');

let model, server, browser, remembered, context, guest;

before(async () => {
  model = await ScriptedModel.start();
  server = await Server.fresh(model.config);
  browser = await launch();
  remembered = await signIn(browser, server);
});
after(async () => {
  await browser?.close();
  await server?.end();
  await model?.end();
});

async function finished(guest) {
  await guest.log.locator('.katex-display').waitFor();
  await guest.log.locator('[data-diagram] img').waitFor();
  await eventually(async () => assert.equal(await guest.log.locator('.katex').count(), 3));
  for (const at of [0, 1]) await guest.log.locator('figure').nth(at).locator('[class^=hljs-]').first().waitFor();
}

describe('an answer', () => {
  beforeEach(async () => {
    context = await browser.newContext({ storageState: remembered });
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    guest = await visit(context, server.url);
  });
  afterEach(async () => {
    const { complaints } = guest;
    await context.close();
    assert.deepEqual(complaints, [], 'the console complained');
  });

  test('shows code, tables, tasks, formulas and diagrams', async () => {
    model.will(whole);
    await guest.ask('Show me everything');
    await finished(guest);
    const [answer] = await guest.answers.all();
    assert.deepEqual(await answer.locator('figcaption span').allInnerTexts(), ['rust', 'sh', 'mermaid']);
    assert.equal(await answer.getByRole('checkbox', { name: 'done' }).isChecked(), true);
    assert.equal(await answer.getByRole('checkbox', { name: 'to do' }).isChecked(), false);
    assert.equal(await answer.locator('.katex').count(), 3);
    assert.match(await answer.locator('[data-diagram] img').getAttribute('src'), /^blob:/);
    const link = answer.getByRole('link', { name: 'link' });
    assert.equal(await link.getAttribute('target'), '_blank');
    assert.match(await link.getAttribute('rel'), /noopener/);
  });

  test('is the same after a reload', async () => {
    model.will(whole);
    await guest.ask('Show me everything');
    await finished(guest);
    const html = () => guest.answers.first().evaluate((it) => it.innerHTML.replace(/blob:[^"]+/g, 'blob:'));
    const before = (await html()).replaceAll(/drawing\d+/g, '');
    await guest.page.reload();
    await finished(guest);
    await eventually(async () => assert.equal((await html()).replaceAll(/drawing\d+/g, ''), before));
  });

  test('gives its code away at the press of a button', async () => {
    model.will(code);
    await guest.ask('Show me code');
    const button = guest.log.getByRole('button', { name: 'Copy code' });
    await button.click();
    await guest.log.getByText('Copied').waitFor();
    const copied = await guest.page.evaluate(() => navigator.clipboard.readText());
    assert.equal(copied, 'fn main() {\n    // Greets the guests.\n    println!("Welcome, {}!", 42);\n}');
  });

  test('shows what is unfinished as it was written, and never an error', async () => {
    const { gate, open } = held();
    model.will({
      pieces: ['Look:\n\n$$\n\\frac{1', '}{2}\n$$\n\n```mermaid\nflowchart LR\n  A --', '> B\n```\n\nDone.'],
      gate,
    });
    await guest.say('Show me something slowly');
    await guest.log.locator('[data-formula=open]').waitFor();
    assert.match(await guest.log.locator('[data-formula=open]').innerText(), /\\frac\{1/);
    assert.equal(await guest.log.locator('[data-reason]').count(), 0);
    open();
    await guest.log.locator('.katex-display').waitFor();
    await guest.log.locator('[data-diagram] img').waitFor();
    await guest.idle();
    assert.equal(await guest.log.locator('[data-reason]').count(), 0);
  });

  test('never shrinks or flickers while it grows', async () => {
    await guest.page.evaluate(() => {
      const heights = /** @type {number[]} */ ([]);
      const draw = () => {
        const answer = document.querySelector('[role=log] article[aria-label=Answer]');
        if (answer) heights.push(Math.round(answer.getBoundingClientRect().height));
        requestAnimationFrame(draw);
      };
      draw();
      Object.assign(window, { heights });
    });
    const text = whole.slice(0, whole.indexOf('The sum is'));
    model.will({ pieces: text.match(/[\s\S]{1,2}/g) ?? [] });
    await guest.ask('Show me most of it');
    const heights = await guest.page.evaluate(() => /** @type {any} */ (window).heights);
    assert.deepEqual(
      heights,
      heights.toSorted((a, b) => a - b),
    );
  });

  test('keeps what stands while it grows', async () => {
    const { gate, open } = held();
    model.will({ pieces: [`${code}\n\nAnd then`, ' much', ' more', ` to say.\n\n${code}`], gate });
    await guest.say('Show me code and talk');
    const first = guest.log.locator('figure').first();
    await first.locator('.hljs-keyword').waitFor();
    await first.evaluate((it) => Object.assign(it, { mine: true, line: it.querySelector('.hljs-keyword') }));
    open();
    await guest.idle();
    await guest.log.locator('figure').nth(1).locator('.hljs-keyword').waitFor();
    assert.equal(
      await first.evaluate((it) => /** @type {any} */ (it).mine && /** @type {any} */ (it).line.isConnected),
      true,
    );
  });

  test('with a bad formula or diagram shows its source and why', async () => {
    model.will('Here $\\frac{1}$ and\n\n$$\n\\nosuchthing{x}\n$$\n\n```mermaid\nflowchart LR\n  A -->> [\n```');
    await guest.ask('Show me something broken');
    await eventually(async () => assert.equal(await guest.log.locator('[data-reason]').count(), 3));
    const reasons = await guest.log.locator('[data-reason]').allInnerTexts();
    assert.match(reasons[1], /^This formula cannot be set: .*nosuchthing/);
    assert.match(reasons[2], /^This diagram cannot be drawn: ./);
    assert.match(await guest.log.locator('figure pre').innerText(), /A -->> \[/);
  });

  test('has diagrams that keep to the colours of the page', async () => {
    model.will(diagram);
    await guest.ask('Show me the way');
    const picture = guest.log.locator('[data-diagram] img');
    await picture.waitFor();
    const light = await picture.getAttribute('src');
    await guest.page.emulateMedia({ colorScheme: 'dark' });
    await eventually(async () => assert.notEqual(await picture.getAttribute('src'), light));
    await guest.page.emulateMedia({ colorScheme: 'light' });
    await eventually(async () => assert.equal(await picture.getAttribute('src'), light));
  });

  test('needs nothing of all that when it is plain', async () => {
    const loaded = [];
    guest.page.on('request', (request) => loaded.push(request.url()));
    await guest.page.reload();
    model.will('Just words, and `code` in a line.');
    await guest.ask('Say something plain');
    assert.deepEqual(
      loaded.filter((url) => /katex|highlight|mermaid|diagram/.test(url)),
      [],
    );
  });
});

for (const { name: look, options } of looks) {
  test(`an answer with everything in ${look}`, async () => {
    context = await browser.newContext({ storageState: remembered, ...options });
    guest = await visit(context, server.url);
    model.will(whole);
    await guest.ask('Show me everything');
    await finished(guest);
    await inspect(guest, `markdown-end-${look}`);
    await guest.log.evaluate((it) => it.scrollTo(0, 0));
    await inspect(guest, `markdown-${look}`);
    await context.close();
  });
}
