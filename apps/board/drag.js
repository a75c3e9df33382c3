// Moving cards with a pointer: a ghost follows it, and the card lies already where it would be dropped.

/** So far a pointer must go before it is no longer a click. */
const FAR = 6;
/** So near an edge everything scrolls. */
const NEAR = 40;
/** A finger that rests so long lifts a card; one that moves earlier scrolls, in milliseconds. */
const REST = 350;

/**
 * @param {HTMLElement} root
 * @param {(card: string, column: string, index: number) => void} drop
 */
export function dragging(root, drop) {
  root.addEventListener('pointerdown', (down) => {
    const card = down.target.closest('.card');
    if (!card || down.button !== 0) return;
    const isTouch = down.pointerType === 'touch';
    const item = card.parentElement;
    const home = { list: item.parentElement, next: item.nextSibling };
    const stop = new AbortController();
    const { signal } = stop;
    let ghost = null;
    const resting = isTouch && setTimeout(lift, REST);

    function lift() {
      const box = card.getBoundingClientRect();
      ghost = card.cloneNode(true);
      ghost.classList.add('ghost');
      ghost.removeAttribute('data-card');
      ghost.setAttribute('aria-hidden', 'true');
      ghost.tabIndex = -1;
      ghost.style.width = `${box.width}px`;
      ghost.style.left = `${box.left}px`;
      ghost.style.top = `${box.top}px`;
      document.body.append(ghost);
      item.classList.add('dragged');
    }
    function move(event) {
      const [x, y] = [event.clientX - down.clientX, event.clientY - down.clientY];
      if (!ghost) {
        if (Math.hypot(x, y) < FAR) return;
        if (isTouch) return end();
        lift();
      }
      ghost.style.translate = `${x}px ${y}px`;
      scroll(event);
      place(event);
    }
    function scroll({ clientX }) {
      const { left, right } = root.getBoundingClientRect();
      if (clientX < left + NEAR) root.scrollLeft -= 12;
      if (clientX > right - NEAR) root.scrollLeft += 12;
    }
    function place({ clientX, clientY }) {
      const section = document.elementFromPoint(clientX, clientY)?.closest('section');
      const list = section?.querySelector('ol');
      if (!list) return;
      const others = [...list.children].filter((it) => it !== item);
      const next = others.find((it) => {
        const { top, height } = it.getBoundingClientRect();
        return clientY < top + height / 2;
      });
      if (item.parentElement !== list || item.nextElementSibling !== (next ?? null))
        list.insertBefore(item, next ?? null);
    }
    function end() {
      clearTimeout(resting);
      stop.abort();
      ghost?.remove();
      item.classList.remove('dragged');
    }
    function cancel() {
      if (ghost) home.list.insertBefore(item, home.next);
      end();
    }
    function release() {
      const wasDragged = ghost !== null;
      end();
      if (!wasDragged) return;
      // What follows a drag is no click.
      card.addEventListener('click', (event) => event.stopImmediatePropagation(), { capture: true, once: true });
      const index = [...item.parentElement.children].indexOf(item);
      drop(card.dataset.card, item.closest('section').dataset.column, index);
    }
    window.addEventListener('pointermove', move, { signal });
    window.addEventListener('pointerup', release, { signal });
    window.addEventListener('pointercancel', cancel, { signal });
    window.addEventListener('keydown', (event) => event.key === 'Escape' && cancel(), { signal });
    // A card that was lifted must not scroll the board under it.
    window.addEventListener('touchmove', (event) => ghost && event.preventDefault(), { signal, passive: false });
  });
}
