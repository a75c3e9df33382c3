// The windows of the session on show: which there are, how they lie, and what can be opened.
import * as api from '../lib/api';
import type { FrameOffer, FrameTicket } from '../lib/wire';
import * as layouts from './layout';
import type { Arrangement, Layout, Pane } from './layout';
import type { Relay } from './relay';

/** So narrow that windows and conversation take turns. */
const NARROW = '(max-width: 64rem)';

export class Frames {
  offers = $state.raw<FrameOffer[]>([]);
  session = $state('');
  layout = $state.raw<Layout>(layouts.empty());
  narrow = $state(false);
  /** Where there is room for one thing only: whether that is the windows. */
  shown = $state(false);
  /** The window that has just been opened or chosen, and wants the focus. */
  wanted = $state(0);
  beside = $derived(layouts.beside(this.layout));
  /** Those within the conversation. */
  inline = $derived(this.layout.panes.filter((it) => it.place === 'chat'));
  /** Whether nothing of the conversation is to be seen. */
  covering = $derived(this.beside.length > 0 && (this.narrow ? this.shown : this.layout.maximised));

  constructor(readonly relay: Relay) {}

  /** @param app what the address asks for, if anything */
  start(app: string) {
    const narrow = matchMedia(NARROW);
    this.narrow = narrow.matches;
    narrow.addEventListener('change', () => (this.narrow = narrow.matches));
    // Without an answer nothing is offered; the connection says what is wrong.
    api.frameOffers().then((offers) => (this.offers = offers), () => {});
    if (app) this.open(app);
  }

  /** Goes to the windows of another session. */
  turn(session: string) {
    this.session = session;
    this.layout = layouts.load(session);
    this.shown = false;
  }

  /** Opens an app, or brings its window to the front if there is one. */
  open(id: string) {
    const there = this.beside.find((it) => it.id === id);
    if (there) return this.raise(there.key);
    this.openAnother(id);
  }

  openAnother(id: string) {
    this.change(layouts.opened(this.layout, 'app', id));
    this.shown = true;
    this.wanted = this.layout.front;
  }

  /** Brings a window to the front, and leaves the focus where it is. */
  select(key: number) {
    this.change({ ...this.layout, front: key });
  }

  raise(key: number) {
    this.select(key);
    this.shown = true;
    this.wanted = key;
  }

  close(key: number) {
    this.change(layouts.closed(this.layout, key));
    if (this.beside.length === 0) this.shown = false;
    this.wanted = this.layout.front;
  }

  /** To a place in the row, counted from 0. */
  move(key: number, to: number) {
    this.change(layouts.moved(this.layout, key, to));
  }

  place(key: number, place: Pane['place']) {
    this.change(layouts.placed(this.layout, key, place));
    if (this.beside.length === 0) this.shown = false;
    if (place === 'beside') this.shown = true;
  }

  maximise(key: number, maximised: boolean) {
    this.change({ ...this.layout, front: key, maximised });
  }

  arrange(arrangement: Arrangement) {
    this.change({ ...this.layout, arrangement, maximised: false });
  }

  share(percent: number) {
    this.change(layouts.shared(this.layout, percent));
  }

  weigh(key: number, by: number) {
    this.change(layouts.weighed(this.layout, key, by));
  }

  title(pane: Pane): string {
    const offer = this.offers.find((it) => it.kind === pane.kind && it.id === pane.id);
    return layouts.titled(this.layout, pane, offer?.title ?? pane.id);
  }

  ticket(pane: Pane): Promise<FrameTicket> {
    return api.openFrame(pane.kind, pane.id, this.session);
  }

  private change(layout: Layout) {
    this.layout = layout;
    layouts.save(this.session, layout);
  }
}
