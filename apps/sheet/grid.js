// Draws the part of the sheet that is in view, and knows what lies under a pointer.
import { Wrong } from './formula.js';
import { COLUMNS, ROWS, columnName, holds, keyOf } from './places.js';

export const ROW = 26;
const HEAD = 28;
const SIDE = 52;
/** So many rows are drawn beyond what is seen. */
const MARGIN = 6;

export class Grid {
  /** @type {Map<number, { line: HTMLElement, number: HTMLElement, cells: Map<number, HTMLElement> }>} */
  #rows = new Map();
  /** @type {Map<number, HTMLElement>} */
  #letters = new Map();
  /** Where each column begins, and where the last one ends. @type {number[]} */
  #lefts = [];
  #isDue = false;
  #heads = byId('heads');
  #outline = byId('outline');
  #space = byId('space');
  /** What is about to be filled. @type {import('./places.js').Rect | null} */
  filling = null;

  /** @param {HTMLElement} element @param {import('./desk.js').Desk} desk */
  constructor(element, desk) {
    this.element = element;
    this.desk = desk;
    element.setAttribute('aria-rowcount', String(ROWS + 1));
    element.setAttribute('aria-colcount', String(COLUMNS + 1));
    const corner = made('corner', 'columnheader');
    corner.setAttribute('aria-colindex', '1');
    corner.setAttribute('aria-label', 'Row');
    this.#heads.append(corner);
    this.measure();
    element.addEventListener('scroll', () => this.draw(), { passive: true });
    new ResizeObserver(() => this.draw()).observe(element);
  }

  /** Column widths are something else now. */
  measure() {
    this.#lefts = [SIDE];
    for (let column = 0; column < COLUMNS; column += 1)
      this.#lefts.push(/** @type {number} */ (this.#lefts[column]) + this.desk.widthOf(column));
    this.#space.style.width = `${this.#lefts[COLUMNS]}px`;
    this.#space.style.height = `${HEAD + ROWS * ROW}px`;
    this.draw();
  }

  /** Soon; many calls are one. */
  draw() {
    if (this.#isDue) return;
    this.#isDue = true;
    requestAnimationFrame(() => {
      this.#isDue = false;
      this.#drawNow();
    });
  }

  #drawNow() {
    const { scrollTop, scrollLeft, clientHeight, clientWidth } = this.element;
    const top = Math.max(0, Math.floor(scrollTop / ROW) - MARGIN);
    const bottom = Math.min(ROWS - 1, Math.ceil((scrollTop + clientHeight) / ROW) + MARGIN);
    const left = Math.max(0, this.#columnAt(scrollLeft + SIDE) - 1);
    const right = Math.min(COLUMNS - 1, this.#columnAt(scrollLeft + clientWidth) + 1);
    this.#drawHeads(left, right);
    for (const [row, { line }] of this.#rows)
      if (row < top || row > bottom) {
        line.remove();
        this.#rows.delete(row);
      }
    for (let row = top; row <= bottom; row += 1) this.#drawRow(row, left, right);
    this.#drawOutline();
    const { anchor } = this.desk;
    const isThere = this.#rows.get(anchor.row)?.cells.has(anchor.column);
    if (isThere) this.element.setAttribute('aria-activedescendant', `c${keyOf(anchor.row, anchor.column)}`);
    else this.element.removeAttribute('aria-activedescendant');
  }

  /** @param {number} left @param {number} right */
  #drawHeads(left, right) {
    const { selection } = this.desk;
    for (const [column, letter] of this.#letters)
      if (column < left || column > right) {
        letter.remove();
        this.#letters.delete(column);
      }
    for (let column = left; column <= right; column += 1) {
      let letter = this.#letters.get(column);
      if (!letter) {
        letter = made('letter', 'columnheader');
        letter.textContent = columnName(column);
        letter.dataset.column = String(column);
        letter.setAttribute('aria-colindex', String(column + 2));
        const edge = document.createElement('span');
        edge.className = 'edge';
        letter.append(edge);
        this.#heads.append(letter);
        this.#letters.set(column, letter);
      }
      letter.style.left = `${this.#lefts[column]}px`;
      letter.style.width = `${this.desk.widthOf(column)}px`;
      letter.classList.toggle('chosen', column >= selection.left && column <= selection.right);
    }
  }

  /** @param {number} row @param {number} left @param {number} right */
  #drawRow(row, left, right) {
    let drawn = this.#rows.get(row);
    if (!drawn) {
      const line = made('row', 'row');
      line.style.top = `${HEAD + row * ROW}px`;
      line.setAttribute('aria-rowindex', String(row + 2));
      const number = made('number', 'rowheader');
      number.textContent = String(row + 1);
      number.dataset.row = String(row);
      number.setAttribute('aria-colindex', '1');
      line.append(number);
      this.#space.append(line);
      drawn = { line, number, cells: new Map() };
      this.#rows.set(row, drawn);
    }
    const { selection } = this.desk;
    drawn.number.classList.toggle('chosen', row >= selection.top && row <= selection.bottom);
    for (const [column, cell] of drawn.cells)
      if (column < left || column > right) {
        cell.remove();
        drawn.cells.delete(column);
      }
    for (let column = left; column <= right; column += 1) {
      let cell = drawn.cells.get(column);
      if (!cell) {
        cell = made('cell', 'gridcell');
        cell.id = `c${keyOf(row, column)}`;
        cell.setAttribute('aria-colindex', String(column + 2));
        drawn.line.append(cell);
        drawn.cells.set(column, cell);
      }
      this.#drawCell(cell, row, column);
    }
  }

  /** @param {HTMLElement} cell @param {number} row @param {number} column */
  #drawCell(cell, row, column) {
    const { desk } = this;
    const value = desk.book.valueAt(keyOf(row, column));
    const text = desk.book.shownAt(keyOf(row, column));
    if (cell.textContent !== text) cell.textContent = text;
    const isChosen = holds(desk.selection, row, column);
    const isActive = desk.anchor.row === row && desk.anchor.column === column;
    const kind =
      value instanceof Wrong
        ? 'wrong'
        : typeof value === 'number'
          ? 'numeric'
          : typeof value === 'boolean'
            ? 'truth'
            : '';
    cell.className = `cell ${kind} ${isChosen ? 'chosen' : ''} ${isActive ? 'active' : ''}`;
    cell.setAttribute('aria-selected', String(isChosen));
    cell.title = value instanceof Wrong ? value.why : '';
    cell.style.left = `${this.#lefts[column]}px`;
    cell.style.width = `${desk.widthOf(column)}px`;
  }

  #drawOutline() {
    const { top, left, bottom, right } = this.filling ?? this.desk.selection;
    const { style } = this.#outline;
    this.#outline.classList.toggle('filling', this.filling !== null);
    style.top = `${HEAD + top * ROW - 1}px`;
    style.left = `${Number(this.#lefts[left]) - 1}px`;
    style.width = `${Number(this.#lefts[right + 1]) - Number(this.#lefts[left]) + 1}px`;
    style.height = `${(bottom - top + 1) * ROW + 1}px`;
  }

  /** Where a cell lies within the scrolled content. @param {number} row @param {number} column */
  boxOf(row, column) {
    return { top: HEAD + row * ROW, left: Number(this.#lefts[column]), width: this.desk.widthOf(column) };
  }

  /** Scrolls as little as needed to show a cell. @param {{ row: number, column: number }} place */
  reveal({ row, column }) {
    const { element } = this;
    const { top, left, width } = this.boxOf(row, column);
    if (top - HEAD < element.scrollTop) element.scrollTop = top - HEAD;
    else if (top + ROW > element.scrollTop + element.clientHeight) element.scrollTop = top + ROW - element.clientHeight;
    if (left - SIDE < element.scrollLeft) element.scrollLeft = left - SIDE;
    else if (left + width > element.scrollLeft + element.clientWidth)
      element.scrollLeft = Math.min(left - SIDE, left + width - element.clientWidth);
    this.draw();
  }

  /** The place under a pointer, wherever it is. @param {{ clientX: number, clientY: number }} pointer */
  placeAt({ clientX, clientY }) {
    const box = this.element.getBoundingClientRect();
    const x = Math.max(SIDE, clientX - box.left) + this.element.scrollLeft;
    const y = Math.max(HEAD, clientY - box.top) + this.element.scrollTop;
    return { row: Math.min(ROWS - 1, Math.floor((y - HEAD) / ROW)), column: this.#columnAt(x) };
  }

  get rowsInView() {
    return Math.max(1, Math.floor((this.element.clientHeight - HEAD) / ROW) - 1);
  }

  /** @param {number} x */
  #columnAt(x) {
    let [low, high] = [0, COLUMNS - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (Number(this.#lefts[middle]) <= x) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The width that shows all that is drawn of a column. @param {number} column */
  fitting(column) {
    const cells = [...this.#rows.values()].map(({ cells }) => cells.get(column));
    for (const cell of cells) if (cell) cell.style.width = 'auto';
    const width = Math.max(40, ...cells.map((cell) => (cell ? cell.scrollWidth + 2 : 0)));
    this.draw();
    return width;
  }
}

/** @param {string} name @param {string} role */
function made(name, role) {
  const element = document.createElement('div');
  element.className = name;
  element.setAttribute('role', role);
  return element;
}

/** @param {string} id @returns {any} */
export function byId(id) {
  return document.getElementById(id);
}
