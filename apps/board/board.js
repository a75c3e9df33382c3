// Columns of cards and their past. Every change makes a new board, so that going back is keeping the old one. Draws nothing.

/**
 * @typedef {{ id: string, title: string, note: string, done: boolean }} Card
 * @typedef {{ id: string, title: string, cards: Card[] }} Column
 * @typedef {{ columns: Column[], next: number }} State
 */

const UNDOABLE = 100;
const MOST_COLUMNS = 50;
const MOST_CARDS = 2000;
const MOST_CHARS = 10_000;

/** @type {State} */
export const FRESH = {
  columns: ['To do', 'Doing', 'Done'].map((title, at) => ({ id: `l${at + 1}`, title, cards: [] })),
  next: 4,
};

export class Board {
  /** @type {State} */
  state = FRESH;
  /** @type {{ id: number, words: string, before: State, after: State }[]} */
  #done = [];
  /** @type {{ id: number, words: string, before: State, after: State }[]} */
  #undone = [];
  #nextChange = 1;
  /** @type {Set<(words: string) => void>} */
  #hearers = new Set();

  /** @param {(words: string) => void} hear */
  onChange(hear) {
    this.#hearers.add(hear);
  }

  get canUndo() {
    return this.#done.length > 0;
  }
  get canRedo() {
    return this.#undone.length > 0;
  }

  /** @param {string} title @param {{ column?: string, note?: string, position?: number }} [where] */
  addCard(title, { column, note = '', position } = {}) {
    const list = column === undefined ? this.#first() : this.column(column);
    if (this.cards().length >= MOST_CARDS) throw new Error(`a board holds ${MOST_CARDS} cards at most`);
    const card = { id: `c${this.state.next}`, title: worthy(title), note: short(note), done: false };
    const cards = list.cards.toSpliced(position === undefined ? list.cards.length : position - 1, 0, card);
    this.#become(`add "${card.title}"`, { columns: this.#with({ ...list, cards }), next: this.state.next + 1 });
    return card;
  }

  /** @param {string} which @param {Partial<Pick<Card, 'title' | 'note' | 'done'>>} change */
  updateCard(which, { title, note, done }) {
    const { card, column } = this.card(which);
    const changed = {
      ...card,
      title: title === undefined ? card.title : worthy(title),
      note: short(note ?? card.note),
      done: done ?? card.done,
    };
    const cards = column.cards.map((it) => (it.id === card.id ? changed : it));
    if (JSON.stringify(changed) !== JSON.stringify(card))
      this.#become(`change "${card.title}"`, { ...this.state, columns: this.#with({ ...column, cards }) });
    return changed;
  }

  /** @param {string} which @param {{ column?: string, position?: number }} where counted from one; without it the end */
  moveCard(which, { column, position }) {
    const { card, column: from } = this.card(which);
    const to = column === undefined ? from : this.column(column);
    const without = this.state.columns.map((it) => ({ ...it, cards: it.cards.filter(({ id }) => id !== card.id) }));
    const columns = without.map((it) =>
      it.id === to.id
        ? { ...it, cards: it.cards.toSpliced(position === undefined ? it.cards.length : position - 1, 0, card) }
        : it,
    );
    if (JSON.stringify(columns) !== JSON.stringify(this.state.columns))
      this.#become(`move "${card.title}" to "${to.title}"`, { ...this.state, columns });
    return { card, column: to.title, position: columns.find((it) => it.id === to.id)?.cards.indexOf(card) ?? 0 };
  }

  /** @param {string} which */
  removeCard(which) {
    const { card, column } = this.card(which);
    const cards = column.cards.filter((it) => it.id !== card.id);
    this.#become(`remove "${card.title}"`, { ...this.state, columns: this.#with({ ...column, cards }) });
    return card;
  }

  /** @param {string} title @param {number} [position] counted from one */
  addColumn(title, position = this.state.columns.length + 1) {
    if (this.state.columns.length >= MOST_COLUMNS) throw new Error(`a board has ${MOST_COLUMNS} columns at most`);
    const column = { id: `l${this.state.next}`, title: worthy(title), cards: [] };
    const columns = this.state.columns.toSpliced(position - 1, 0, column);
    this.#become(`add the column "${column.title}"`, { columns, next: this.state.next + 1 });
    return column;
  }

  /** @param {string} which @param {string} title */
  renameColumn(which, title) {
    const column = this.column(which);
    if (worthy(title) !== column.title)
      this.#become(`rename "${column.title}"`, {
        ...this.state,
        columns: this.#with({ ...column, title: worthy(title) }),
      });
  }

  /** With everything in it. @param {string} which */
  removeColumn(which) {
    const column = this.column(which);
    this.#become(`remove the column "${column.title}"`, {
      ...this.state,
      columns: this.state.columns.filter((it) => it.id !== column.id),
    });
    return column;
  }

  /** Everything anew. @param {{ title: string, cards?: (string | { title: string, note?: string, done?: boolean })[] }[]} columns */
  replace(columns) {
    let { next } = this.state;
    const count = columns.reduce((sum, it) => sum + (it.cards?.length ?? 0), 0);
    if (columns.length > MOST_COLUMNS || count > MOST_CARDS)
      throw new Error(`a board has ${MOST_COLUMNS} columns and ${MOST_CARDS} cards at most`);
    const made = columns.map(({ title, cards = [] }) => ({
      id: `l${next++}`,
      title: worthy(title),
      cards: cards.map((card) => {
        const { title, note = '', done = false } = typeof card === 'string' ? { title: card } : card;
        return { id: `c${next++}`, title: worthy(title), note: short(note), done };
      }),
    }));
    this.#become('replace everything', { columns: made, next });
  }

  /** @param {number} [id] the change that must be the last one */
  undo(id) {
    const last = this.#done.at(-1);
    if (!last) throw new Error('there is nothing to undo');
    if (id !== undefined && id !== last.id)
      throw new Error(`change ${id} cannot be undone by itself: the last one was ${last.id}, ${last.words}`);
    this.#done.pop();
    this.#undone.push(last);
    this.state = { ...last.before, next: this.state.next };
    this.#tell(`undo: ${last.words}`);
    return last;
  }

  /** @param {number} [id] the change that must have been undone last */
  redo(id) {
    const next = this.#undone.at(-1);
    if (!next) throw new Error('there is nothing to redo');
    if (id !== undefined && id !== next.id)
      throw new Error(`change ${id} cannot be done again by itself: ${next.id} was undone last, ${next.words}`);
    this.#undone.pop();
    this.#done.push(next);
    this.state = { ...next.after, next: this.state.next };
    this.#tell(`redo: ${next.words}`);
    return next;
  }

  /** The number of the last change. */
  get change() {
    return this.#done.at(-1)?.id;
  }

  cards() {
    return this.state.columns.flatMap((column) => column.cards.map((card) => ({ ...card, column: column.title })));
  }

  /** By its id or its title. @param {string} which @returns {{ card: Card, column: Column, at: number }} */
  card(which) {
    const all = this.state.columns.flatMap((column) => column.cards.map((card, at) => ({ card, column, at })));
    const found = all.find(({ card }) => card.id === which);
    if (found) return found;
    const titled = all.filter(({ card }) => alike(card.title, which));
    if (titled.length > 1)
      throw new Error(
        `${titled.length} cards are called "${which}": name one of ${titled.map((it) => it.card.id).join(', ')}`,
      );
    if (!titled[0]) throw new Error(`there is no card "${which}"`);
    return titled[0];
  }

  /** By its id or its title. @param {string} which @returns {Column} */
  column(which) {
    const { columns } = this.state;
    const found = columns.find((it) => it.id === which) ?? columns.find((it) => alike(it.title, which));
    if (!found)
      throw new Error(
        `there is no column "${which}"; there are ${columns.map((it) => `"${it.title}"`).join(', ') || 'none'}`,
      );
    return found;
  }

  /** @param {any} kept */
  load(kept) {
    this.state = { columns: kept.columns, next: kept.next };
    this.#done = [];
    this.#undone = [];
    this.#tell('load');
  }

  #first() {
    const [first] = this.state.columns;
    if (!first) throw new Error('there is no column yet');
    return first;
  }

  /** @param {Column} changed */
  #with(changed) {
    return this.state.columns.map((it) => (it.id === changed.id ? changed : it));
  }

  /** @param {string} words @param {State} after */
  #become(words, after) {
    this.#done.push({ id: this.#nextChange++, words, before: this.state, after });
    if (this.#done.length > UNDOABLE) this.#done.shift();
    this.#undone = [];
    this.state = after;
    this.#tell(words);
  }

  /** @param {string} words */
  #tell(words) {
    for (const hear of this.#hearers) hear(words);
  }
}

/** @param {string} one @param {string} other */
const alike = (one, other) => one.toLowerCase() === String(other).trim().toLowerCase();

/** @param {string} title */
function worthy(title) {
  const trimmed = String(title).trim();
  if (!trimmed) throw new Error('a title must not be empty');
  return short(trimmed);
}

/** @param {string} text */
function short(text) {
  if (text.length > MOST_CHARS) throw new Error(`a text may have ${MOST_CHARS} characters at most`);
  return text;
}
