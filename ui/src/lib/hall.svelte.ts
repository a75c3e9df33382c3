// The page's state: which session is shown and what is known of it. It relays between server and components, and decides nothing.
import { Desktops, type DesktopEvent } from '../desktop/desktops.svelte';
import { Frames } from '../frames/frames.svelte';
import { Relay } from '../frames/relay';
import type { View } from './address';
import * as api from './api';
import { Connection, type Link } from './connection';
import { resumed, settled } from './conversation';
import { explain } from './explain';
import { Attention } from './hall/attention.svelte';
import { Intake } from './hall/intake';
import { Pulse } from './hall/pulse.svelte';
import { Way } from './hall/way.svelte';
import { Wishes } from './hall/wishes.svelte';
import { numbered } from './history';
import { Inbox } from './inbox.svelte';
import { Notifier } from './notify.svelte';
import { isTold, onNotice } from './push.svelte';
import { Roster } from './roster.svelte';
import type { Wish } from './rows';
import type { Thread } from './thread.svelte';
import { Threads } from './threads';
import type { Approval, Completed, EventFrame, Finding, GlobalEvent } from './wire';

export class Hall {
  readonly pulse = new Pulse();
  readonly roster = new Roster((error) => this.explain(error));
  readonly notifier = new Notifier((sessionId) => this.open(sessionId));
  readonly inbox = new Inbox({
    rang: (approval) => this.rang(approval),
    refused: (error) => this.explain(error),
  });
  private relay = new Relay((text) => this.connection.pass(text));
  /** The windows beside the conversation. */
  readonly frames = new Frames(this.relay, (text) => this.connection.pass(text));
  /** Screens of machines, and who may drive them. */
  readonly desktops = new Desktops();
  readonly wishes = new Wishes(this);
  readonly attention = new Attention(this);
  private way = new Way(this.frames, {
    shows: (id) => this.show(id),
    stays: () => this.attention.observeIfNew(),
  });
  /** Counts the news of schedules: whoever shows them looks again. */
  scheduled = $state(0);
  /** Counts the news of devices. */
  devicesChanged = $state(0);
  /** Counts changes of apps on the disk. */
  appsChanged = $state(0);
  session = $derived(this.roster.find(this.current));
  busy = $derived(this.session?.isBusy ?? false);
  /** What waits for the person in the session on show. */
  asked = $derived(this.current ? this.inbox.of(this.current) : []);
  /** The place in the conversation that the person wants to see. */
  sought = $state.raw<Finding>();

  private threads = new Threads({
    explain: (error) => this.explain(error),
    created: (session) => this.roster.created(session),
    settled: () => this.wishes.choosing,
    made: (thread) => thread === this.shown && this.way.go(thread.id, this.view),
  });
  /** What is known of the session on show, or of the one that is about to be made. */
  shown = $state.raw(this.threads.of(''));
  conversation = $derived(this.shown.conversation);
  private intake = new Intake((frames) => this.shown.hear(numbered(frames)));
  private connection = new Connection({
    link: (link, wait = 0) => this.linked(link, wait),
    following: () => this.again(),
    event: (frame) => this.heard(frame),
    global: (event) => this.news(event),
    frame: (word) => this.relay.heard(word),
    desktop: (frame) => this.frames.desk.heard(frame),
  });

  /** The session on show; empty on the start page. */
  get current(): string {
    return this.way.current;
  }

  /** What the page shows beside the list of sessions. */
  get view(): View {
    return this.way.view;
  }

  start() {
    this.pulse.start(() => this.tryNow());
    addEventListener('visibilitychange', () => {
      if (document.hidden) return;
      this.connection.wake();
      this.attention.observeIfNew();
    });
    onNotice((sessionId) => this.open(sessionId));
    this.way.start();
    this.connection.start();
    this.threads.start();
    void this.refresh();
    void this.inbox.refresh();
  }

  /** Does not wait any longer for the server to come back. */
  tryNow() {
    this.connection.wake();
    this.threads.patience.wake();
  }

  /** Goes to a session, or to the start page when there is no id. */
  open(id: string) {
    this.way.open(id);
  }

  /** Goes to another part of the page; the session stays at hand. */
  visit(view: View) {
    this.way.visit(view);
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

  discard(key: string) {
    this.threads.discard(key);
  }

  /** Gets a part of the past that the reader is about to see. */
  async fetch(wish: Wish) {
    await this.shown
      .fetch(wish, (attempts) => this.threads.patience.pause(attempts))
      .catch((error: unknown) => this.explain(error));
  }

  /** Goes to a place in the conversation on show. */
  seek(finding: Finding) {
    this.frames.uncover();
    this.visit('chat');
    this.sought = finding;
  }

  /** A session is gone. */
  forget(id: string) {
    this.threads.forget(id);
    this.roster.removed(id);
    if (this.current === id) this.open('');
  }

  async refresh() {
    await this.roster.refresh();
    this.attention.observeIfNew();
    if (!this.busy) this.settle();
    await this.attention.look();
  }

  /** Why something was not granted, in words; and whether one must sign in. */
  explain(error: unknown): string {
    if (error instanceof api.Refused && error.status === 401) this.pulse.signedOut = true;
    return explain(error);
  }

  private show(id: string) {
    this.intake.flush();
    this.frames.turn(id);
    this.wishes.trouble = '';
    this.attention.turn();
    this.sought = undefined;
    this.shown = this.threads.of(id);
    this.connection.unfollow();
    if (!id) return;
    void this.begin(this.shown);
    this.attention.observeIfNew();
    void this.attention.look();
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
    this.intake.flush();
    this.shown.change(resumed);
  }

  private heard(frame: EventFrame) {
    const { event, seq } = frame;
    if (event.type === 'caco.reload' && seq === undefined) location.reload();
    if (event.type === 'session.idle') this.attention.observeSoon();
    if (event.type === 'user.message' && this.attention.elsewhere > 0) void this.attention.look();
    if (event.type === 'session.mode_changed') void this.roster.refresh();
    if (event.type === 'permission.completed') this.inbox.completed(event.data as Completed);
    this.intake.push(frame);
  }

  private news(event: GlobalEvent) {
    if (event.type === 'session.listChanged') this.listed(event.data);
    if (event.type === 'schedule.changed') this.scheduled += 1;
    if (event.type === 'devices.changed') this.devicesChanged += 1;
    if (event.type === 'applet.changed') this.frames.refresh();
    if (event.type === 'app.changed') {
      this.frames.refresh();
      this.appsChanged += 1;
    }
    if (event.type === 'approvals.changed') this.inbox.changed(event.data.sessionId, event.data.open);
    if (event.type === 'session.busy') this.turned(event.data);
    if (event.type.startsWith('desktop.')) this.desktops.event(event as DesktopEvent);
  }

  /** Something new waits for the person. */
  private rang(approval: Approval) {
    // Whoever has it before their eyes need not be told elsewhere.
    if (approval.sessionId === this.current) this.attention.observeSoon();
    // Where the worker tells of it, the page need not.
    if (!isTold()) this.notifier.tell(approval);
  }

  private listed({ reason, sessionId }: { reason: string; sessionId: string }) {
    void this.refresh();
    // News were missed, or a session went with all that waited in it.
    if (reason === 'changed' || reason === 'deleted') void this.inbox.refresh();
    if (reason === 'deleted') this.threads.forget(sessionId);
  }

  /** A session began to work, or rests again. */
  private turned({ sessionId, isBusy }: { sessionId: string; isBusy: boolean }) {
    this.roster.busy(sessionId, isBusy);
    const session = this.roster.find(sessionId);
    // The first message gives a session its summary, and nothing else announces that.
    if (isBusy && session && !session.name && !session.summary) void this.refresh();
    if (isBusy || sessionId !== this.current) return;
    this.way.noteApplet();
    this.settle();
    void this.attention.look();
  }

  private linked(link: Link, wait: number) {
    this.pulse.linked(link, wait);
    if (link === 'open') {
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
    this.desktops.relinked();
  }

  /** The session on show rests. */
  private settle() {
    this.attention.elsewhere = 0;
    this.intake.flush();
    this.shown.change(settled);
  }
}
