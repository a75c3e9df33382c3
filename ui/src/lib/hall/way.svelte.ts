// Where in the page the person is, as the address says: which session, which view of it, which applet beside it.
import { appletIn, asContext, followed, withApplet, type AppletPlace } from '../../applets/address';
import type { Frames } from '../../frames/frames.svelte';
import { address, read, type View } from '../address';
import * as api from '../api';

export interface Guide {
  /** Another session is on show, or none. */
  shows(id: string): void;
  /** The same session is looked at again. */
  stays(): void;
}

export class Way {
  /** What the page shows beside the list of sessions. */
  view = $state<View>('chat');
  /** The session on show; empty on the start page. */
  current = $state('');
  private noted = '';

  constructor(
    private frames: Frames,
    private guide: Guide,
  ) {}

  start() {
    addEventListener('popstate', () => this.arrive());
    addEventListener('click', (event) => this.followLink(event));
    this.frames.went = (place, mode) => this.mark(place, mode);
    this.arrive();
    this.welcomeApp();
  }

  /** Goes to a session, or to the start page when there is no id. */
  open(id: string) {
    if (id === this.current && this.view === 'chat') return;
    this.go(id, 'chat');
  }

  /** Goes to another part of the page; the session stays at hand. */
  visit(view: View) {
    if (view !== this.view) this.go(this.current, view);
  }

  go(id: string, view: View) {
    // An applet belongs to its session; one that was opened before there was any comes along.
    const stays = id === this.current || this.current === '' || !appletIn(location.search);
    history.pushState(null, '', address(id, view, stays ? location.search : ''));
    this.arrive();
  }

  /** Notes for the agent what the person is looking at, where that is something else than before. */
  noteApplet() {
    const { applet } = this.frames;
    if (!applet) return;
    const items = asContext({ slug: applet.id, params: applet.params ?? {} }).slice(0, 10);
    const note = JSON.stringify([this.current, items]);
    if (note === this.noted) return;
    this.noted = note;
    // Without it the agent asks the applet itself.
    api.noteApplet(this.current, items).catch(() => {});
  }

  /** Shows what the address says. */
  private arrive() {
    const { sessionId: id, view } = read(location.search);
    this.view = view;
    const isOther = id !== this.current || id === '';
    this.current = id;
    if (isOther) this.guide.shows(id);
    else this.guide.stays();
    const applet = appletIn(location.search);
    if (applet) this.frames.visit(applet);
  }

  /** Opens what `?app=` asks for, once. */
  private welcomeApp() {
    const app = new URLSearchParams(location.search).get('app') ?? '';
    if (app) history.replaceState(null, '', address(this.current, this.view));
    this.frames.start(app);
  }

  /** A link to an applet opens it here, wherever in the page the link is. */
  private followLink(event: MouseEvent) {
    const place = followed(event);
    if (!place) return;
    event.preventDefault();
    this.mark(place, 'push');
    this.arrive();
    this.frames.wanted = this.frames.layout.front;
  }

  /** Lets the address say which applet is shown. */
  private mark(place: AppletPlace | undefined, mode: 'push' | 'replace') {
    const to = withApplet(location.search, place);
    if (to === location.pathname + location.search) return;
    if (mode === 'push') history.pushState(null, '', to);
    else history.replaceState(null, '', to);
  }
}
