// A spreadsheet: puts desk, grid and hands together, and tells the agent what the person does.
import { Desk, named, touchedBy } from './desk.js';
import { Grid, byId } from './grid.js';
import { hands } from './hands.js';
import { keyOf, rectName } from './places.js';
import { registration } from './protocol.js';
import { numbers } from './reading.js';
import { shown } from './values.js';

const { yaar } = window;
const desk = new Desk();
const grid = new Grid(byId('grid'), desk);
const [formula, place, remark] = [byId('formula'), byId('place'), byId('remark')];
/** Whether a person is at it, rather than the agent. */
let byHand = false;
const editing = hands(desk, grid, guarded);

/** @param {() => unknown} act */
async function guarded(act) {
  remark.textContent = '';
  byHand = true;
  try {
    const going = act();
    if (!(going instanceof Promise)) byHand = false;
    await going;
  } catch (error) {
    remark.textContent = `That did not work: ${error instanceof Error ? error.message : error}.`;
  } finally {
    byHand = false;
  }
}

desk.onChange((what, change) => {
  if (what === 'widths') grid.measure();
  if (what === 'shown') grid.reveal(desk.anchor);
  if (what === 'cells') yaar.app.stateChanged('cells', 'values', 'summary', 'selection');
  if (what === 'selection') yaar.app.stateChanged('selection');
  if (what === 'cells' && change && byHand) tell(change);
  show();
});

function show() {
  grid.draw();
  const { anchor, selection } = desk;
  if (document.activeElement !== formula && !editing?.isOpen())
    formula.value = desk.book.textAt(keyOf(anchor.row, anchor.column));
  if (document.activeElement !== place) place.value = rectName(selection);
  byId('undo').disabled = !desk.canUndo;
  byId('redo').disabled = !desk.canRedo;
  const isOne = selection.top === selection.bottom && selection.left === selection.right;
  const { count, sum, average } = isOne ? { count: 0, sum: 0, average: 0 } : numbers(desk, selection);
  byId('numbers').textContent =
    count > 0
      ? `Sum ${shown(sum)} · Average ${shown(Number((average ?? 0).toFixed(4)))} · Count ${count}`
      : desk.fileName || (desk.book.size ? '' : 'Empty. Type anywhere, or open a CSV or Excel file.');
}

/** What was done by hand, told in one go once the hand rests. It informs and asks for nothing. */
let told = [];
let telling;
function tell(change) {
  told.push(change);
  clearTimeout(telling);
  telling = setTimeout(() => {
    const last = told.at(-1);
    const places = [...new Set(told.map((it) => rectName(touchedBy(it))))].slice(0, 10);
    told = [];
    yaar.app.sendInteraction(`The person changed ${places.join(', ')} in the sheet (${last.words}).`, { inform: true });
  }, 1500);
}

byId('undo').addEventListener('click', () => guarded(() => desk.undo()));
byId('redo').addEventListener('click', () => guarded(() => desk.redo()));
byId('ascending').addEventListener('click', () => guarded(() => sort(false)));
byId('descending').addEventListener('click', () => guarded(() => sort(true)));
byId('rows-in').addEventListener('click', () => guarded(() => desk.splice('row', desk.selection.top, 1)));
byId('rows-out').addEventListener('click', () =>
  guarded(() => desk.splice('row', desk.selection.top, desk.selection.top - desk.selection.bottom - 1)),
);
byId('sum').addEventListener('click', () => guarded(sumAbove));
byId('open').addEventListener('click', () => byId('file').click());
byId('export').addEventListener('click', () => guarded(save));
byId('file').addEventListener('change', () => guarded(open));
place.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter') return;
  guarded(() => {
    const rect = named(desk, place.value);
    if (rect) desk.show(rect);
    grid.element.focus();
  });
});

/** One cell stands for all around it; its first row stays if it reads like a heading. */
function sort(descending) {
  const { selection, anchor } = desk;
  const isOne = selection.top === selection.bottom;
  const rect = isOne ? desk.book.extent() : named(desk, rectName(selection));
  if (!rect) return;
  const isText = (row) => typeof desk.book.valueAt(keyOf(row, anchor.column)) === 'string';
  const isHeaded = isOne && isText(rect.top) && !isText(rect.top + 1);
  desk.sort({ ...rect, top: rect.top + (isHeaded ? 1 : 0) }, [{ column: anchor.column, descending }]);
}

function sumAbove() {
  const { row, column } = desk.anchor;
  const isNumber = (at) => typeof desk.book.valueAt(keyOf(at, column)) === 'number';
  let from = row;
  while (from > 0 && isNumber(from - 1)) from -= 1;
  if (from === row) throw new Error('there are no numbers above this cell');
  const range = rectName({ top: from, left: column, bottom: row - 1, right: column });
  desk.change('sum', new Map([[keyOf(row, column), `=SUM(${range})`]]));
}

async function open() {
  const [file] = byId('file').files;
  if (!file) return;
  const isPacked = /\.xls[xm]$/i.test(file.name);
  await desk.open(isPacked ? new Uint8Array(await file.arrayBuffer()) : await file.text(), file.name);
  byId('file').value = '';
}

function save() {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([desk.csv(desk.book.extent())], { type: 'text/csv' }));
  link.download = desk.fileName.replace(/\.\w+$/, '') + '.csv';
  if (link.download === '.csv') link.download = 'sheet.csv';
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

yaar.app.register({
  ...registration(desk),
  restore: {
    save: () => desk.save(),
    load: (kept) => desk.load(kept),
    failed: (error) => (remark.textContent = error ? `What you do here is not kept: ${error}.` : ''),
  },
});
show();
