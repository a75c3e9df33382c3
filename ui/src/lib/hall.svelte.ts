// The page's state: which session is shown and what is known of it. It relays between server and components, and decides nothing.
import { address, read, type View } from './address';
import * as api from './api';
import { appletIn, asContext, followed, withApplet, type AppletPlace } from '../applets/address';
import { Frames } from '../frames/frames.svelte';
import { Relay } from '../frames/relay';
import { Connection, type Link } from './connection';
import { resumed, settled, type Said } from './conversation';
import { explain } from './explain';
import { numbered } from './history';
import { Inbox } from './inbox.svelte';
import { Notifier } from './notify.svelte';
import { Roster } from './roster.svelte';
import type { Wish } from './rows';
import type { Thread } from './thread.svelte';
import { Threads } from './threads';
import { arranged, type Told } from './told';
import type { Completed, EventFrame, GlobalEvent, Mode, StateAnswer } from './wire';
import { words } from './words';


export class Hall {
  roster = new Roster((error) => this.explain(error));
  notifier = new Notifier((sessionId) => this.open(sessionId));
  inbox = new Inbox({
    rang: (approval) => this.notifier.tell(approval),
    refused: (error) => this.explain(error),
  });
  private relay = new Relay((text) => this.connection.pass(text));
  /** The windows beside the conversation. */
  frames = new Frames(this.relay, (text) => this.connection.pass(text));
  link = $state<Link>('connecting');
  /** Counts the news of schedules: whoever shows them looks again. */
  scheduled = $state(0);
  /** Counts changes of apps on the disk. */
  appsChanged = $state(0);
  /** When the link is tried again, while it is down. */
  retryAt = $state(0);
  /** The browser says that there is no network; a server on this machine does not mind. */
  offline = $state(!navigator.onLine);
  /** What the page shows beside the list of sessions. */
  view = $state<View>('chat');
  signedOut = $state(false);
  /** Why the last wish could not be granted. */
  trouble = $state('');
  /** The session on show; empty on the start page. */
  current = $state('');
  /** Messages that wait on the server but were sent from another page. */
  elsewhere = $state(0);
  /** What the session has used and how full its context is, once the server has said. */
  standing = $state.raw<StateAnswer>();
  session = $derived(this.roster.find(this.current));
  busy = $derived(this.session?.isBusy ?? false);

  /** Why nothing can be sent now, if nothing can. */
  hindrance = $derived.by(() => {
    if (this.signedOut) return words.connection.isSignedOut;
    if (this.link !== 'waiting') return '';
    return this.offline ? words.connection.isOffline : words.connection.isAway;
  });

  private threads = new Threads({
    explain: (error) => this.explain(error),
    created: (session) => this.roster.created(session),
    made: (thread) => thread === this.shown && this.go(thread.id, this.view),
  });
  /** What is known of the session on show, or of the one that is about to be made. */
  shown = $state.raw(this.threads.of(''));
  conversation = $derived(this.shown.conversation);
  private incoming: EventFrame[] = [];
  private flushing = false;
  private observing: ReturnType<typeof setTimeout> | undefined;
  private leaving = new Set<string>();
  private looks = 0;
  private noted = '';
  private connection = new Connection({
    link: (link, wait = 0) => this.linked(link, wait),
    following: () => this.again(),
    event: (frame) => this.heard(frame),
    global: (event) => this.news(event),
    frame: (word) => this.relay.heard(word),
    desktop: (frame) => this.frames.desk.heard(frame),
  });

  start() {
    addEventListener('popstate', () => this.arrive());
    addEventListener('click', (event) => this.followLink(event));
    this.frames.went = (place, mode) => this.mark(place, mode);
    addEventListener('online', () => this.online(true));
    addEventListener('offline', () => this.online(false));
    addEventListener('visibilitychange', () => {
      if (document.hidden) return;
      this.connection.wake();
      this.observeIfNew();
    });
    this.arrive();
    this.welcomeApp();
    this.connection.start();
    this.threads.start();
    void this.refresh();
    void this.inbox.refresh();
  }

  /** Opens what `?app=` asks for, once. */
  private welcomeApp() {
    const app = new URLSearchParams(location.search).get('app') ?? '';
    if (app) history.replaceState(null, '', address(this.current, this.view));
    this.frames.start(app);
  }

  /** Does not wait any longer for the server to come back. */
  tryNow() {
    this.connection.wake();
    this.threads.patience.wake();
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

  /** Notes for the agent what the person is looking at, where that is something else than before. */
  private noteApplet(id: string) {
    const { applet } = this.frames;
    if (!applet) return;
    const items = asContext({ slug: applet.id, params: applet.params ?? {} }).slice(0, 10);
    const note = JSON.stringify([id, items]);
    if (note === this.noted) return;
    this.noted = note;
    // Without it the agent asks the applet itself.
    api.noteApplet(id, items).catch(() => {});
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

  /** Sends what was written; on the start page this is what makes the session. */
  send(text: string, model: string, images: string[] = []) {
    this.threads.write(this.shown, { text, images }, model);
  }

  /** A message that was refused was not said, so trying again is a new message. */
  retry(key: string, text: string, model: string) {
    const images = this.conversation.waiting.find((it) => it.key === key)?.images;
    this.discard(key);
    this.send(text, model, images);
  }

  /** Says something in place of an earlier message; what followed that is left out of the conversation from then on. */
  async resay(said: Said & { at: number }, text: string): Promise<boolean> {
    const id = this.current;
    const images = Promise.all(said.pictures.map(({ url }) => api.picture(url)));
    const again = images.then((images) => api.say(id, { prompt: text, images, replaces: said.at }, api.newKey()));
    return this.wish(again);
  }

  /** Takes back a message that waits on the server. */
  async takeBack(key: string) {
    if (await this.wish(api.unqueue(this.current, key))) this.discard(key);
    // It may have been taken up, or taken back elsewhere.
    await this.look();
  }

  discard(key: string) {
    this.threads.discard(key);
  }

  /** Gets a part of the past that the reader is about to see. */
  async fetch(wish: Wish) {
    await this.shown
      .fetch(wish, (attempts) => this.threads.patience.pause(attempts))
      .catch((error: unknown) => this.explain(error));
  }

  async stop() {
    await this.wish(api.cancel(this.current));
  }

  async rename(id: string, name: string) {
    this.roster.renamed(id, name);
    await this.wish(api.rename(id, name));
  }

  /** From the next message on, this model answers. */
  async choose(id: string, model: string) {
    this.roster.chose(id, model);
    if (!(await this.wish(api.choose(id, model)))) await this.refresh();
  }

  /** From the next call of a tool on, this is what needs leave. */
  async permit(id: string, mode: Mode) {
    this.roster.moded(id, mode);
    await this.wish(api.setMode(id, mode));
    await this.refresh();
  }

  async sumUp(id: string) {
    let started = true;
    const asked = api.compact(id).then((answer) => (started = answer.started));
    if ((await this.wish(asked)) && !started) this.trouble = 'There is nothing to sum up now.';
  }

  /** What the agent of a session is told. Why not, if not, is for whoever asked. */
  told(id: string): Promise<Told> {
    return this.answered(api.told(id).then(arranged));
  }

  /** Replaces what the person tells every agent. */
  async instruct(text: string) {
    await this.answered(api.instruct(text));
  }

  /** What it gives back is why a session could not be deleted, if it could not. */
  async remove(id: string): Promise<string> {
    // What is on its way out is not looked at any more.
    this.leaving.add(id);
    try {
      await api.remove(id);
    } catch (error) {
      // Somebody else was quicker, and that is as good.
      if (!(error instanceof api.Refused && error.status === 404)) {
        this.leaving.delete(id);
        return this.explain(error);
      }
    }
    this.threads.forget(id);
    this.roster.removed(id);
    if (this.current === id) this.open('');
    return '';
  }

  /** Makes a session with what was chosen for it, and goes there. Why not, if not, is for whoever asked. */
  async beginWith(chosen: api.Chosen) {
    const created = await this.answered(api.begin(chosen));
    this.roster.created(created);
    this.open(created.sessionId);
    await this.refresh();
  }

  private go(id: string, view: View) {
    // An applet belongs to its session; one that was opened before there was any comes along.
    const stays = id === this.current || this.current === '' || !appletIn(location.search);
    history.pushState(null, '', address(id, view, stays ? location.search : ''));
    this.arrive();
  }

  /** Shows what the address says. */
  private arrive() {
    const { sessionId: id, view } = read(location.search);
    this.view = view;
    if (id !== this.current || id === '') this.show(id);
    else this.observeIfNew();
    const applet = appletIn(location.search);
    if (applet) this.frames.visit(applet);
  }

  private show(id: string) {
    this.flush();
    this.current = id;
    this.frames.turn(id);
    this.trouble = '';
    this.elsewhere = 0;
    this.standing = undefined;
    this.shown = this.threads.of(id);
    this.connection.unfollow();
    if (!id) return;
    void this.begin(this.shown);
    this.observeIfNew();
    void this.look();
  }

  /** Gets the newest part of what is on show, and listens from there on. */
  private async begin(thread: Thread) {
    try {
      await api.insist(
        () => (thread === this.shown ? thread.begin() : Promise.resolve()),
        (attempts) => this.threads.patience.pause(attempts),
      );
    } catch (error) {
      // The list knows whether there is such a session; and who is signed out is told so.
      this.explain(error);
      return;
    }
    if (thread === this.shown && thread.begun) this.connection.follow(thread.id, thread.place);
  }

  /** A subscription begins, perhaps not the first. */
  private again() {
    this.flush();
    this.shown.change(resumed);
  }

  private heard(frame: EventFrame) {
    const { event, seq } = frame;
    if (event.type === 'caco.reload' && seq === undefined) location.reload();
    if (event.type === 'session.idle') this.observeSoon();
    if (event.type === 'user.message' && this.elsewhere > 0) void this.look();
    if (event.type === 'session.mode_changed') void this.roster.refresh();
    if (event.type === 'permission.completed') this.inbox.completed(event.data as Completed);
    this.incoming.push(frame);
    if (this.flushing) return;
    // Events are folded once per drawn frame; a hidden page draws none, so a timer stands in.
    this.flushing = true;
    if (document.hidden) setTimeout(() => this.flush(), 200);
    else requestAnimationFrame(() => this.flush());
  }

  private flush() {
    this.flushing = false;
    const frames = this.incoming;
    this.incoming = [];
    if (frames.length > 0) this.shown.hear(numbered(frames));
  }

  private news(event: GlobalEvent) {
    if (event.type === 'session.listChanged') void this.refresh();
    // News were missed, or a session went with all that waited in it.
    if (event.type === 'session.listChanged' && ['changed', 'deleted'].includes(event.data.reason))
      void this.inbox.refresh();
    if (event.type === 'schedule.changed') this.scheduled += 1;
    if (event.type === 'session.listChanged' && event.data.reason === 'deleted')
      this.threads.forget(event.data.sessionId);
    if (event.type === 'applet.changed') this.frames.refresh();
    if (event.type === 'app.changed') {
      this.frames.refresh();
      this.appsChanged += 1;
    }
    if (event.type === 'approvals.changed') this.inbox.changed(event.data.sessionId, event.data.open);
    if (event.type !== 'session.busy') return;
    const { sessionId, isBusy } = event.data;
    this.roster.busy(sessionId, isBusy);
    const session = this.roster.find(sessionId);
    // The first message gives a session its summary, and nothing else announces that.
    if (isBusy && session && !session.name && !session.summary) void this.refresh();
    if (!isBusy && sessionId === this.current) this.noteApplet(sessionId);
    if (isBusy || sessionId !== this.current) return;
    this.settle(sessionId);
    void this.look();
  }

  private online(is: boolean) {
    this.offline = !is;
    this.tryNow();
  }

  private linked(link: Link, wait: number) {
    this.link = link;
    this.retryAt = Date.now() + wait;
    if (link === 'open') {
      this.signedOut = false;
      this.relay.again();
      this.frames.desk.join();
      this.shown.refused = false;
      this.threads.patience.wake();
      if (this.current && !this.shown.begun) void this.begin(this.shown);
    }
    // What happened meanwhile was missed; and a refused socket does not say why, but a refused request does.
    if (link === 'connecting') return;
    this.scheduled += 1;
    void this.refresh();
    void this.inbox.refresh();
  }

  private async refresh() {
    await this.roster.refresh();
    this.observeIfNew();
    if (!this.busy) this.settle(this.current);
    await this.look();
  }

  private settle(id: string) {
    if (id !== this.current) return;
    this.elsewhere = 0;
    this.flush();
    this.shown.change(settled);
  }

  private observeIfNew() {
    if (this.session?.isUnobserved) this.observeSoon();
  }

  /** Soon, not at once: a replay tells of many turns that ended, and one request is enough for all. */
  private observeSoon() {
    const id = this.current;
    clearTimeout(this.observing);
    if (document.hidden || this.view !== 'chat') return;
    this.observing = setTimeout(() => {
      if (!this.roster.find(id) || this.leaving.has(id)) return;
      // Not seen after all is no harm: the next turn or the next visit asks again.
      api.observe(id).catch((error: unknown) => this.explain(error));
    }, 100);
  }

  /** Asks how the session on show stands. */
  private async look() {
    const id = this.current;
    if (!this.session || this.leaving.has(id)) return;
    const look = (this.looks += 1);
    const known = this.shown.conversation.waiting.length;
    // Without an answer, what was known is as good as nothing.
    const standing = await api.state(id).catch(() => undefined);
    // A later look knows better.
    if (look !== this.looks || id !== this.current) return;
    this.standing = standing;
    this.elsewhere = this.busy ? Math.max(0, (standing?.queued ?? 0) - known) : 0;
  }

  private async answered<T>(request: Promise<T>): Promise<T> {
    try {
      return await request;
    } catch (error) {
      throw new Error(this.explain(error), { cause: error });
    }
  }

  private async wish(request: Promise<unknown>): Promise<boolean> {
    this.trouble = '';
    try {
      await request;
      return true;
    } catch (error) {
      this.trouble = this.explain(error);
      return false;
    }
  }

  /** Why something was not granted, in words; and whether one must sign in. */
  explain(error: unknown): string {
    if (error instanceof api.Refused && error.status === 401) this.signedOut = true;
    return explain(error);
  }
}
