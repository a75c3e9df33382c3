// The page's state: which session is shown and what is known of it. It relays between server and components, and decides nothing.
import * as api from './api';
import { backoff, Connection, type Link } from './connection';
import { empty, fold, marked, posted, resumed, settled, withdrawn, type Conversation } from './conversation';
import { appletIn, asContext, followed, withApplet, type AppletPlace } from '../applets/address';
import { Frames } from '../frames/frames.svelte';
import { Relay } from '../frames/relay';
import { Inbox } from './inbox.svelte';
import { Notifier } from './notify.svelte';
import { Place } from './place';
import { Roster } from './roster.svelte';
import { arranged, type Told } from './told';
import type { Completed, EventFrame, GlobalEvent, Mode, SessionEvent, StateAnswer } from './wire';

export type View = 'chat' | 'approvals' | 'schedules' | 'settings';

/** What is kept of a session that was looked at, so that returning to it costs only what is new. */
interface Thread {
  id: string;
  conversation: Conversation;
  place: Place;
}

export class Hall {
  roster = new Roster((error) => this.explain(error));
  notifier = new Notifier((sessionId) => this.open(sessionId));
  inbox = new Inbox({
    rang: (approval) => this.notifier.tell(approval),
    refused: (error) => this.explain(error),
  });
  private relay = new Relay((text) => this.connection.pass(text));
  /** The windows beside the conversation. */
  frames = new Frames(this.relay);
  link = $state<Link>('connecting');
  /** Counts the news of schedules: whoever shows them looks again. */
  scheduled = $state(0);
  /** What the page shows beside the list of sessions. */
  view = $state<View>('chat');
  signedOut = $state(false);
  /** Why the last wish could not be granted. */
  trouble = $state('');
  /** The session on show; empty on the start page. */
  current = $state('');
  conversation = $state.raw<Conversation>(empty);
  /** Messages that wait on the server but were sent from another page. */
  elsewhere = $state(0);
  /** What the session has used and how full its context is, once the server has said. */
  standing = $state.raw<StateAnswer>();
  session = $derived(this.roster.find(this.current));
  busy = $derived(this.session?.isBusy ?? false);

  private threads = new Map<string, Thread>();
  private shown = this.thread('');
  private incoming: SessionEvent[] = [];
  private flushing = false;
  private outbox = Promise.resolve();
  private observing: ReturnType<typeof setTimeout> | undefined;
  private leaving = new Set<string>();
  private looks = 0;
  private noted = '';
  private connection = new Connection({
    link: (link) => this.linked(link),
    following: () => this.again(),
    event: (frame) => this.heard(frame),
    global: (event) => this.news(event),
    frame: (word) => this.relay.heard(word),
  });

  start() {
    addEventListener('popstate', () => this.arrive());
    addEventListener('click', (event) => this.followLink(event));
    this.frames.went = (place, mode) => this.mark(place, mode);
    addEventListener('online', () => this.connection.wake());
    addEventListener('visibilitychange', () => {
      if (document.hidden) return;
      this.connection.wake();
      this.observeIfNew();
    });
    this.arrive();
    this.welcomeApp();
    this.connection.start();
    void this.refresh();
    void this.inbox.refresh();
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
  send(text: string, model: string) {
    const key = api.newKey();
    const thread = this.shown;
    this.change(thread, (it) => posted(it, key, text));
    this.outbox = this.outbox.then(() => this.deliver(thread, key, text, model));
  }

  /** A message that was refused was not said, so trying again is a new message. */
  retry(key: string, text: string, model: string) {
    this.discard(key);
    this.send(text, model);
  }

  discard(key: string) {
    this.change(this.shown, (it) => withdrawn(it, key));
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

  async remove(id: string) {
    // What is on its way out is not looked at any more.
    this.leaving.add(id);
    if (!(await this.wish(api.remove(id)))) {
      this.leaving.delete(id);
      return;
    }
    this.threads.delete(id);
    this.roster.removed(id);
    if (this.current === id) this.open('');
  }

  private go(id: string, view: View) {
    history.pushState(null, '', address(id, view));
    this.arrive();
  }

  /** Shows what the address says. */
  private arrive() {
    const asked = new URLSearchParams(location.search);
    const view = asked.get('view');
    this.view = view === 'approvals' || view === 'schedules' || view === 'settings' ? view : 'chat';
    const id = asked.get('session') ?? '';
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
    this.shown = this.thread(id);
    this.conversation = this.shown.conversation;
    if (!id) return this.connection.unfollow();
    this.connection.follow(id, this.shown.place);
    this.observeIfNew();
    void this.look();
  }

  private thread(id: string): Thread {
    const thread = this.threads.get(id) ?? { id, conversation: empty, place: new Place() };
    this.threads.set(id, thread);
    return thread;
  }

  private change(thread: Thread, how: (conversation: Conversation) => Conversation) {
    thread.conversation = how(thread.conversation);
    if (thread === this.shown) this.conversation = thread.conversation;
  }

  private async deliver(thread: Thread, key: string, text: string, model: string) {
    try {
      if (!thread.id) await this.found(thread, model);
      const answer = await api.insist(() => api.say(thread.id, text, key), pause);
      if (answer.queued) this.change(thread, (it) => marked(it, key, 'waiting'));
    } catch (error) {
      this.change(thread, (it) => marked(it, key, 'failed', this.explain(error)));
    }
  }

  /** Makes the session that the start page has been writing to. */
  private async found(thread: Thread, model: string) {
    const created = await api.create(model);
    this.roster.created(created);
    this.threads.delete('');
    this.threads.set(created.sessionId, thread);
    thread.id = created.sessionId;
    if (thread !== this.shown) return;
    // An applet that was open on the start page stays open.
    const applet = appletIn(location.search);
    this.go(created.sessionId, this.view);
    if (!applet) return;
    this.mark(applet, 'replace');
    this.frames.visit(applet);
  }

  /** A subscription begins, perhaps not the first. */
  private again() {
    this.flush();
    this.change(this.shown, resumed);
  }

  private heard(frame: EventFrame) {
    const { event, seq } = frame;
    if (event.type === 'caco.reload' && seq === undefined) location.reload();
    if (event.type === 'session.idle') this.observeSoon();
    if (event.type === 'user.message' && this.elsewhere > 0) void this.look();
    if (event.type === 'session.mode_changed') void this.roster.refresh();
    if (event.type === 'permission.completed') this.inbox.completed(event.data as Completed);
    this.incoming.push(event);
    if (this.flushing) return;
    // Events are folded once per drawn frame; a hidden page draws none, so a timer stands in.
    this.flushing = true;
    if (document.hidden) setTimeout(() => this.flush(), 200);
    else requestAnimationFrame(() => this.flush());
  }

  private flush() {
    this.flushing = false;
    const events = this.incoming;
    this.incoming = [];
    if (events.length > 0) this.change(this.shown, (it) => fold(it, events));
  }

  private news(event: GlobalEvent) {
    if (event.type === 'session.listChanged') void this.refresh();
    // News were missed, or a session went with all that waited in it.
    if (event.type === 'session.listChanged' && ['changed', 'deleted'].includes(event.data.reason))
      void this.inbox.refresh();
    if (event.type === 'applet.changed') this.frames.refresh();
    if (event.type === 'schedule.changed') this.scheduled += 1;
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

  private linked(link: Link) {
    this.link = link;
    if (link === 'open') this.signedOut = false;
    if (link === 'open') this.relay.again();
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
    this.change(this.shown, settled);
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

  private explain(error: unknown): string {
    if (error instanceof api.Refused && error.status === 401) this.signedOut = true;
    if (error instanceof api.Refused) return error.message;
    return 'The server cannot be reached.';
  }
}

function pause(attempts: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, backoff(attempts, Math.random())));
}

export function address(sessionId: string, view: View): string {
  const said = new URLSearchParams();
  if (sessionId) said.set('session', sessionId);
  if (view !== 'chat') said.set('view', view);
  return said.size > 0 ? `/?${said}` : '/';
}
