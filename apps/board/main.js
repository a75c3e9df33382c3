// Cards in columns, moved by hand, by key and by the agent.
import { Board } from './board.js';
import { dragging } from './drag.js';
import { registration } from './protocol.js';

const { yaar } = window;
const byId = (id) => document.getElementById(id);
const remark = byId('remark');
const board = new Board();
/** Whether a person is at it, rather than the agent. */
let byHand = false;
/** The card that has the focus when everything was drawn anew. */
let focused = '';

board.onChange((words) => {
  draw();
  yaar.app.stateChanged('board', 'cards', 'summary');
  if (byHand) tell(words);
});

function guarded(act) {
  remark.textContent = '';
  byHand = true;
  try {
    return act();
  } catch (error) {
    remark.textContent = `That did not work: ${error.message}.`;
  } finally {
    byHand = false;
  }
}

function draw() {
  const active = document.activeElement;
  const typing = active?.closest?.('.adding') ? active.closest('section')?.dataset.column : '';
  focused ||= active?.dataset?.card ?? '';
  const main = byId('columns');
  const { scrollLeft } = main;
  main.replaceChildren(...board.state.columns.map(columnOf));
  main.scrollLeft = scrollLeft;
  byId('undo').disabled = !board.canUndo;
  byId('redo').disabled = !board.canRedo;
  if (focused) main.querySelector(`[data-card="${focused}"]`)?.focus();
  if (typing) main.querySelector(`[data-column="${typing}"] .adding input`)?.focus();
  focused = '';
}

function columnOf(column) {
  const section = byId('column').content.cloneNode(true).firstElementChild;
  section.dataset.column = column.id;
  section.setAttribute('aria-label', column.title);
  const [title, remove, adding] = ['.title', '.remove', '.adding'].map((it) => section.querySelector(it));
  title.value = column.title;
  title.setAttribute('aria-label', `Title of the column ${column.title}`);
  title.addEventListener(
    'change',
    () => guarded(() => board.renameColumn(column.id, title.value)) ?? (title.value = board.column(column.id).title),
  );
  title.addEventListener('keydown', (event) => event.key === 'Enter' && title.blur());
  section.querySelector('.count').textContent = column.cards.length || '';
  remove.setAttribute('aria-label', `Remove the column ${column.title}`);
  remove.title = 'Remove the column with its cards; it can be undone';
  remove.addEventListener('click', () => guarded(() => board.removeColumn(column.id)));
  section.querySelector('ol').append(...column.cards.map(cardOf));
  const input = adding.querySelector('input');
  input.setAttribute('aria-label', `Add a card to ${column.title}`);
  adding.addEventListener('submit', (event) => {
    event.preventDefault();
    if (input.value.trim()) guarded(() => board.addCard(input.value, { column: column.id }));
  });
  return section;
}

function cardOf(card) {
  const item = document.createElement('li');
  const button = document.createElement('button');
  button.type = 'button';
  button.className = card.done ? 'card done' : 'card';
  button.dataset.card = card.id;
  const name = document.createElement('span');
  name.className = 'name';
  name.textContent = card.title;
  button.append(name);
  if (card.note) {
    const note = document.createElement('small');
    note.textContent = card.note;
    button.append(note);
  }
  button.addEventListener('click', () => edit(card.id));
  button.addEventListener('keydown', (event) => moveByKey(event, card.id));
  item.append(button);
  return item;
}

function moveByKey(event, id) {
  const steps = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
  const step = Object.hasOwn(steps, event.key) ? steps[event.key] : undefined;
  if (!step) return;
  event.preventDefault();
  const { column, at } = board.card(id);
  const { columns } = board.state;
  const beside = columns[columns.indexOf(column) + step[0]];
  if (!event.altKey) {
    const next = step[0] ? beside?.cards[Math.min(at, beside.cards.length - 1)] : column.cards[at + step[1]];
    if (next) document.querySelector(`[data-card="${next.id}"]`)?.focus();
    return;
  }
  if (!beside || at + step[1] < 0 || at + step[1] >= column.cards.length + (step[0] ? 1 : 0)) return;
  const position = step[0] ? Math.min(at, beside.cards.length) : at + step[1];
  move(id, beside.id, position);
}

function move(id, column, index) {
  focused = id;
  const moved = guarded(() => board.moveCard(id, { column, position: index + 1 }));
  if (moved) byId('said').textContent = `${moved.card.title} is now ${moved.position + 1} in ${moved.column}`;
}

function edit(id) {
  const { card, column } = board.card(id);
  const dialog = byId('card');
  byId('card-title').value = card.title;
  byId('card-note').value = card.note;
  byId('card-done').checked = card.done;
  byId('card-column').replaceChildren(
    ...board.state.columns.map((it) => new Option(it.title, it.id, false, it.id === column.id)),
  );
  dialog.returnValue = 'cancel';
  dialog.onclose = () => {
    focused = id;
    if (dialog.returnValue === 'remove') guarded(() => board.removeCard(id));
    if (dialog.returnValue !== 'keep') return void (focused = '');
    const change = { title: byId('card-title').value, note: byId('card-note').value, done: byId('card-done').checked };
    guarded(() => {
      board.updateCard(id, change);
      const to = byId('card-column').value;
      if (to !== column.id) board.moveCard(id, { column: to });
    });
    focused = '';
  };
  dialog.showModal();
}

dragging(byId('columns'), move);
byId('card-title').addEventListener('keydown', (event) => {
  if (event.key !== 'Enter') return;
  // Otherwise the first button of the form would be meant, which removes the card.
  event.preventDefault();
  byId('card-keep').click();
});
byId('undo').addEventListener('click', () => guarded(() => board.undo()));
byId('redo').addEventListener('click', () => guarded(() => board.redo()));
byId('add-column').addEventListener('click', () => {
  const column = guarded(() => board.addColumn('New column'));
  document.querySelector(`[data-column="${column?.id}"] .title`)?.select();
});
document.addEventListener('keydown', (event) => {
  if ((!event.ctrlKey && !event.metaKey) || event.target.closest('input, textarea')) return;
  const key = event.key.toLowerCase();
  if (key === 'z' && !event.shiftKey && board.canUndo) guarded(() => board.undo());
  else if ((key === 'y' || (key === 'z' && event.shiftKey)) && board.canRedo) guarded(() => board.redo());
  else return;
  event.preventDefault();
});

/** What was done by hand, told in one go once the hand rests. It informs and asks for nothing. */
let told = [];
let telling;
function tell(words) {
  told.push(words);
  clearTimeout(telling);
  telling = setTimeout(() => {
    yaar.app.sendInteraction(`The person changed the board: ${told.slice(-10).join('; ')}.`, { inform: true });
    told = [];
  }, 1500);
}

yaar.app.register({
  ...registration(board),
  restore: {
    save: () => board.state,
    load: (kept) => board.load(kept),
    failed: (error) => (remark.textContent = error ? `What you do here is not kept: ${error}.` : ''),
  },
});
draw();
