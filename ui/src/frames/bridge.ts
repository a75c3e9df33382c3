// Between the server and the apps in windows: each request to the frame it is for, each answer back. It keeps no time and decides nothing.
import { writtenReply } from './limits';
import type { About, AppRequest } from './windows';

interface Asked {
  key: string;
  kind: AppRequest['kind'];
}

interface Mounted {
  post(message: unknown): void;
  /** Whether its app has registered, and as what. */
  ready: boolean;
  instance: unknown;
  /** How far the commands have come that it is given again. */
  replayed: number;
  /** Whether there is a document that can be asked. */
  there: boolean;
}

const NO_FRAME = 'No iframe found in window';

const ANSWERS: Record<string, { kind: AppRequest['kind']; field: 'manifest' | 'data' | 'result' }> = {
  'yaar:app-manifest-response': { kind: 'manifest', field: 'manifest' },
  'yaar:app-query-response': { kind: 'query', field: 'data' },
  'yaar:app-command-response': { kind: 'command', field: 'result' },
};

/** How many words an app may say at once of itself, and how long each. */
const MOST = 100;
const LONGEST = 4000;

export class Bridge {
  private frames = new Map<string, Mounted>();
  private asked = new Map<string, Asked>();

  /**
   * @param send passes a frame to the server
   * @param knows whether there is such a window
   * @param newKey names a message
   */
  constructor(
    private send: (frame: object) => void,
    private knows: (key: string) => boolean,
    private newKey: () => string,
  ) {}

  /** The frame of a window is there. Gives back how it goes. */
  mount(key: string, post: (message: unknown) => void): () => void {
    const mounted = { post, ready: false, instance: undefined, replayed: 0, there: true };
    this.frames.set(key, mounted);
    return () => {
      if (this.frames.get(key) !== mounted) return;
      this.frames.delete(key);
      for (const [requestId, asked] of this.asked) if (asked.key === key) this.asked.delete(requestId);
    };
  }

  /** What is in the frame of a window is put out, or nobody we know: it answers nothing any more. */
  lost(key: string) {
    const frame = this.frames.get(key);
    if (!frame) return;
    frame.ready = frame.there = false;
    for (const [requestId, asked] of this.asked) {
      if (asked.key !== key) continue;
      this.asked.delete(requestId);
      this.respond(requestId, key, { kind: asked.kind, error: NO_FRAME });
    }
  }

  /** There is a new connection, which knows of no app yet. */
  again() {
    this.asked.clear();
    for (const [key, frame] of this.frames) if (frame.ready) this.announce(key, frame);
  }

  /** The server asks something of the app in a window. */
  request(requestId: string, windowId: string, request: AppRequest, { instance, position }: About = {}) {
    const frame = this.frames.get(windowId);
    if (!frame?.there) {
      const error = this.knows(windowId) ? NO_FRAME : 'Window element not found';
      return this.respond(requestId, windowId, { kind: request.kind, error });
    }
    // Another document has come meanwhile, and the server is about to hear of it: it must not do what this one was to do.
    if (instance !== undefined && frame.instance !== instance) return;
    if (position !== undefined) frame.replayed = Math.max(frame.replayed, position);
    this.asked.set(requestId, { key: windowId, kind: request.kind });
    const { kind, ...what } = request;
    frame.post({ type: `yaar:app-${kind}-request`, requestId, ...what });
  }

  /** Whether a message answers what was asked of this window. */
  awaits(key: string, message: unknown): boolean {
    const { requestId } = fieldsOf(message);
    return typeof requestId === 'string' && this.asked.get(requestId)?.key === key;
  }

  /** The app in a window said something; whoever calls has made sure that it is from there. */
  heard(key: string, message: unknown) {
    const fields = fieldsOf(message);
    const { type } = fields;
    if (type === 'yaar:app-ready') return this.registered(key, fields.instance);
    if (type === 'yaar:app-interaction') return this.interacted(key, fields);
    if (type === 'yaar:app-progress') return this.stepped(key, fields);
    if (type === 'yaar:app-state-changed') return this.changed(key, fields);
    if (type === 'yaar:console') return this.printed(key, fields);
    if (typeof type === 'string' && type.startsWith('yaar:app-')) this.answered(key, type, fields);
  }

  /** A window is being closed; its app may want to know. */
  closing(key: string) {
    this.frames.get(key)?.post({ type: 'yaar:app-close' });
  }

  private registered(key: string, instance: unknown) {
    const frame = this.frames.get(key);
    if (!frame) return;
    if (frame.instance !== instance) frame.replayed = 0;
    Object.assign(frame, { ready: true, there: true, instance });
    this.announce(key, frame);
  }

  private announce(windowId: string, { instance, replayed }: Mounted) {
    const more = typeof instance === 'string' ? { instance, replayed } : {};
    this.send({ type: 'APP_PROTOCOL_READY', windowId, ...more });
  }

  private interacted(windowId: string, { content, instructions, toMonitor, inform }: Record<string, unknown>) {
    if (typeof content !== 'string' || content === '') return;
    const texts = Object.entries({ instructions, toMonitor }).filter(([, value]) => typeof value === 'string');
    const more = { ...Object.fromEntries(texts), ...(inform === true ? { inform } : {}) };
    const messageId = this.newKey();
    this.send({ type: 'WINDOW_MESSAGE', messageId, windowId, content, origin: 'app', ...more });
  }

  private changed(windowId: string, { stateKeys: keys, byPerson }: Record<string, unknown>) {
    const stateKeys = texts(keys);
    const more = byPerson === true ? { byPerson } : {};
    if (stateKeys.length > 0) this.remark('STATE_CHANGED', windowId, { stateKeys, ...more });
  }

  /** Only what was asked of this window can be under way in it. */
  private stepped(key: string, { of, done, total, note }: Record<string, unknown>) {
    if (typeof of !== 'string' || this.asked.get(of)?.key !== key || typeof done !== 'number') return;
    const more = { ...(typeof total === 'number' ? { total } : {}), ...(typeof note === 'string' ? { note } : {}) };
    this.remark('PROGRESS', key, { requestId: of, done, ...more });
  }

  private printed(key: string, { level, args }: Record<string, unknown>) {
    this.remark('CONSOLE', key, { level: String(level), args: texts(args) });
  }

  private remark(what: string, windowId: string, fields: object) {
    this.send({ type: `APP_PROTOCOL_${what}`, windowId, ...fields });
  }

  private answered(key: string, type: string, fields: Record<string, unknown>) {
    const requestId = String(fields.requestId);
    const asked = this.asked.get(requestId);
    // What nobody asked for is nothing.
    if (!asked) return;
    // What another window was asked for is for the server to refuse, and to keep on record.
    if (asked.key !== key) return this.respond(requestId, key, { kind: asked.kind });
    this.asked.delete(requestId);
    const known = Object.hasOwn(ANSWERS, type) ? ANSWERS[type] : undefined;
    if (!known) return this.respond(requestId, key, { kind: asked.kind, error: `Unknown response type: ${type}` });
    const { kind, field } = known;
    const { error } = fields;
    const value = fields[field] === undefined ? {} : { [field]: fields[field] };
    const response = { kind, ...value, ...(error ? { error } : {}) };
    const text = writtenReply(response);
    this.respond(requestId, key, 'error' in text ? { kind, error: text.error } : response);
  }

  private respond(requestId: string, windowId: string, response: object) {
    this.send({ type: 'APP_PROTOCOL_RESPONSE', requestId, windowId, response });
  }
}

/** Of a list, what is text; and of that no more than anybody reads. */
function texts(all: unknown): string[] {
  if (!Array.isArray(all)) return [];
  return all.filter((it) => typeof it === 'string').map((it) => it.slice(0, LONGEST)).slice(0, MOST);
}

function fieldsOf(message: unknown): Record<string, unknown> {
  return typeof message === 'object' && message !== null ? (message as Record<string, unknown>) : {};
}
