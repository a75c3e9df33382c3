// The HTTP requests the page makes, and what their failures mean to it.
import type {
  AcceptedAnswer,
  Approval,
  CreatedAnswer,
  Device,
  EventsAnswer,
  FindingsAnswer,
  FrameOffer,
  FrameTicket,
  Grant,
  ListedModel,
  LogLine,
  Mode,
  OpenTask,
  OutputAnswer,
  Preferences,
  PromptAnswer,
  PushBrowser,
  PushSettings,
  Reach,
  Ruling,
  SessionsAnswer,
  StateAnswer,
  ToolServer,
  Verdict,
  WelcomeAnswer,
  WidgetView,
  WindowEvent,
} from './wire';
import { words } from './words';

/** By this name others learn where an answer was given. */
export const HERE = 'the page';

/** What a new session may be given; what is absent is as usual. */
export interface Chosen {
  cwd?: string;
  model?: string;
  mode?: Mode;
}

/** The server answered, and the answer was no. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
    /** What was wrong, for a program. */
    readonly code = '',
  ) {
    super(message);
  }
}

export const sessions = () => ask<SessionsAnswer>('GET', '/api/sessions');
export const create = (model: string) => ask<CreatedAnswer>('POST', '/api/sessions', model ? { model } : {});
export const begin = (chosen: Chosen) => ask<CreatedAnswer>('POST', '/api/sessions', chosen);
export const rename = (id: string, name: string) => ask('PATCH', session(id), { name });
export const choose = (id: string, model: string) => ask('PATCH', session(id), { model });
export const setMode = (id: string, mode: Mode) => ask('PATCH', session(id), { mode });
export const compact = (id: string) => ask<{ started: boolean }>('POST', `${session(id)}/compact`);
/** Goes on its way even if the page is being left. */
export const remove = (id: string) => ask('DELETE', session(id), undefined, {}, { keepalive: true });
export const observe = (id: string) => ask('POST', `${session(id)}/observe`);
export const cancel = (id: string) => ask('POST', `${session(id)}/cancel`);
export const state = (id: string) => ask<StateAnswer>('GET', `${session(id)}/state`);

/** A page of a session's past: what came before a number, or the newest. */
export const events = (id: string, before?: number, limit = 200) =>
  ask<EventsAnswer>('GET', `${session(id)}/events?limit=${limit}${before === undefined ? '' : `&before=${before}`}`);
/** Where words were said, from the newest on, in a stretch of the session that ends before a number. */
export const search = (id: string, sought: string, before?: number) => {
  const on = before === undefined ? '' : `&before=${before}`;
  return ask<FindingsAnswer>('GET', `${session(id)}/search?q=${encodeURIComponent(sought)}${on}`);
};
export const tasks = () => ask<{ tasks: OpenTask[] }>('GET', '/api/tasks');
/** From here on this browser must log in again. */
export const signOut = () => ask('POST', '/logout');

export const models = () => ask<{ models: ListedModel[] }>('GET', '/api/models');
export const preferences = () => ask<Preferences>('GET', '/api/preferences');
export const prefer = (change: Partial<Preferences>) => ask<Preferences>('POST', '/api/preferences', change);
/** What this machine has that could answer, and what answers in new sessions. */
export const welcome = () => ask<WelcomeAnswer>('GET', '/api/welcome');

export const told = (id: string) => ask<PromptAnswer>('GET', `${session(id)}/prompt`);
export const instruct = (text: string) => ask('PUT', '/api/instructions', { text });

export const approvals = () => ask<{ approvals: Approval[] }>('GET', '/api/approvals');
export const decide = (id: string, ruling: Ruling) =>
  ask<{ verdict: Verdict }>('POST', `/api/approvals/${encodeURIComponent(id)}`, ruling, { 'X-Client-ID': HERE });
export const grants = () => ask<{ grants: Grant[] }>('GET', '/api/grants');
/** Goes on its way even if the page is being left. */
export const revoke = (id: string) =>
  ask('DELETE', `/api/grants/${encodeURIComponent(id)}`, undefined, {}, { keepalive: true });

export const devices = () => ask<{ keys: Device[] } & Reach>('GET', '/api/keys');
export const pair = (name: string, scope: Device['scope']) =>
  ask<Device & Reach & { key: string }>('POST', '/api/keys', name ? { name, scope } : { scope });
export const unpair = (id: string) => ask('DELETE', `/api/keys/${encodeURIComponent(id)}`);

export const push = () => ask<{ publicKey: string; subscriptions: PushBrowser[] }>('GET', '/api/push');
/** What the browser says of its subscription, and where it is. */
export const subscribe = (told: object) => ask<PushBrowser>('POST', '/api/push/subscriptions', told);
export const changePush = (id: string, change: { name?: string; settings?: PushSettings }) =>
  ask<PushBrowser>('PATCH', pushBrowser(id), change);
export const unsubscribe = (id: string) => ask('DELETE', pushBrowser(id));
export const testPush = (id: string) => ask('POST', `${pushBrowser(id)}/test`);
const pushBrowser = (id: string) => `/api/push/subscriptions/${encodeURIComponent(id)}`;

export const output = (id: string) =>
  ask<OutputAnswer>('GET', `/api/outputs/${encodeURIComponent(id)}?format=json`);

export const servers = () => ask<{ servers: ToolServer[] }>('GET', '/api/mcp/servers');
export const addServer = (settings: object) => ask('POST', '/api/mcp/servers', settings);
export const removeServer = (name: string) => ask('DELETE', server(name));
export const changeServer = (name: string, change: { enabled?: boolean; tools?: Record<string, boolean> }) =>
  ask('PATCH', server(name), change);
export const restartServer = (name: string) => ask('POST', `${server(name)}/restart`);
export const serverLogs = (name: string) => ask<{ lines: LogLine[] }>('GET', `${server(name)}/logs`);

export interface Utterance {
  prompt: string;
  /** As `data:` addresses. */
  images?: string[];
  /** The number of an earlier message, which this one takes the place of. */
  replaces?: number;
}

/** Says something to a session. Waits its turn if the session is busy; said once however often it is sent under one key. */
export function say(id: string, said: Utterance, key: string): Promise<AcceptedAnswer> {
  const { images = [], ...rest } = said;
  const body = { ...rest, ...(images.length > 0 ? { images } : {}), queue: true };
  return ask('POST', `${session(id)}/messages`, body, { 'Idempotency-Key': key });
}

/** Takes back a message that waits for its turn. */
export const unqueue = (id: string, key: string) => ask('DELETE', `${session(id)}/queue/${encodeURIComponent(key)}`);

/** A picture that the server keeps, as it would be sent. */
export async function picture(url: string): Promise<string> {
  const response = await fetch(url);
  if (!response.ok) throw new Refused(response.status, words.errors.pictureGone);
  return asData(await response.blob());
}

export function asData(file: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error('unreadable'));
    reader.readAsDataURL(file);
  });
}

/** What can be opened in a frame. */
export async function frameOffers(): Promise<FrameOffer[]> {
  return (await ask<{ offers: FrameOffer[] }>('GET', '/api/frames')).offers;
}

/** The tools whose results are shown in widgets, by the names they have here. */
export async function widgets(): Promise<string[]> {
  const { widgets } = await ask<{ widgets: { tool: string }[] }>('GET', '/api/widgets');
  return widgets.map(({ tool }) => tool);
}

export function widgetView(sessionId: string, call: string): Promise<WidgetView> {
  return ask('GET', `/api/sessions/${encodeURIComponent(sessionId)}/widgets/${encodeURIComponent(call)}`);
}

/** Lets the widgets of a server use a feature of the browser, until that is taken back. */
export function allowFeature(server: string, feature: string): Promise<unknown> {
  return ask('POST', '/api/widgets/features', { server, feature });
}

export function openFrame(kind: string, id: string, sessionId: string, more: object = {}): Promise<FrameTicket> {
  return ask('POST', '/api/frames', { kind, id, sessionId: sessionId || null, ...more });
}

/** Opens an app in a window of a session, for everybody who looks at it. */
export function openWindow(sessionId: string, windowId: string, title: string, appId: string): Promise<unknown> {
  const content = { renderer: 'iframe', data: `/api/apps/${appId}/index.html` };
  return ask('POST', '/api/windows', { session: sessionId, windowId, title, content, appId });
}

/** Closes a window of a session, for everybody who looks at it. */
export function closeWindow(sessionId: string, key: string): Promise<unknown> {
  return ask('DELETE', `/api/windows/${encodeURIComponent(key)}?session=${encodeURIComponent(sessionId)}`);
}

/** What became of a window, the newest first. */
export function windowHistory(sessionId: string, key: string): Promise<{ events: WindowEvent[] }> {
  return ask('GET', `/api/windows/${encodeURIComponent(key)}/history?session=${encodeURIComponent(sessionId)}`);
}

/** Takes back a command of the app in a window. */
export function undoInWindow(sessionId: string, key: string, request: string): Promise<unknown> {
  return ask('POST', `/api/windows/${encodeURIComponent(key)}/undo`, { session: sessionId, request });
}

/** Notes for the agent what the person is looking at. */
export function noteApplet(id: string, items: string[]): Promise<unknown> {
  return ask('PATCH', session(id), { setContext: { setName: 'applet', items } });
}

/** Also while the page is being left. */
export function endFrame(frameId: string): Promise<unknown> {
  return ask('DELETE', `/api/frames/${encodeURIComponent(frameId)}`, undefined, {}, { keepalive: true });
}

/** Tries until the server answers; a network that fails, or a gateway with nobody behind it, is no answer. */
export async function insist<T>(attempt: () => Promise<T>, pause: (attempts: number) => Promise<void>): Promise<T> {
  for (let attempts = 0; ; attempts += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (error instanceof Refused && ![502, 503, 504].includes(error.status)) throw error;
      await pause(attempts);
    }
  }
}

export async function ask<T>(
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
  more: RequestInit = {},
): Promise<T> {
  const request: RequestInit = { method, headers, ...more };
  if (body) {
    request.body = JSON.stringify(body);
    request.headers = { ...headers, 'Content-Type': 'application/json' };
  }
  const response = await fetch(path, request);
  if (response.ok) return response.json() as Promise<T>;
  const answer = (await response.json().catch(() => ({}))) as { error?: string; code?: string };
  throw new Refused(response.status, answer.error ?? '', answer.code);
}

function session(id: string): string {
  return `/api/sessions/${encodeURIComponent(id)}`;
}

function server(name: string): string {
  return `/api/mcp/servers/${encodeURIComponent(name)}`;
}

/** A random UUID; made by hand because `crypto.randomUUID` is missing on plain-HTTP pages of a home network. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
