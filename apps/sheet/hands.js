// What a person does to the sheet by key and pointer.
import { byId } from './grid.js';
import { COLUMNS, ROWS, keyOf } from './places.js';

/** @typedef {import('./desk.js').Desk} Desk @typedef {import('./grid.js').Grid} Grid */

/**
 * @param {Desk} desk @param {Grid} grid
 * @param {(act: () => unknown) => void} guarded does something and tells the person what went wrong
 */
export function hands(desk, grid, guarded) {
  const editing = editor(desk, grid, guarded);
  keys(desk, grid, editing, guarded);
  pointer(desk, grid, editing, guarded);
  clipboard(desk, grid, guarded);
  return editing;
}

/** The box in which a cell is written, over the cell itself. @param {Desk} desk @param {Grid} grid @param {(act: () => unknown) => void} guarded */
function editor(desk, grid, guarded) {
  const box = byId('editor');
  const formula = byId('formula');
  const key = () => keyOf(desk.anchor.row, desk.anchor.column);
  /** Whoever clicks elsewhere has chosen another cell before this one is left. */
  let target = { row: 0, column: 0 };

  function lay() {
    const { top, left, width } = grid.boxOf(target.row, target.column);
    box.style.top = `${top - grid.element.scrollTop}px`;
    box.style.left = `${left - grid.element.scrollLeft}px`;
    return width;
  }
  /** @param {string} text */
  function begin(text) {
    target = desk.anchor;
    grid.reveal(target);
    box.style.width = `${Math.max(lay(), 120)}px`;
    box.value = text;
    box.hidden = false;
    box.focus();
    formula.value = text;
  }
  function end() {
    box.hidden = true;
    grid.element.focus({ preventScroll: true });
  }
  /** @param {string} text */
  const keep = (text) => guarded(() => desk.change('type', new Map([[keyOf(target.row, target.column), text]])));
  /** @param {KeyboardEvent} event */
  function written(event) {
    if (event.isComposing) return;
    if (event.key === 'Escape') {
      end();
      formula.value = desk.book.textAt(key());
    } else if (event.key === 'Enter' || event.key === 'Tab') {
      event.preventDefault();
      keep(/** @type {HTMLInputElement} */ (event.target).value);
      end();
      const by = event.shiftKey ? -1 : 1;
      const { row, column } = desk.anchor;
      desk.select(event.key === 'Enter' ? { row: row + by, column } : { row, column: column + by });
      grid.reveal(desk.anchor);
    } else return;
    event.stopPropagation();
  }
  grid.element.addEventListener('scroll', lay, { passive: true });
  formula.addEventListener('focus', () => (target = desk.anchor));
  box.addEventListener('keydown', written);
  formula.addEventListener('keydown', written);
  box.addEventListener('input', () => {
    formula.value = box.value;
    box.style.width = `${Math.max(Number.parseFloat(box.style.width), Math.min(480, box.scrollWidth + 8))}px`;
  });
  box.addEventListener('blur', () => {
    if (box.hidden) return;
    keep(box.value);
    box.hidden = true;
  });
  formula.addEventListener('change', () => keep(formula.value));
  return { begin, isOpen: () => !box.hidden };
}

/** @param {Desk} desk @param {Grid} grid @param {ReturnType<typeof editor>} editing @param {(act: () => unknown) => void} guarded */
function keys(desk, grid, editing, guarded) {
  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  grid.element.addEventListener('keydown', (event) => {
    if (event.target !== grid.element || event.isComposing) return;
    const isCommand = event.ctrlKey || event.metaKey;
    const step = Object.hasOwn(steps, event.key) ? steps[/** @type {keyof typeof steps} */ (event.key)] : undefined;
    const done = step
      ? event.altKey
        ? widen(Number(step[1]))
        : move(Number(step[0]), Number(step[1]), event.shiftKey, isCommand)
      : isCommand
        ? commanded(event)
        : plain(event);
    if (done) event.preventDefault();
  });

  /** @param {number} rows @param {number} columns @param {boolean} extends_ @param {boolean} far */
  function move(rows, columns, extends_, far) {
    const from = extends_ ? desk.head : desk.anchor;
    const to = far ? edge(from, rows, columns) : { row: from.row + rows, column: from.column + columns };
    return go(to, extends_);
  }
  /** @param {{ row: number, column: number }} to @param {boolean} extends_ */
  function go(to, extends_) {
    desk.select(extends_ ? desk.anchor : to, to);
    grid.reveal(desk.head);
    return true;
  }
  /** Where what is filled ends or begins again. @param {{ row: number, column: number }} from @param {number} rows @param {number} columns */
  function edge({ row, column }, rows, columns) {
    const isFilled = (/** @type {number} */ r, /** @type {number} */ c) => desk.book.textAt(keyOf(r, c)) !== '';
    const isInside = (/** @type {number} */ r, /** @type {number} */ c) => r >= 0 && c >= 0 && r < ROWS && c < COLUMNS;
    const wanted =
      isInside(row + rows, column + columns) && isFilled(row, column) && isFilled(row + rows, column + columns);
    while (isInside(row + rows, column + columns)) {
      if (wanted && !isFilled(row + rows, column + columns)) break;
      [row, column] = [row + rows, column + columns];
      if (!wanted && isFilled(row, column)) break;
    }
    return { row, column };
  }
  /** @param {number} by */
  function widen(by) {
    const { left, right } = desk.selection;
    for (let column = left; column <= right; column += 1) desk.widen(column, desk.widthOf(column) + 8 * by);
    return by !== 0;
  }
  /** @param {KeyboardEvent} event */
  function commanded(event) {
    const key = event.key.toLowerCase();
    if (key === 'z') guarded(() => (event.shiftKey ? desk.canRedo && desk.redo() : desk.canUndo && desk.undo()));
    else if (key === 'y') guarded(() => desk.canRedo && desk.redo());
    else if (key === 'a') desk.selectRect(desk.book.extent() ?? desk.selection);
    else if (key === 'd') guarded(() => fillFrom({ bottom: desk.selection.top }));
    else if (key === 'r') guarded(() => fillFrom({ right: desk.selection.left }));
    else if (key === 'home') return go({ row: 0, column: 0 }, event.shiftKey);
    else if (key === 'end') {
      const extent = desk.book.extent();
      return go({ row: extent?.bottom ?? 0, column: extent?.right ?? 0 }, event.shiftKey);
    } else return false;
    return true;
  }
  /** @param {Partial<import('./places.js').Rect>} part */
  const fillFrom = (part) => desk.fill({ ...desk.selection, ...part }, desk.selection);
  /** @param {KeyboardEvent} event */
  function plain(event) {
    const { row, column } = event.shiftKey ? desk.head : desk.anchor;
    switch (event.key) {
      case 'Enter':
      case 'F2':
        editing.begin(desk.book.textAt(keyOf(desk.anchor.row, desk.anchor.column)));
        return true;
      case 'Delete':
      case 'Backspace':
        guarded(() => desk.clear(desk.selection));
        return true;
      case 'Home':
        return go({ row, column: 0 }, event.shiftKey);
      case 'End':
        return go({ row, column: desk.book.extent()?.right ?? 0 }, event.shiftKey);
      case 'PageDown':
        return go({ row: row + grid.rowsInView, column }, event.shiftKey);
      case 'PageUp':
        return go({ row: row - grid.rowsInView, column }, event.shiftKey);
      default:
        if ([...event.key].length !== 1) return false;
        editing.begin(event.key);
        return true;
    }
  }
}

/** @param {Desk} desk @param {Grid} grid @param {ReturnType<typeof editor>} editing @param {(act: () => unknown) => void} guarded */
function pointer(desk, grid, editing, guarded) {
  const { element } = grid;
  /** Follows a pointer until it is let go. @param {PointerEvent} down @param {(event: PointerEvent) => void} moved @param {() => void} [ended] */
  function follow(down, moved, ended = () => {}) {
    down.preventDefault();
    element.focus({ preventScroll: true });
    element.setPointerCapture(down.pointerId);
    const stop = new AbortController();
    const end = () => {
      stop.abort();
      ended();
    };
    element.addEventListener('pointermove', moved, { signal: stop.signal });
    element.addEventListener('pointerup', end, { signal: stop.signal });
    element.addEventListener('pointercancel', end, { signal: stop.signal });
  }

  element.addEventListener('pointerdown', (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.button !== 0 || target.id === 'editor' || target === element) return;
    if (target.id === 'handle') return fill(event);
    if (target.classList.contains('edge')) return resize(event, Number(target.parentElement?.dataset.column));
    if (target.dataset.column) return choose(event, { row: 0, column: Number(target.dataset.column) }, 'column');
    if (target.dataset.row) return choose(event, { row: Number(target.dataset.row), column: 0 }, 'row');
    if (target.classList.contains('corner')) return desk.selectRect(desk.book.extent() ?? desk.selection);
    // A finger scrolls; a tap chooses.
    if (event.pointerType === 'touch') return;
    const place = grid.placeAt(event);
    desk.select(event.shiftKey ? desk.anchor : place, place);
    follow(event, (move) => {
      const to = grid.placeAt(move);
      if (to.row === desk.head.row && to.column === desk.head.column) return;
      desk.select(desk.anchor, to);
      grid.reveal(to);
    });
  });
  element.addEventListener('click', (event) => {
    const isTouch = /** @type {PointerEvent} */ (event).pointerType === 'touch';
    if (isTouch && /** @type {HTMLElement} */ (event.target).classList.contains('cell'))
      desk.select(grid.placeAt(event));
  });
  element.addEventListener('dblclick', (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (target.classList.contains('edge')) {
      const column = Number(target.parentElement?.dataset.column);
      desk.widen(column, grid.fitting(column));
    } else if (target.classList.contains('cell'))
      editing.begin(desk.book.textAt(keyOf(desk.anchor.row, desk.anchor.column)));
  });

  /** @param {PointerEvent} event @param {{ row: number, column: number }} from @param {'row' | 'column'} axis */
  function choose(event, from, axis) {
    const whole = (/** @type {{ row: number, column: number }} */ place) =>
      axis === 'row' ? { row: place.row, column: COLUMNS - 1 } : { row: ROWS - 1, column: place.column };
    desk.select(event.shiftKey ? desk.anchor : from, whole(from));
    follow(event, (move) => desk.select(desk.anchor, whole(grid.placeAt(move))));
  }
  /** @param {PointerEvent} event @param {number} column */
  function resize(event, column) {
    const [from, before] = [event.clientX, desk.widthOf(column)];
    follow(event, (move) => desk.widen(column, before + move.clientX - from));
  }
  /** @param {PointerEvent} event */
  function fill(event) {
    const from = desk.selection;
    follow(
      event,
      (move) => {
        const { row, column } = grid.placeAt(move);
        const [down, right] = [
          Math.max(from.top - row, row - from.bottom),
          Math.max(from.left - column, column - from.right),
        ];
        grid.filling =
          down >= right
            ? { ...from, top: Math.min(from.top, row), bottom: Math.max(from.bottom, row) }
            : { ...from, left: Math.min(from.left, column), right: Math.max(from.right, column) };
        grid.reveal({ row, column });
      },
      () => {
        const to = grid.filling;
        grid.filling = null;
        if (to) guarded(() => desk.fill(from, to));
        if (to) desk.selectRect(to);
        grid.draw();
      },
    );
  }
}

/** @param {Desk} desk @param {Grid} grid @param {(act: () => unknown) => void} guarded */
function clipboard(desk, grid, guarded) {
  const isOurs = () => document.activeElement === grid.element;
  /** What was copied last from here, to keep its formulas. */
  let copied = { text: '', rect: desk.selection };
  const copy = (/** @type {ClipboardEvent} */ event) => {
    if (!isOurs()) return false;
    const { selection } = desk;
    const extent = desk.book.extent() ?? selection;
    const rect = {
      ...selection,
      bottom: Math.min(selection.bottom, Math.max(selection.top, extent.bottom)),
      right: Math.min(selection.right, Math.max(selection.left, extent.right)),
    };
    const text = desk.tsv(rect);
    copied = { text, rect };
    event.clipboardData?.setData('text/plain', text);
    event.preventDefault();
    return true;
  };
  document.addEventListener('copy', copy);
  document.addEventListener('cut', (event) => {
    if (copy(event)) guarded(() => desk.clear(desk.selection));
  });
  document.addEventListener('paste', (event) => {
    if (!isOurs()) return;
    event.preventDefault();
    const text = event.clipboardData?.getData('text/plain') ?? '';
    guarded(() => (text && text === copied.text ? desk.pasteCopy(copied.rect) : desk.paste(text)));
  });
}
