// Puts something that pops up where its button is, and inside the window.
const MARGIN = 8;

/** An attachment for a popover; `button` is asked for when it opens. */
export function under(button: () => HTMLElement | undefined) {
  return (popover: HTMLElement) => {
    const put = () => {
      const anchor = button()?.getBoundingClientRect();
      if (!anchor) return;
      const { offsetWidth, offsetHeight } = popover;
      const left = Math.max(MARGIN, Math.min(anchor.left, innerWidth - offsetWidth - MARGIN));
      const below = anchor.bottom + 6;
      const fits = below + offsetHeight + MARGIN <= innerHeight;
      popover.style.left = `${left}px`;
      popover.style.top = `${fits ? below : Math.max(MARGIN, anchor.top - offsetHeight - 6)}px`;
    };
    const toggled = (event: Event) => (event as ToggleEvent).newState === 'open' && put();
    popover.addEventListener('toggle', toggled);
    const observer = new ResizeObserver(() => popover.matches(':popover-open') && put());
    observer.observe(popover);
    addEventListener('resize', put);
    return () => {
      popover.removeEventListener('toggle', toggled);
      observer.disconnect();
      removeEventListener('resize', put);
    };
  };
}
