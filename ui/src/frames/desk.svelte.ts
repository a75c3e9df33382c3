// What the server knows of the windows of the session on show: listens to what becomes of them, and speaks for the apps in them.
import * as api from '../lib/api';
import { Bridge } from './bridge';
import { HandsLine, changedHands, type HandsOf } from './hands';
import type { AppEnd } from './line';
import { Inspector } from '../inspector/inspector.svelte';
import { applied, keyOf, replaced, type Action, type DesktopFrame, type Step, type Windows } from './windows';

/** How far a command is. */
export interface Underway {
  requestId: string;
  done: number;
  total: number | undefined;
  note: string | undefined;
}

export interface Around {
  /** Other windows are there than before. */
  changed(keys: string[]): void;
  /** A window is to be seen. */
  focused(key: string): void;
}

export class Desk {
  windows = $state.raw<Windows>(new Map());
  /** Whose hands they are in, where that is not as usual, and how much is new in their history. */
  hands = $state.raw<ReadonlyMap<string, HandsOf>>(new Map());
  readonly line: HandsLine;
  /** How far commands are that tell of it: by window, the one that was told of last. */
  steps = $state.raw<ReadonlyMap<string, Underway>>(new Map());
  /** What is said to and by the app in one of them. */
  readonly inspector: Inspector;
  private session = '';
  /** The session that the server tells of. */
  private joined = '';
  /** Whether all windows are about to be told. */
  private snapshot = false;
  /** Being closed: told of once more, they are passed over. */
  private closing = new Set<string>();
  /** A window that the person waits for, and what is done when it is there. */
  private expected = { key: '', arrived: () => {} };
  private bridge: Bridge;

  constructor(
    private pass: (text: string) => boolean,
    private around: Around,
  ) {
    this.inspector = new Inspector(pass, () => this.session);
    this.bridge = new Bridge(
      (frame) => void this.pass(JSON.stringify(frame)),
      (key) => this.windows.has(key),
      api.newKey,
    );
    this.line = new HandsLine(
      (frame) => void this.pass(JSON.stringify(frame)),
      (key) => this.hands.get(key),
      () => performance.now(),
    );
  }

  /** Asks to be told of windows, from now on and for whatever session this connection follows. */
  join() {
    this.joined = '';
    this.pass(JSON.stringify({ type: 'SUBSCRIBE_MONITOR', hands: true }));
  }

  turn(session: string) {
    this.session = session;
    this.joined = '';
    this.windows = new Map();
    this.hands = new Map();
    this.steps = new Map();
    this.closing.clear();
    this.inspector.close();
  }

  heard(frame: DesktopFrame) {
    if (frame.type === 'CONNECTION_STATUS') return this.begin(frame.sessionId, frame.windows ?? 0);
    if (this.joined === '' || this.joined !== this.session) return;
    this.inspector.heard(frame);
    if (frame.type === 'ACTIONS') this.act(frame.actions, frame.monitorId);
    if (frame.type === 'APP_PROTOCOL_PROGRESS')
      this.step(keyOf(frame.windowId, frame.monitorId), frame.requestId, frame);
    if (frame.type === 'APP_PROTOCOL_REQUEST')
      this.bridge.request(frame.requestId, frame.windowId, frame.request, frame);
  }

  /** The frame of a window is there, and can be spoken with. */
  attach(key: string, ask: (message: unknown) => void): AppEnd & { end(): void } {
    const end = this.bridge.mount(key, ask);
    return {
      end,
      awaits: (message) => this.bridge.awaits(key, message),
      heard: (message) => this.line.heard(key, message) || this.bridge.heard(key, message),
      lost: () => this.bridge.lost(key),
    };
  }

  /** A name that no window has yet: this one, or else with a number. */
  free(id: string): string {
    for (let number = 1; ; number += 1) {
      const key = keyOf(number > 1 ? `${id}-${number}` : id);
      if (!this.windows.has(key)) return key;
    }
  }

  expect(key: string, arrived: () => void) {
    this.expected = { key, arrived };
  }

  /** Closes a window here and for everybody else. */
  close(key: string) {
    this.bridge.closing(key);
    this.closing.add(key);
    this.become(new Map([...this.windows].filter(([name]) => name !== key)));
    api
      .closeWindow(this.session, key)
      .finally(() => this.closing.delete(key))
      // It is there still, and told of again.
      .catch(() => this.join());
  }

  private begin(sessionId: string, windows: number) {
    this.joined = sessionId;
    if (sessionId !== this.session) return;
    this.snapshot = windows > 0;
    this.hands = new Map();
    if (windows === 0) this.become(new Map());
    this.bridge.again();
    this.steps = new Map();
    if (this.inspector.key) this.inspector.join();
  }

  private act(actions: Action[], monitorId: string | undefined) {
    const { snapshot } = this;
    this.snapshot = false;
    if (snapshot) return this.become(replaced(this.windows, actions));
    this.hands = changedHands(this.hands, actions, monitorId);
    let { windows } = this;
    for (const action of actions) windows = applied(windows, action, monitorId);
    this.become(windows);
    const seen = actions.filter(({ type }) => type === 'window.focus' || type === 'window.create');
    for (const { windowId, monitorId: own } of seen) this.around.focused(keyOf(windowId, own ?? monitorId));
  }

  private step(key: string, requestId: string, step: Step) {
    const steps = new Map(this.steps);
    if (!step.ended) steps.set(key, { requestId, done: step.done, total: step.total, note: step.note });
    else if (steps.get(key)?.requestId === requestId) steps.delete(key);
    this.steps = steps;
  }

  private become(windows: Windows) {
    const left = [...windows].filter(([key]) => !this.closing.has(key));
    this.windows = new Map(left);
    this.around.changed(left.map(([key]) => key));
    if (this.inspector.key && !this.windows.has(this.inspector.key)) this.inspector.close();
    const { key, arrived } = this.expected;
    if (!this.windows.has(key)) return;
    this.expect('', () => {});
    arrived();
  }
}
