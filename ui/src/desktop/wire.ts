// What the server says of desktops, as it says it.
export type Class = 'look' | 'point' | 'type' | 'act' | 'clipboard';

export interface Point {
  x: number;
  y: number;
}

export interface Rect extends Point {
  w: number;
  h: number;
}

export interface Arming {
  session?: string;
  until: number;
  classes: Class[];
  /** The part of the screen that may be touched; all of it where it is absent. */
  region?: Rect;
}

export interface Device {
  name: string;
  backend: string;
  platform: string;
  paused: 'human' | 'corner' | 'panic' | 'owner' | null;
  screen: { w: number; h: number } | null;
  commands: string[];
  since: number;
  trouble?: string;
  armings: Arming[];
  inHands: boolean;
  recording?: { since: number; steps: number };
}

export interface DesktopState {
  now: number;
  devices: Device[];
  platform: string;
}

/** Something that was done on a desktop, or refused. */
export interface Action {
  number: number;
  device: string;
  tool: string;
  arguments: Record<string, unknown>;
  result: { type: 'success'; message: string } | { type: 'error'; error: string; code: string };
  before?: Point;
  at?: Point;
  /** The program that got it. */
  window?: string;
  /** By which right: the person's own hands, or until when they had lent the device. */
  leave?: 'hands' | { until: string };
  ms: number;
  ts: number;
  session?: string;
  caller?: string;
}

export interface Trajectory {
  id: string;
  name: string;
  device: string;
  made: number;
  steps: { title: string; looks: boolean }[];
}

export interface Replay {
  done: number;
  of: number;
  stopped?: 'differs' | 'secret' | 'failed';
  text: string;
  expected?: string;
  found?: string;
}

/** Something that hands do, in the words of the protocol. */
export interface Command {
  type: string;
  [field: string]: unknown;
}
