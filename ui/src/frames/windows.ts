// The windows of a session as the server tells of them: plain data, changed by one action after another.
import type { Trace } from '../inspector/traffic';

export type Renderer = 'markdown' | 'html' | 'text' | 'table' | 'image' | 'iframe';

export interface Shown {
  renderer: Renderer;
  data: unknown;
}

export interface SessionWindow {
  /** Its name among all windows of the session: `monitor-0/dock`. */
  key: string;
  title: string;
  content: Shown;
  app: string | undefined;
  /** Counts what was put in it; a frame with other content is another frame. */
  version: number;
}

export type Windows = ReadonlyMap<string, SessionWindow>;

export interface Action {
  type: string;
  windowId: string;
  monitorId?: string;
  title?: string;
  content?: Shown;
  operation?: Operation;
  appId?: string;
  hands?: 'agent' | 'person';
  driven?: boolean;
}

export type Operation =
  | { op: 'append' | 'prepend' | 'replace'; data: unknown }
  | { op: 'insertAt'; position: number; data: unknown }
  | { op: 'clear' };

/** What the server says of windows and their apps. */
export type DesktopFrame =
  | { type: 'CONNECTION_STATUS'; status: string; sessionId: string; windows?: number }
  | { type: 'ACTIONS'; actions: Action[]; monitorId?: string }
  | ({ type: 'APP_PROTOCOL_REQUEST'; requestId: string; windowId: string; request: AppRequest } & About)
  | ({ type: 'APP_PROTOCOL_PROGRESS'; windowId: string; monitorId?: string; requestId: string } & Step)
  | { type: 'APP_PROTOCOL_INSPECTING'; windowId?: string }
  | { type: 'APP_PROTOCOL_TRACE'; entries: Trace[] }
  | { type: 'ERROR'; error: string };

/** How far a command is, or that there is nothing more to tell. */
export type Step = { done: number; total?: number; note?: string; ended?: false } | { ended: true };

export type AppRequest =
  | { kind: 'manifest' }
  | { kind: 'query'; stateKey: string }
  | { kind: 'command'; command: string; params?: unknown };

/** What the server says of a request besides what is asked. */
export interface About {
  /** The document that it is for, where the server knows one. */
  instance?: string;
  /** Of a command that is given again: its place among all of them. */
  position?: number;
}

/** Whether a frame of the socket is one of these: their types alone are written in capitals. */
export function isDesktopFrame(frame: { type: string }): frame is DesktopFrame {
  return /^[A-Z_]+$/.test(frame.type);
}

export function keyOf(windowId: string, monitorId = 'monitor-0'): string {
  return windowId.includes('/') ? windowId : `${monitorId}/${windowId}`;
}

/** All there are now. One that shows the same as before is the same as before. */
export function replaced(before: Windows, actions: Action[]): Windows {
  const all = new Map<string, SessionWindow>();
  for (const action of actions) {
    const made = action.type === 'window.create' ? created(action, action.monitorId) : undefined;
    const known = made && before.get(made.key);
    const same = known && JSON.stringify(known.content) === JSON.stringify(made.content);
    if (made) all.set(made.key, { ...made, version: known ? known.version + (same ? 0 : 1) : 0 });
  }
  return all;
}

export function applied(windows: Windows, action: Action, monitorId?: string): Windows {
  const key = keyOf(action.windowId, action.monitorId ?? monitorId);
  const known = windows.get(key);
  if (action.type === 'window.create') {
    const made = created(action, monitorId);
    return made ? put(windows, { ...made, version: (known?.version ?? -1) + 1 }) : windows;
  }
  if (!known) return windows;
  switch (action.type) {
    case 'window.close':
      return new Map([...windows].filter(([name]) => name !== key));
    case 'window.setTitle':
      return put(windows, { ...known, title: action.title ?? known.title });
    case 'window.setContent':
      return action.content ? put(windows, { ...known, content: action.content, version: known.version + 1 }) : windows;
    case 'window.updateContent': {
      const content = action.operation && updated(known.content, action.operation);
      return content ? put(windows, { ...known, content, version: known.version + 1 }) : windows;
    }
    default:
      return windows;
  }
}

function created(action: Action, monitorId?: string): SessionWindow | undefined {
  if (!action.content) return undefined;
  const key = keyOf(action.windowId, action.monitorId ?? monitorId);
  return { key, title: action.title || action.windowId, content: action.content, app: action.appId, version: 0 };
}

function put(windows: Windows, window: SessionWindow): Windows {
  return new Map(windows).set(window.key, window);
}

function updated({ renderer, data }: Shown, operation: Operation): Shown {
  if (renderer === 'table') return { renderer, data: updatedTable(tableOf(data), operation) };
  if (operation.op === 'replace') return { renderer, data: operation.data };
  if (typeof data !== 'string') return { renderer, data };
  return { renderer, data: spliced([...units(data)], operation, (it) => units(String(it))).join('') };
}

/** As the server counts them, so that no character is cut in two. */
function units(text: string): string[] {
  return [...text].flatMap((it) => (it.length > 1 ? ['', it] : [it]));
}

function updatedTable(table: Table, operation: Operation): Table {
  // Other rows, or another table altogether.
  if (operation.op === 'replace' && !Array.isArray(operation.data)) return tableOf(operation.data);
  return { ...table, rows: spliced(table.rows, operation, rowsOf) };
}

function spliced<T>(list: T[], operation: Operation, read: (data: unknown) => T[]): T[] {
  switch (operation.op) {
    case 'append':
      return [...list, ...read(operation.data)];
    case 'prepend':
      return [...read(operation.data), ...list];
    case 'insertAt':
      return list.toSpliced(operation.position, 0, ...read(operation.data));
    case 'replace':
      return read(operation.data);
    case 'clear':
      return [];
  }
}

export interface Table {
  headers: string[];
  rows: string[][];
}

/** A table out of whatever is there. */
export function tableOf(data: unknown): Table {
  const { headers, rows } = (data ?? {}) as { headers?: unknown; rows?: unknown };
  return { headers: cellsOf(headers), rows: rowsOf(rows) };
}

function rowsOf(data: unknown): string[][] {
  return Array.isArray(data) ? data.map(cellsOf) : [];
}

function cellsOf(data: unknown): string[] {
  return Array.isArray(data) ? data.map((it: unknown) => (it === null ? '' : String(it))) : [];
}

/** Where an iframe or a picture comes from. */
export function addressOf({ data }: Shown): string {
  const address = typeof data === 'string' ? data : ((data ?? {}) as { url?: unknown }).url;
  return typeof address === 'string' ? address : '';
}

/** Whether it is shown in a frame of its own; all other addresses are shown as links. */
export function isFramed(content: Shown): boolean {
  if (content.renderer === 'html') return true;
  return content.renderer === 'iframe' && /^\/api\/apps\/[a-z][a-z0-9-]*\//.test(addressOf(content));
}
