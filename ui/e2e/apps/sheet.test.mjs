// The spreadsheet: what an agent does by the protocol, what a person does by hand, and what stays.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { looks } from '../inspect.mjs';
import { launch } from '../visit.mjs';
import { cellOf, eventually, House, Shown } from './harness.mjs';
import { workbook, zip } from './workbook.mjs';

let house, browser, context, app;

before(async () => {
  browser = await launch();
});
after(() => browser?.close());

async function come(options = {}) {
  house = await House.open();
  context = await browser.newContext({ viewport: { width: 1000, height: 700 }, ...options });
  app = await Shown.open(context, house, 'sheet');
}
afterEach(async () => {
  const { complaints } = app;
  await context.close();
  await house.close();
  assert.deepEqual(complaints, [], 'the console complained');
});

const cell = (name) => cellOf(app.content, name);
const shows = (name, text) => eventually(async () => assert.equal(await cell(name).innerText(), text));
const grid = () => app.content.getByRole('grid');
/** Types into the cell that is chosen. */
const type = async (...texts) => {
  await grid().focus();
  for (const text of texts) await app.page.keyboard.type(`${text}\n`);
};

describe('for an agent', () => {
  beforeEach(() => come());

  test('says what it can do', async () => {
    const { state, commands } = await app.sound();
    assert.deepEqual(state, ['cells', 'values', 'selection', 'summary']);
    for (const name of ['setCells', 'clear', 'insertRows', 'sort', 'openFile', 'exportCsv', 'undo'])
      assert.ok(commands.includes(name));
    const { setCells, readCells, select } = (await app.manifest()).commands;
    assert.deepEqual([setCells.replay, readCells.replay, select.replay], ['never', 'never', 'last']);
    assert.equal(setCells.inverse, 'undo');
  });

  test('puts 100 in A1 and tells the sum', async () => {
    const set = await app.command('setCells', { cells: { A1: '100', A2: 20, A3: '=SUM(A1:A2)' } });
    assert.deepEqual(set, { ok: true, changed: 3, in: 'A1:A3', values: { A1: 100, A2: 20, A3: 120 }, change: 1 });
    const again = await app.command('setCells', { cells: { A1: '1' } });
    assert.deepEqual(again.recalculated, { A3: 21 });
    assert.deepEqual(await app.command('evaluate', { formula: '=SUM(A1:A2)*2' }), { value: 42 });
    await shows('A3', '21');
    assert.deepEqual((await app.query('summary')).byColumn, { A: { first: 1, numbers: 3, sum: 42, min: 1, max: 21 } });
    assert.deepEqual(await app.query('values'), { range: 'A1:A3', rows: [[1], [20], [21]] });
    assert.deepEqual((await app.query('cells')).cells.A3, { input: '=SUM(A1:A2)', value: 21 });
  });

  test('is told what is wrong, and nothing is changed by it', async () => {
    await assert.rejects(
      app.command('setCells', { cells: { A1: '1', AAAA1: '2' } }),
      /"AAAA1" is no cell of this sheet/,
    );
    assert.equal((await app.query('summary')).filled, 0);
    const { errors } = await app.command('setCells', { cells: { A1: '=B1', B1: '=A1', C1: '=1/0', D1: '=NOPE(1)' } });
    assert.deepEqual(errors, {
      A1: '#CYCLE!: the formula depends on itself',
      B1: '#CYCLE!: the formula depends on itself',
      C1: '#DIV/0!: division by zero',
      D1: '#NAME?: there is no function NOPE',
    });
    await assert.rejects(app.command('sort', { by: 'nothing' }), /"nothing" is no column/);
    await assert.rejects(app.command('readCells', { range: 'x' }), /"x" is no range/);
    await assert.rejects(app.command('toString'), /Unknown command: toString/);
  });

  test('changes rows, sorts, fills and takes each of it back', async () => {
    const values = async () => (await app.query('values')).rows;
    await app.command('setCells', {
      cells: { A1: 'n', A2: '3', A3: '1', A4: '2', B2: '=A2*10', B3: '=A3*10', B4: '=A4*10' },
    });
    const start = await values();
    const { change } = await app.command('sort', { by: 'A', header: true });
    assert.deepEqual(await values(), [
      ['n', null],
      [1, 10],
      [2, 20],
      [3, 30],
    ]);
    await assert.rejects(app.command('undo', { change: change - 1 }), /cannot be undone by itself/);
    await app.command('undo', { change });
    assert.deepEqual(await values(), start);
    await app.command('insertRows', { at: 2, count: 2 });
    assert.deepEqual((await app.query('cells')).cells.B4, { input: '=A4*10', value: 30 });
    await app.command('undo');
    await app.command('fill', { from: 'B4', to: 'B4:B6' });
    assert.equal((await app.query('cells')).cells.B6.input, '=A6*10');
    await app.command('undo');
    await app.command('clear');
    assert.equal((await app.query('summary')).range, null);
    await app.command('undo');
    assert.deepEqual(await values(), start);
    await app.command('redo');
    assert.equal((await app.query('summary')).filled, 0);
  });

  test('opens and gives tables with quotes, newlines and other separators', async () => {
    const opened = await app.command('openFile', {
      content: 'name;n\r\n"a;""b""";1\r\n"two\nlines";2\r\n',
      name: 'x.csv',
    });
    assert.deepEqual([opened.rows, opened.columns, opened.file], [3, 2, 'x.csv']);
    assert.equal(await app.command('exportCsv'), 'name,n\r\n"a;""b""",1\r\n"two\nlines",2\r\n');
    assert.equal(await app.command('exportCsv', { range: 'B:B', separator: ';' }), 'n\r\n1\r\n2\r\n');
  });

  test('opens an Excel workbook', async () => {
    const content = Buffer.from(zip(workbook)).toString('base64');
    const opened = await app.command('openFile', { content, encoding: 'base64' });
    assert.equal(opened.left, '1 cells lay beyond column ZZ or row 200000');
    assert.deepEqual((await app.query('values')).rows, [
      ['Oil', 12.5, null, null, null, null],
      [null, null, null, null, null, null],
      ['Honey <', 25, true, '=1+1', null, '#DIV/0!'],
    ]);
    await assert.rejects(app.command('openFile', { content: 'UEsDBAAA', encoding: 'base64' }), /no zip archive/);
  });

  test('carries a hundred thousand rows, drawn a screen at a time', async () => {
    const rows = Array.from({ length: 100_000 }, (_, row) => `${row + 1},item ${row + 1},${row % 7}`);
    const { rows: count } = await app.command('openFile', { content: rows.join('\n') });
    assert.equal(count, 100_000);
    const { recalculated } = await app.command('setCells', { cells: { E1: '=SUM(A:A)' } });
    assert.equal(recalculated, undefined);
    assert.deepEqual(await app.command('evaluate', { formula: '=E1' }), { value: 5_000_050_000 });
    await app.command('select', { range: 'B100000' });
    await shows('B100000', 'item 100000');
    assert.ok((await app.content.getByRole('gridcell').count()) < 2000);
    assert.match((await app.query('values')).left, /99800 more rows/);
  });
});

describe('by hand', () => {
  beforeEach(() => come());

  test('cells are written, filled, copied and undone by key, and the agent is informed', async () => {
    await type('10', '20', '=A1+A2');
    await shows('A3', '30');
    await cell('A3').click();
    await app.page.keyboard.press('Shift+ArrowRight');
    await app.page.keyboard.press('Control+r');
    await shows('B3', '0');
    await app.page.keyboard.press('Control+z');
    await shows('B3', '');
    await app.page.keyboard.press('Control+y');
    await shows('B3', '0');
    await app.page.keyboard.press('Delete');
    await shows('A3', '');
    assert.deepEqual((await app.query('selection')).range, 'A3:B3');
    await eventually(async () => assert.ok((await app.heard('yaar:app-interaction')).length > 0));
    const told = await app.heard('yaar:app-interaction');
    assert.ok(told.every((it) => it.inform === true && it.content.startsWith('The person changed ')));
    assert.ok((await app.heard('yaar:app-state-changed')).some((it) => it.stateKeys.includes('cells')));
  });

  test('a cell that is being written is kept when another is clicked', async () => {
    await grid().focus();
    await app.page.keyboard.type('half');
    await cell('C3').click();
    await shows('A1', 'half');
    await shows('C3', '');
    await app.content.getByRole('textbox', { name: 'Content of the cell' }).fill('from the bar');
    await cell('A2').click();
    await shows('C3', 'from the bar');
    await shows('A2', '');
  });

  test('the fill handle goes on with a series', async () => {
    await type('2', '4');
    await cell('A1').click();
    await app.page.keyboard.press('Shift+ArrowDown');
    const box = () => app.content.locator('#handle').boundingBox();
    const [second, to] = [await cell('A2').boundingBox(), await cell('A5').boundingBox()];
    // What was chosen is drawn a moment later.
    await eventually(async () => assert.ok((await box()).y > second.y));
    const handle = await box();
    await app.page.mouse.move(handle.x + 4, handle.y + 4);
    await app.page.mouse.down();
    await app.page.mouse.move(to.x + 10, to.y + 10, { steps: 4 });
    await app.page.mouse.up();
    await shows('A5', '10');
    await app.content.getByText('Sum 30').waitFor();
  });

  test('cells are copied as a table, with their formulas when pasted here', async () => {
    await type('1', '=A1+1');
    await cell('A1').click();
    await app.page.keyboard.press('Shift+ArrowDown');
    await app.page.keyboard.press('Control+c');
    await cell('C1').click();
    await app.page.keyboard.press('Control+v');
    await shows('C2', '2');
    assert.equal((await app.query('cells')).cells.C2.input, '=C1+1');
  });

  test('a range is gone to by name, a column made wider, and the rest is for keys too', async () => {
    const place = app.content.getByRole('textbox', { name: 'Cell or range' });
    await place.fill('AB150');
    await place.press('Enter');
    assert.equal((await app.query('selection')).active, 'AB150');
    await app.page.keyboard.press('Control+Home');
    await app.page.keyboard.press('Alt+ArrowRight');
    await eventually(async () => assert.equal((await cell('A1').boundingBox()).width, 104));
    await place.fill('nowhere');
    await place.press('Enter');
    await app.content.getByRole('alert').getByText('"nowhere" is no range').waitFor();
  });

  test('everything is there again after a reload, and another window has its own', async () => {
    await type('kept');
    await app.command('setCells', { cells: { B1: '=LEN(A1)' } });
    await app.reload();
    await shows('A1', 'kept');
    await shows('B1', '4');
    const other = await Shown.open(context, house, 'sheet', 'w2');
    assert.equal((await other.query('summary')).filled, 0);
    await other.page.close();
  });

  test('what cannot be kept is owned up to, and commands are left to be repeated', async () => {
    await context.close();
    house.failing = 507;
    context = await browser.newContext();
    app = await Shown.open(context, house, 'sheet');
    app.foresee(/507/);
    await app.content.getByRole('alert').getByText('What you do here is not kept').waitFor();
    assert.equal((await app.manifest()).commands.setCells.replay, undefined);
  });
});

for (const { name, options } of looks)
  test(`it looks well in ${name}`, async () => {
    await come(options);
    await app.picture(`app-sheet-empty-${name}`);
    const cells = {
      A1: 'Stores',
      B1: 'Jars',
      C1: 'Price',
      D1: 'Worth',
      A7: 'In all',
      B7: '=SUM(B2:B6)',
      D7: '=SUM(D2:D6)',
      D8: '=D7/0',
      C8: 'TRUE',
    };
    ['Oil', 'Honey', 'Wine', 'Figs', 'Barley'].forEach((store, at) =>
      Object.assign(cells, {
        [`A${at + 2}`]: store,
        [`B${at + 2}`]: 12 * (at + 1),
        [`C${at + 2}`]: 2.5 + at,
        [`D${at + 2}`]: `=B${at + 2}*C${at + 2}`,
      }),
    );
    await app.command('setCells', { cells });
    await app.command('select', { range: 'B2:D4' });
    await shows('D2', '30');
    await grid().focus();
    await app.look(`app-sheet-${name}`);
    await app.page.keyboard.type('=SUM(');
    await app.picture(`app-sheet-writing-${name}`);
  });
