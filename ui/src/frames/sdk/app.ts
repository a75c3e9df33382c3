// What an app has registered, and its answers to what the page asks of it. Knows nothing of windows: it is told and it tells.
import type * as Sdk from '../../../packages/app-sdk';

/** What an app leans on. */
export interface World {
  /** To the page around the frame. */
  post(message: unknown): void;
  /** Random, and another one in every document. */
  instance: string;
  /** Where it is kept from one document to the next. */
  keeper: Keeper;
  /** Calls back after so many milliseconds. */
  later(act: () => void, delay: number): void;
  /** Whether a person has just done something here by hand. */
  touched?(): boolean;
}

export interface Keeper {
  /** Gives the app what was kept. Says whether anything can be kept at all. */
  open(restore: Sdk.Restore): Promise<boolean>;
  /** Something has changed by hand. */
  soon(): void;
  /** Comes back when everything so far is kept, or has failed to be. */
  now(): Promise<void>;
}

type Request = { type?: unknown; requestId?: unknown; stateKey?: unknown; command?: unknown; params?: unknown };

/** Changes that follow each other faster are told of together. */
const PAUSE = 200;

export class AppLine implements Sdk.App {
  private registered: Sdk.Registration | undefined;
  /** Whether the app is made whole by what was kept, and needs no repeating. */
  private restored = false;
  private closing = new Set<() => void>();
  private changed = new Set<string>();
  private telling = false;
  /** Whether what has changed was changed by hand. */
  private byHand = false;
  private running = 0;

  constructor(private world: World) {}

  register = (registration: Sdk.Registration) => {
    if (typeof registration !== 'object' || registration === null)
      throw new TypeError('yaar.app.register expects an object with appId, name, state and commands');
    this.registered = registration;
    const ready = () =>
      this.world.post({ type: 'yaar:app-ready', appId: registration.appId, instance: this.world.instance });
    if (!registration.restore) return ready();
    // Nobody may ask an app that is not itself yet.
    void this.world.keeper.open(registration.restore).then((works) => {
      if (this.registered !== registration) return;
      this.restored = works;
      ready();
    });
  };

  sendInteraction = (what: string | object, options: Sdk.InteractionOptions = {}) => {
    const told = typeof what === 'object' && what !== null ? { ...(what as Sdk.InteractionOptions) } : undefined;
    const { instructions = options.instructions, toMonitor = options.toMonitor, ...rest } = told ?? {};
    const content = told ? JSON.stringify(rest) : String(what ?? '');
    if (!content) return;
    const inform = options.inform ? true : undefined;
    this.world.post({ type: 'yaar:app-interaction', content, ...given({ instructions, toMonitor, inform }) });
  };

  stateChanged = (...keys: string[]) => {
    this.world.keeper.soon();
    for (const key of keys) if (own(this.registered?.state, key)) this.changed.add(key);
    // What a command does while somebody types is the command's.
    if (keys.length > 0 && this.running === 0 && this.world.touched?.()) this.byHand = true;
    if (this.changed.size === 0 || this.telling) return;
    this.telling = true;
    this.tellChanges();
    this.world.later(() => {
      this.telling = false;
      if (this.changed.size > 0) this.stateChanged();
    }, PAUSE);
  };

  onClose = (hear: () => void) => {
    this.closing.add(hear);
    return () => void this.closing.delete(hear);
  };

  /** Something came from the page. Says whether it was for the app. */
  heard(message: unknown): boolean {
    const request = (typeof message === 'object' && message !== null ? message : {}) as Request;
    switch (request.type) {
      case 'yaar:app-manifest-request':
        this.tellManifest(request);
        return true;
      case 'yaar:app-query-request':
        void this.reply('yaar:app-query-response', request, 'data', () => this.read(request.stateKey));
        return true;
      case 'yaar:app-command-request':
        void this.reply('yaar:app-command-response', request, 'result', () => this.obey(request));
        return true;
      case 'yaar:app-close':
        this.close();
        return true;
      default:
        return false;
    }
  }

  private tellManifest(request: Request) {
    const type = 'yaar:app-manifest-response';
    if (this.registered) void this.reply(type, request, 'manifest', () => this.manifest(this.registered!));
    else this.world.post({ type, requestId: request.requestId, manifest: null, error: 'No app registered' });
  }

  private manifest({ appId, name, state, commands }: Sdk.Registration) {
    return {
      appId,
      name,
      state: mapped(state, ({ description, schema }) => given({ description, schema })),
      commands: mapped(commands, ({ description, params, returns, aliases, replay, timeoutMs, inverse }) => {
        const repeated = replay ?? (this.restored ? 'never' : undefined);
        // Only what was put there: every object has a `toString`.
        const undoneBy = typeof inverse === 'string' && !own(commands, inverse) ? undefined : inverse;
        return given({ description, params, returns, aliases, replay: repeated, timeoutMs, inverse: undoneBy });
      }),
    };
  }

  private read(key: unknown): unknown {
    const state = own(this.registered?.state, key);
    if (!state) throw `Unknown state key: ${String(key)}`;
    return state.handler();
  }

  private async obey({ requestId, command: name, params }: Request): Promise<unknown> {
    const command = commandNamed(this.registered?.commands, name);
    if (!command) throw `Unknown command: ${String(name)}`;
    const steps = new Steps(this.world, requestId);
    const { progress } = steps;
    const call = { requestId: String(requestId), replayed: String(requestId).startsWith('replay-'), progress };
    try {
      const result = await this.run(command, params, call);
      // What is not repeated must be safe before anybody hears that it was done; what has a rule of its own looks after itself.
      if (this.restored && command.replay === undefined) await this.world.keeper.now();
      return result;
    } finally {
      steps.end();
    }
  }

  private async run(command: Sdk.Command, params: unknown, call: Sdk.Call): Promise<unknown> {
    this.running += 1;
    try {
      return (await command.handler(params, call)) as unknown;
    } finally {
      this.running -= 1;
    }
  }

  private async reply(type: string, { requestId }: Request, field: string, work: () => unknown) {
    try {
      const value = await work();
      this.world.post({ type, requestId, ...given({ [field]: value }) });
    } catch (error) {
      this.world.post({ type, requestId, error: written(error) });
    }
  }

  private tellChanges() {
    const byPerson = this.byHand ? true : undefined;
    this.world.post({ type: 'yaar:app-state-changed', stateKeys: [...this.changed], ...given({ byPerson }) });
    this.changed.clear();
    this.byHand = false;
  }

  private close() {
    for (const hear of [...this.closing, () => this.registered?.onClose?.()]) {
      try {
        hear();
      } catch (error) {
        reportError(error);
      }
    }
    void this.world.keeper.now();
  }
}

/** How far one command is: told at once, then so often, and not after its end. */
class Steps {
  private waiting: object | undefined;
  private telling = false;
  private ended = false;

  constructor(
    private world: World,
    private of: unknown,
  ) {}

  progress = (done: number, total?: number, note?: string) => {
    if (this.ended) return;
    // Under another name than `requestId`: whoever does not know this word would take it for the answer.
    this.waiting = { type: 'yaar:app-progress', of: this.of, ...given({ done, total, note }) };
    if (!this.telling) this.tell();
  };

  end() {
    this.ended = true;
    this.waiting = undefined;
  }

  private tell() {
    this.telling = this.waiting !== undefined;
    if (!this.waiting) return;
    this.world.post(this.waiting);
    this.waiting = undefined;
    this.world.later(() => this.tell(), PAUSE);
  }
}

function commandNamed(commands: Record<string, Sdk.Command> | undefined, name: unknown): Sdk.Command | undefined {
  const named = own(commands, name);
  if (named || typeof name !== 'string') return named;
  return Object.values(commands ?? {}).find((it) => Array.isArray(it.aliases) && it.aliases.includes(name));
}

/** Only what was put there: every object has a `toString`. */
function own<T>(all: Record<string, T> | undefined, name: unknown): T | undefined {
  return typeof name === 'string' && all && Object.hasOwn(all, name) ? all[name] : undefined;
}

function mapped<T>(all: Record<string, T> | undefined, change: (each: T) => object): Record<string, object> {
  return Object.fromEntries(Object.entries(all ?? {}).map(([name, each]) => [name, change(each)]));
}

/** Without what was left out. */
function given(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function written(error: unknown): string {
  try {
    return String(error) || 'Error';
  } catch {
    return 'Error: something that cannot be written was thrown';
  }
}
