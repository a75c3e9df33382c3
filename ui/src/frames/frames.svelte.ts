// The windows of the session on show: which there are, how they lie, and what can be opened.
import { SvelteSet } from 'svelte/reactivity';
import * as api from '../lib/api';
import { appletIn, type AppletPlace } from '../applets/address';
import type { FrameOffer, FrameTicket } from '../lib/wire';
import { Desk } from './desk.svelte';
import * as layouts from './layout';
import type { Arrangement, Layout, Pane } from './layout';
import type { Relay } from './relay';
import { Shows } from './shows.svelte';

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
  /** What the server knows of the windows of the session. */
  readonly desk: Desk;
  readonly shows = new Shows();
  /** The call whose widget covers everything, and makes room for what the person is asked. */
  large = $state('');
  /** The calls whose widgets are shown over the page, large or in a corner. */
  readonly kept = new SvelteSet<string>();
  private known = $derived(this.layout.panes.filter((it) => it.kind !== 'window' || this.desk.windows.has(it.id)));
  beside = $derived(this.known.filter((it) => it.place === 'beside'));
  /** Those within the conversation. */
  inline = $derived(this.known.filter((it) => it.place === 'chat'));
  /** Whether nothing of the conversation is to be seen. */
  covering = $derived(this.beside.length > 0 && (this.narrow ? this.shown : this.layout.maximised));

  /** The applet the person looks at, if it is one. */
  applet = $derived.by(() => {
    const applets = this.beside.filter((it) => it.kind === 'applet');
    return applets.find((it) => it.key === this.layout.front) ?? applets[0];
  });
  /** Called when the address should say something else. */
  went: (place: AppletPlace | undefined, mode: 'push' | 'replace') => void = () => {};
  /** Windows of applets that begin anew, by key. */
  private fresh = new Set<number>();

  /** @param send passes JSON to the server and says whether it could */
  constructor(
    readonly relay: Relay,
    send: (text: string) => boolean,
  ) {
    this.desk = new Desk(send, {
      changed: (keys) => this.seat(keys),
      focused: (key) => this.show(key),
    });
  }

  /** @param app what the address asks for, if anything */
  start(app: string) {
    const narrow = matchMedia(NARROW);
    this.narrow = narrow.matches;
    narrow.addEventListener('change', () => (this.narrow = narrow.matches));
    this.refresh();
    if (app) this.open(app);
  }

  /** Asks what can be opened. */
  refresh() {
    // Without an answer nothing else is offered; the connection says what is wrong.
    api.frameOffers().then((offers) => (this.offers = offers), () => {});
  }

  /** Goes to the windows of another session. */
  turn(session: string) {
    this.session = session;
    this.layout = layouts.load(session);
    this.desk.turn(session);
    this.shown = false;
  }

  /** Opens an app, or brings its window to the front if there is one. */
  open(id: string) {
    const shows = (it: Pane) => (it.kind === 'app' ? it.id : this.desk.windows.get(it.id)?.app) === id;
    const there = this.beside.find(shows);
    if (there) return this.raise(there.key);
    this.openAnother(id);
  }

  /** Opens what was chosen from the list. */
  launch({ kind, id }: FrameOffer) {
    if (kind === 'app') return this.openAnother(id);
    const place = { slug: id, params: {} };
    const there = this.find(id);
    if (there) this.raise(there.key);
    else this.added(layouts.opened(this.layout, 'applet', id, {}));
    this.went(there ? placeOf(there) : place, 'push');
  }

  /** Shows the applet that the address names: one that is there, or else in the place of the one before. */
  visit({ slug, params }: AppletPlace) {
    const there = this.find(slug);
    if (!there) this.added(this.instead(this.applet, slug, params));
    else this.change({ ...layouts.steered(this.layout, there.key, params), front: there.key });
    this.shown = true;
    // Whoever comes by the address is where they were.
    this.wanted = 0;
  }

  /** The person went elsewhere within an applet. */
  steer(key: number, params: Record<string, string>, mode: 'push' | 'replace') {
    this.change(layouts.steered(this.layout, key, params));
    const pane = this.layout.panes.find((it) => it.key === key);
    if (pane) this.went(placeOf(pane), mode);
  }

  /** An applet leads to a place in the page. @param away whether it has left already, and must be loaded anew */
  follow(key: number, search: string, away: boolean) {
    const pane = this.layout.panes.find((it) => it.key === key);
    const to = appletIn(search);
    if (!pane || pane.kind !== 'applet') return;
    if (to && !away && to.slug === pane.id) return this.steer(key, to.params, 'push');
    if (!to && !away) return;
    const { slug, params } = to ?? placeOf(pane);
    this.added(this.instead(pane, slug, params), to !== undefined);
    if (to) this.went(to, 'push');
  }

  private find(slug: string): Pane | undefined {
    return this.beside.find((it) => it.kind === 'applet' && it.id === slug);
  }

  private instead(pane: Pane | undefined, slug: string, params: Record<string, string>): Layout {
    if (!pane) return layouts.opened(this.layout, 'applet', slug, params);
    return layouts.replaced(this.layout, pane.key, 'applet', slug, params);
  }

  private added(layout: Layout, fresh = true) {
    this.change(layout);
    if (fresh) this.fresh.add(layout.front);
    this.shown = true;
    this.wanted = layout.front;
  }

  openAnother(id: string) {
    const offer = this.offers.find((it) => it.kind === 'app' && it.id === id);
    if (offer?.window && this.session) return this.openInSession(offer);
    this.change(layouts.opened(this.layout, 'app', id));
    this.shown = true;
    this.wanted = this.layout.front;
  }

  /** Lets the conversation be seen, whatever is open beside it. */
  uncover() {
    this.shown = false;
    if (this.layout.maximised) this.change({ ...this.layout, maximised: false });
  }

  /** As a window of the session, where its agent can ask it something. */
  private openInSession({ id, title }: FrameOffer) {
    const { session } = this;
    const key = this.desk.free(id);
    this.desk.expect(key, () => {
      const pane = this.beside.find((it) => it.kind === 'window' && it.id === key);
      if (pane) this.raise(pane.key);
    });
    const number = key.match(/-(\d+)$/)?.[1];
    const name = number ? `${title} ${number}` : title;
    // What is wrong with a server that does not answer is told where the connection is.
    api.openWindow(session, key.slice(key.indexOf('/') + 1), name, id).catch(() => this.desk.expect('', () => {}));
  }

  /** Brings a window to the front, and leaves the focus where it is. */
  select(key: number) {
    this.change({ ...this.layout, front: key });
    const pane = this.layout.panes.find((it) => it.key === key);
    if (pane?.kind === 'applet') this.went(placeOf(pane), 'replace');
  }

  raise(key: number) {
    this.select(key);
    this.shown = true;
    this.wanted = key;
  }

  close(key: number) {
    const pane = this.layout.panes.find((it) => it.key === key);
    this.change(layouts.closed(this.layout, key));
    if (pane?.kind === 'window') this.desk.close(pane.id);
    this.went(this.applet && placeOf(this.applet), 'replace');
    if (this.beside.length === 0) this.shown = false;
    this.wanted = this.layout.front;
  }

  /** Looks into the app in a window of the session, or no longer. */
  inspect(key: string) {
    const { inspector } = this.desk;
    if (inspector.key === key) return inspector.close();
    const pane = this.known.find((it) => it.kind === 'window' && it.id === key);
    if (!pane) return;
    if (pane.place === 'chat') this.place(pane.key, 'beside');
    this.raise(pane.key);
    inspector.open(key);
  }

  /** Whether there is an app in it that can be looked into. */
  isApp({ kind, id }: Pane): boolean {
    const window = kind === 'window' ? this.desk.windows.get(id) : undefined;
    return window?.content.renderer === 'iframe';
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
    const window = this.desk.windows.get(pane.id);
    if (pane.kind === 'window') return window?.title ?? pane.id;
    const offer = this.offers.find((it) => it.kind === pane.kind && it.id === pane.id);
    return layouts.titled(this.layout, pane, offer?.title ?? pane.id);
  }

  /** @param params what a widget is told of its surroundings */
  ticket(pane: Pane, params?: Record<string, string>): Promise<FrameTicket> {
    const fresh = this.fresh.delete(pane.key);
    return api.openFrame(pane.kind, pane.id, this.session, params ? { params } : about(pane, !fresh));
  }

  /** Whether the server takes back what it gave for this window before it was started anew. */
  async renewed(pane: Pane, { frameId, url, nonce }: FrameTicket): Promise<boolean> {
    const keep = { frameId, url, nonce };
    return api.openFrame(pane.kind, pane.id, this.session, { keep }).then(
      (ticket) => ticket.url === url,
      () => false,
    );
  }

  /** Gives each window of the session a place. Where there is room for one thing only, that stays what it is. */
  private seat(keys: string[]) {
    this.change(layouts.seated(this.layout, keys));
    if (this.beside.length === 0) this.shown = false;
  }

  /** The agent wants a window to be seen. */
  private show(id: string) {
    const pane = this.beside.find((it) => it.kind === 'window' && it.id === id);
    if (pane) this.change({ ...this.layout, front: pane.key });
  }

  private change(layout: Layout) {
    this.layout = layout;
    layouts.save(this.session, layout);
  }
}

function placeOf({ id, params }: Pane): AppletPlace {
  return { slug: id, params: params ?? {} };
}

/** What the server is told with the wish for a frame. */
function about(pane: Pane, keepState: boolean): object {
  if (pane.kind === 'applet') return { params: pane.params ?? {}, keepState };
  return {};
}
