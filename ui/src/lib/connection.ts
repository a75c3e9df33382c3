// The one socket to the server: follows a session, comes back for ever, and resumes where it stopped.
import type { Place } from './place';
import { isDesktopFrame, type DesktopFrame } from '../frames/windows';
import type { EventFrame, FrameWord, GlobalEvent, ServerFrame } from './wire';

export type Link = 'connecting' | 'open' | 'waiting';

export interface Listener {
  /** How the link stands, and while it waits, for how many milliseconds. */
  link(link: Link, wait?: number): void;
  /** A subscription was sent; its frames follow. */
  following(sessionId: string): void;
  event(frame: EventFrame): void;
  global(event: GlobalEvent): void;
  frame?(word: FrameWord): void;
  desktop?(frame: DesktopFrame): void;
}

/** The world as the connection needs it; tests bring their own. */
export interface World {
  open(): WebSocket;
  /** Runs something later and returns how to call it off. */
  later(milliseconds: number, run: () => void): () => void;
  chance(): number;
}

const HEARTBEAT = 20_000;
const FIRST_DELAY = 250;
const LONGEST_DELAY = 15_000;
const RESUBSCRIBE = 1_000;

export class Connection {
  private socket: WebSocket | undefined;
  private followed: { sessionId: string; place: Place } | undefined;
  private attempts = 0;
  private heard = true;
  private callOff = () => {};

  constructor(
    private listener: Listener,
    private world: World = browser,
  ) {}

  start() {
    this.callOff();
    this.listener.link('connecting');
    const socket = this.world.open();
    this.socket = socket;
    socket.onopen = () => this.opened();
    socket.onmessage = (message) => this.received(String(message.data));
    socket.onclose = () => this.lost();
    // A link that never opens is as lost as one that fell.
    this.callOff = this.world.later(HEARTBEAT, () => this.lost());
  }

  stop() {
    this.callOff();
    this.letGo();
  }

  /** Listens to this session from its place on; the one before is let go. */
  follow(sessionId: string, place: Place) {
    this.followed = { sessionId, place };
    if (this.socket?.readyState === 1) this.subscribe();
  }

  unfollow() {
    this.followed = undefined;
  }

  /** Passes on what is JSON already; false if nobody can hear it now. */
  pass(text: string): boolean {
    if (this.socket?.readyState !== 1) return false;
    this.socket.send(text);
    return true;
  }

  /** Does not wait any longer: the network is back, or somebody is looking. */
  wake() {
    if (!this.socket) this.start();
    else if (this.socket.readyState === 1) this.beat();
  }

  private opened() {
    this.listener.link('open');
    if (this.followed) this.subscribe();
    this.beat();
  }

  private subscribe() {
    const { sessionId, place } = this.followed!;
    this.listener.following(sessionId);
    this.send({ type: 'subscribe', sessionId, after: place.seq, deltas: 'native' });
  }

  /** Asks for a sign of life, and gives the link up if none came by the next beat. */
  private beat() {
    this.callOff();
    this.heard = false;
    this.send({ type: 'ping' });
    this.callOff = this.world.later(HEARTBEAT, () => (this.heard ? this.beat() : this.lost()));
  }

  private received(text: string) {
    this.heard = true;
    this.attempts = 0;
    const frame = JSON.parse(text) as ServerFrame | DesktopFrame;
    if (isDesktopFrame(frame)) return this.listener.desktop?.(frame);
    if (frame.type === 'globalEvent') this.listener.global(frame.event);
    if (frame.type === 'error') this.subscribeAgain();
    if ('frameId' in frame) this.listener.frame?.(frame);
    if (frame.type !== 'event') return;
    const { followed } = this;
    if (followed?.sessionId === frame.sessionId && followed.place.reach(frame)) this.listener.event(frame);
  }

  /** All we ask for is a subscription, so a complaint means that it ended; the link itself is well. */
  private subscribeAgain() {
    const { socket } = this;
    this.world.later(RESUBSCRIBE, () => {
      if (this.followed && socket && socket === this.socket) this.subscribe();
    });
  }

  private lost() {
    this.callOff();
    this.letGo();
    const delay = backoff(this.attempts, this.world.chance());
    this.listener.link('waiting', delay);
    this.attempts += 1;
    this.callOff = this.world.later(delay, () => this.start());
  }

  private letGo() {
    const { socket } = this;
    this.socket = undefined;
    if (!socket) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
  }

  private send(frame: object) {
    this.socket?.send(JSON.stringify(frame));
  }
}

/** Doubles from a quarter of a second to fifteen, less up to half by chance, so that tabs do not return in step. */
export function backoff(attempts: number, chance: number): number {
  const whole = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** attempts);
  return whole * (1 - chance / 2);
}

const browser: World = {
  open: () => new WebSocket(`${location.origin.replace(/^http/, 'ws')}/ws`),
  later: (milliseconds, run) => {
    const timer = setTimeout(run, milliseconds);
    return () => clearTimeout(timer);
  },
  chance: Math.random,
};
