// What every app in a window of Megaron is lent as `window.yaar`, before its first script runs.

/** A JSON Schema; draft 2020-12 unless it says otherwise. */
export type Schema = Record<string, unknown> | boolean;

/** Something the agent may read. */
export interface StateKey {
  /** What it is, for the agent. */
  description: string;
  schema?: Schema;
  handler(): unknown;
}

/** How a command is being run. */
export interface Call {
  readonly requestId: string;
  /** Whether it was run before, and is only repeated because the app was loaded anew. */
  readonly replayed: boolean;
  /**
   * Tells how far it has come: shown on the window and to the agent, and its time counts anew, ten minutes in all at most.
   * Often is fine: the newest is told a few times a second. After its end it counts for nothing.
   */
  progress(done: number, total?: number, note?: string): void;
}

/** Something the agent may do. */
export interface Command {
  /** What it does and when to use it, for the agent. */
  description: string;
  /** What `params` must be like; the server refuses what does not fit before the app hears of it. */
  params?: Schema;
  returns?: Schema;
  /** Other names for it. */
  aliases?: string[];
  /**
   * What happens when the app is loaded anew: every run is repeated in order, only the last, or none.
   * Without it: `always`, or `never` where `restore` does it.
   */
  replay?: 'always' | 'last' | 'never';
  /** How long the agent waits for it without hearing of it, in milliseconds; 5000 if not told, 600000 at most. */
  timeoutMs?: number;
  /**
   * What takes it back. The name of a command of this app: it is given what it takes out of the result, or else out of
   * `params`; a `null` there says that nothing has changed. `{ command, params }`: always this. `true`: the result says it as
   * `inverse: { command, params }`, which goes before the others as well.
   */
  inverse?: string | true | { command: string; params?: object };
  handler(params: any, call: Call): unknown;
}

/** How an app is made whole again in a new document: kept by the server for this window, after every change. */
export interface Restore {
  /** Everything that must survive, as JSON can carry it. */
  save(): unknown;
  /** What `save` gave, in an earlier document or in another tab. */
  load(state: any): void | Promise<void>;
  /** Keeping it did not work; `undefined` once it works again. */
  failed?(error: string | undefined): void;
}

export interface Registration {
  appId: string;
  name: string;
  state?: Record<string, StateKey>;
  commands?: Record<string, Command>;
  restore?: Restore;
  /** The window is about to be closed. */
  onClose?(): void;
}

export interface InteractionOptions {
  /** What the agent should make of it. */
  instructions?: string;
  /** One of the session's monitors; they all have the same agent. */
  toMonitor?: string;
  /** Only tells the agent at its next turn, and does not begin one. */
  inform?: boolean;
}

export interface App {
  /** Makes the app known; once more replaces what was registered before. */
  register(registration: Registration): void;
  /** Tells the agent what happened, in words or as data. */
  sendInteraction(what: string | object, options?: InteractionOptions): void;
  /** Tells that what these state keys give is something else now, and has the app kept. Often is fine. */
  stateChanged(...keys: string[]): void;
  /** Calls back before the window is closed; returns how to stop. */
  onClose(hear: () => void): () => void;
}

export interface Entry {
  path: string;
  isDirectory: boolean;
  size: number;
  modifiedAt: string;
}

type Shape = 'auto' | 'text' | 'json' | 'blob' | 'arraybuffer';

/** Files that the server keeps; those of the app itself are in `apps/self/`. */
export interface Storage {
  save(path: string, data: unknown): Promise<{ ok: true; path: string }>;
  read(path: string, options?: { as?: Shape }): Promise<any>;
  list(folder?: string): Promise<Entry[]>;
  remove(path: string): Promise<{ ok: true; path: string }>;
  /** An address for `<img>` and the like, good while the window is there. */
  url(path: string): string;
}

export interface Yaar {
  app: App;
  storage: Storage;
}

export declare const yaar: Yaar;

declare global {
  interface Window {
    yaar: Yaar;
  }
}
