// The board: cards moved by agent, pointer and key.
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
  app = await Shown.open(context, house, 'board');
}
afterEach(async () => {
  const { complaints } = app;
  await context.close();
  await house.close();
  assert.deepEqual(complaints, [], 'the console complained');
});

const column = (title) => app.content.getByRole('region', { name: title, exact: true });
const card = (title) => app.content.getByRole('button', { name: title });
/** Everything, as one reads it. */
const board = async () =>
  Object.fromEntries((await app.query('board')).map(({ title, cards }) => [title, cards.map((it) => it.title)]));
const stands = (expected) => eventually(async () => assert.deepEqual(await board(), expected));
const columns = [
  {
    title: 'To do',
    cards: [
      'Buy bread',
      { title: 'Call Nestor', note: 'About the horses.\nAnd the ships, if there is time left for them.' },
      'Sweep the floor',
    ],
  },
  { title: 'Doing', cards: ['Light the fire'] },
  { title: 'Done', cards: [{ title: 'Count the jars', done: true }] },
];

describe('for an agent', () => {
  beforeEach(() => come());

  test('says what it can do', async () => {
    const { state } = await app.sound();
    assert.deepEqual(state, ['board', 'cards', 'summary']);
  });

  test('adds, changes, moves and removes cards, by title and by id', async () => {
    const { card, change } = await app.command('addCard', { title: 'Buy bread' });
    assert.deepEqual(card, { id: card.id, title: 'Buy bread', note: '', done: false });
    await app.command('addCard', { title: 'Light the fire', column: 'Doing', note: 'with oak' });
    await app.command('moveCard', { card: 'buy bread', column: 'Doing', position: 1 });
    await app.command('updateCard', { card: card.id, done: true });
    await stands({ 'To do': [], Doing: ['Buy bread', 'Light the fire'], Done: [] });
    assert.deepEqual((await app.query('summary')).columns[1], { id: 'l2', title: 'Doing', cards: 2, done: 1 });
    await assert.rejects(app.command('undo', { change }), /cannot be undone by itself/);
    for (let steps = 4; steps > 0; steps -= 1) await app.command('undo');
    await stands({ 'To do': [], Doing: [], Done: [] });
    await app.command('redo');
    await stands({ 'To do': ['Buy bread'], Doing: [], Done: [] });
    await assert.rejects(app.command('moveCard', { card: 'Nobody' }), /there is no card "Nobody"/);
    await assert.rejects(
      app.command('addCard', { title: 'x', column: 'Nowhere' }),
      /there is no column "Nowhere"; there are "To do", "Doing", "Done"/,
    );
    await assert.rejects(app.command('addCard', { title: '  ' }), /a title must not be empty/);
  });

  test('changes columns and everything at once', async () => {
    await app.command('setBoard', { columns });
    await app.command('addColumn', { title: 'Later', position: 1 });
    await app.command('renameColumn', { column: 'Doing', title: 'Now' });
    await app.command('removeColumn', { column: 'Done' });
    await stands({ Later: [], 'To do': ['Buy bread', 'Call Nestor', 'Sweep the floor'], Now: ['Light the fire'] });
  });
});

describe('by hand', () => {
  beforeEach(async () => {
    await come();
    await app.command('setBoard', { columns });
    await card('Buy bread').waitFor();
  });

  test('a card is dragged to another column', async () => {
    const [from, to] = [await card('Buy bread').boundingBox(), await card('Light the fire').boundingBox()];
    await app.page.mouse.move(from.x + 20, from.y + 10);
    await app.page.mouse.down();
    await app.page.mouse.move(to.x + 30, to.y + 6, { steps: 5 });
    await app.page.mouse.up();
    await stands({
      'To do': ['Call Nestor', 'Sweep the floor'],
      Doing: ['Buy bread', 'Light the fire'],
      Done: ['Count the jars'],
    });
    assert.equal(await app.content.getByRole('dialog').count(), 0, 'a drag is no click');
    await eventually(async () => assert.equal((await app.heard('yaar:app-interaction')).length, 1));
    const [told] = await app.heard('yaar:app-interaction');
    assert.deepEqual([told.content, told.inform], ['The person changed the board: move "Buy bread" to "Doing".', true]);
  });

  test('a drag that is given up changes nothing', async () => {
    const [from, to] = [await card('Buy bread').boundingBox(), await card('Light the fire').boundingBox()];
    const before = await board();
    await app.page.mouse.move(from.x + 20, from.y + 10);
    await app.page.mouse.down();
    await app.page.mouse.move(to.x + 30, to.y + 6, { steps: 5 });
    await app.page.keyboard.press('Escape');
    await app.page.mouse.up();
    assert.deepEqual(await board(), before);
    await column('To do').getByRole('button', { name: 'Buy bread' }).waitFor();
  });

  test('a card is moved by key, keeps the focus, and it is said where it is', async () => {
    await card('Buy bread').focus();
    await app.page.keyboard.press('Alt+ArrowDown');
    await app.page.keyboard.press('Alt+ArrowRight');
    await stands({
      'To do': ['Call Nestor', 'Sweep the floor'],
      Doing: ['Light the fire', 'Buy bread'],
      Done: ['Count the jars'],
    });
    await app.content.getByText('Buy bread is now 2 in Doing').waitFor({ state: 'attached' });
    assert.equal(await app.frame.evaluate(() => document.activeElement?.textContent), 'Buy bread');
    await app.page.keyboard.press('Control+z');
    await app.page.keyboard.press('Control+z');
    assert.deepEqual((await board())['To do'], ['Buy bread', 'Call Nestor', 'Sweep the floor']);
  });

  test('a card is added, opened, changed, ticked off and removed', async () => {
    await app.content.getByRole('textbox', { name: 'Add a card to Doing' }).fill('New one');
    await app.page.keyboard.press('Enter');
    await app.page.keyboard.type('And another');
    await app.page.keyboard.press('Enter');
    await card('New one').click();
    await app.content.getByRole('textbox', { name: 'Title', exact: true }).fill('Old one');
    await app.content.getByRole('checkbox', { name: 'Done' }).check();
    await app.content.getByRole('combobox', { name: 'Column' }).selectOption('Done');
    await app.content.getByRole('button', { name: 'Keep' }).click();
    await stands({
      'To do': ['Buy bread', 'Call Nestor', 'Sweep the floor'],
      Doing: ['Light the fire', 'And another'],
      Done: ['Count the jars', 'Old one'],
    });
    assert.equal((await app.query('cards')).find((it) => it.title === 'Old one').done, true);
    await card('Old one').click();
    await app.content.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await eventually(async () => assert.deepEqual((await board()).Done, ['Count the jars']));
  });

  test('everything is there again after a reload', async () => {
    await app.content.getByRole('textbox', { name: 'Title of the column Doing' }).fill('Now');
    await app.page.keyboard.press('Enter');
    await eventually(async () => assert.ok('Now' in (await board())));
    const before = await board();
    await eventually(() => assert.match(String(house.files.get('apps/board/windows/w1.json')), /"Now"/));
    await app.reload();
    assert.deepEqual(await board(), before);
  });
});

for (const { name, options } of looks)
  test(`it looks well in ${name}`, async () => {
    await come(options);
    await app.picture(`app-board-empty-${name}`);
    await app.command('setBoard', { columns });
    await card('Buy bread').waitFor();
    await app.look(`app-board-${name}`);
    await card('Call Nestor').click();
    await app.look(`app-board-card-${name}`);
  });
