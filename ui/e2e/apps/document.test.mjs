// The Markdown document: written by agent and person, read, found, kept.
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
  app = await Shown.open(context, house, 'document');
}
afterEach(async () => {
  const { complaints } = app;
  await context.close();
  await house.close();
  assert.deepEqual(complaints, [], 'the console complained');
});

const area = () => app.content.getByRole('textbox', { name: 'Text' });
const reading = () => app.content.getByRole('article', { name: 'How it reads' });

const SAMPLE = `# The hall

A **megaron** is a great hall with a [hearth](https://example.com/hearth), where a host receives guests.

## Stores

| Store | Jars |
|---|---|
| Oil | 12 |
| Honey | 24 |

- [x] Sweep the floor
- [ ] Light the fire

> Guests come first.

### How to count

\`\`\`js
const jars = 12 + 24;
\`\`\`

![A plan of the hall](https://example.com/plan.png)
`;

describe('for an agent', () => {
  beforeEach(() => come());

  test('says what it can do', async () => {
    const { state, commands } = await app.sound();
    assert.deepEqual(state, ['text', 'outline', 'summary', 'selection']);
    assert.deepEqual(commands, [
      'setText',
      'append',
      'insert',
      'replace',
      'find',
      'openFile',
      'goTo',
      'setView',
      'undo',
      'redo',
    ]);
  });

  test('writes, adds, replaces and takes back', async () => {
    assert.deepEqual(await app.command('setText', { text: '# One\n\nfirst' }), {
      ok: true,
      changed: true,
      words: 2,
      lines: 3,
      change: 1,
    });
    await app.command('append', { text: 'last' });
    await app.command('insert', { text: 'before', line: 3 });
    assert.equal(await app.query('text'), '# One\n\nbefore\nfirst\n\nlast');
    const { change } = await app.command('replace', { find: 'first', with: 'second $&' });
    assert.equal(await app.query('text'), '# One\n\nbefore\nsecond $&\n\nlast');
    await assert.rejects(
      app.command('replace', { find: 'e', with: '' }),
      /the text to replace occurs 4 times: give more of what is around it, or set all/,
    );
    await assert.rejects(app.command('replace', { find: 'nowhere', with: '' }), /does not occur/);
    await app.command('undo', { change });
    await app.command('undo');
    assert.equal(await app.query('text'), '# One\n\nfirst\n\nlast');
    await app.command('redo');
    assert.deepEqual(await app.query('outline'), [{ level: 1, title: 'One', line: 1 }]);
    assert.equal(await area().inputValue(), '# One\n\nbefore\nfirst\n\nlast');
  });

  test('finds words and goes to headings', async () => {
    await app.command('setText', { text: SAMPLE });
    const { count, found } = await app.command('find', { text: 'JARS' });
    assert.deepEqual([count, found.map((it) => it.line)], [2, [7, 20]]);
    assert.deepEqual(await app.command('goTo', { heading: 'how to count' }), { ok: true, line: 17 });
    await assert.rejects(app.command('goTo', { heading: 'nothing' }), /there is no heading "nothing"/);
    assert.deepEqual(
      (await app.query('outline')).map((it) => it.title),
      ['The hall', 'Stores', 'How to count'],
    );
  });

  test('cannot make anything run or load, whatever it writes', async () => {
    const hostile =
      '<script>window.ran=1</script><img src=x onerror="window.ran=1"><a href="javascript:window.ran=1">go</a><iframe src="/"></iframe><form action="/"><button>b</button></form><p style="position:fixed">p</p><svg onload="window.ran=1"></svg>';
    // The browser says so when it reads what is taken out afterwards.
    app.foresee(/violates the following Content Security Policy/);
    await app.command('openFile', { content: hostile, name: 'evil.md' });
    await reading().getByText('go').waitFor();
    const html = await reading().innerHTML();
    assert.doesNotMatch(html, /script|onerror|javascript|iframe|form|style=|svg/i);
    assert.equal(await app.frame.evaluate(() => /** @type {any} */ (window).ran), undefined);
  });
});

describe('by hand', () => {
  beforeEach(() => come());

  test('what is written reads at once, is undone in one go, and the agent is informed', async () => {
    await area().pressSequentially('# Hall\n\nSome words');
    await reading().getByRole('heading', { name: 'Hall' }).waitFor();
    await app.content.getByText('3 words · 18 characters').waitFor();
    // A hand that rests on a slow machine is told of as well, and then once more.
    await eventually(async () => {
      const told = (await app.heard('yaar:app-interaction')).at(-1);
      assert.deepEqual([told?.content, told?.inform], ['The person changed the document, which has 3 words now.', true]);
    });
    await app.command('append', { text: 'From the agent' });
    await app.page.keyboard.press('Control+z');
    assert.equal(await area().inputValue(), '# Hall\n\nSome words');
    await app.page.keyboard.press('Control+Shift+z');
    assert.equal(await area().inputValue(), '# Hall\n\nSome words\n\nFrom the agent');
  });

  test('words are found by key and headings by the outline', async () => {
    await app.command('setText', { text: SAMPLE });
    await area().focus();
    await app.page.keyboard.press('Control+f');
    await app.content.getByRole('searchbox', { name: 'Find' }).fill('jars');
    await app.content.getByText('1 of 2').waitFor();
    await app.page.keyboard.press('Enter');
    await app.content.getByText('2 of 2').waitFor();
    assert.equal((await app.query('selection')).text, 'jars');
    await app.content.getByRole('searchbox', { name: 'Find' }).fill('nowhere');
    await app.content.getByText('Not found').waitFor();
    await app.page.keyboard.press('Escape');
    await app.content.getByRole('button', { name: 'Outline' }).click();
    await app.content.getByRole('navigation', { name: 'Outline' }).getByRole('button', { name: 'Stores' }).click();
    assert.equal((await app.query('selection')).firstLine, 5);
  });

  test('everything is there again after a reload', async () => {
    await area().fill('Kept by hand');
    await app.command('append', { text: 'Kept by the agent' });
    await app.command('setView', { view: 'read' });
    await app.reload();
    await reading().getByText('Kept by the agent').waitFor();
    assert.equal(await app.query('text'), 'Kept by hand\n\nKept by the agent');
    assert.equal(await area().isVisible(), false);
  });
});

for (const { name, options } of looks)
  test(`it looks well in ${name}`, async () => {
    await come(options);
    await app.picture(`app-document-empty-${name}`);
    await app.command('setText', { text: SAMPLE });
    await reading().getByRole('heading', { name: 'Stores' }).waitFor();
    await app.look(`app-document-${name}`);
    await app.content.getByRole('button', { name: 'Outline' }).click();
    await app.content.getByRole('radio', { name: 'Read' }).check();
    await app.content.getByRole('button', { name: 'Find' }).click();
    await app.content.getByRole('searchbox', { name: 'Find' }).fill('jars');
    await app.look(`app-document-read-${name}`);
  });
