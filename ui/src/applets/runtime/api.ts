// What an applet can call: `window.appletAPI`, and how each of it is done from within the frame.
import type { Params } from './params';

export interface Applet {
  slug: string;
  name: string;
  description: string | null;
  params: Record<string, unknown>;
  updatedAt: string;
}

export interface AppletApi {
  setAppletState(state: Record<string, unknown>): void;
  onStateUpdate(hear: (state: Record<string, unknown>) => void): () => void;
  listApplets(): Promise<Applet[]>;
  getAppletSlug(): string | null;
  getAppletUrlParams(): Record<string, string>;
  updateAppletUrlParam(key: string, value: string): void;
  navigateAppletUrlParam(key: string, value: string): void;
  onUrlParamsChange(hear: (params: Record<string, string>) => void): void;
  sendAgentMessage(prompt: string, options?: { appletSlug?: string; imageData?: string }): Promise<void>;
  getSessionId(): string | null;
  saveTempFile(data: string, options?: { filename?: string; mimeType?: string }): Promise<unknown>;
  callMCPTool(name: string, params?: Record<string, unknown>): Promise<unknown>;
  expose(name: string | Record<string, unknown>, fn?: unknown): void;
}

/** What the API leans on. */
export interface House {
  slug: string;
  sessionId: string | null;
  params: Params;
  /** Passes plain data to the server. */
  send(message: unknown): void;
  /** Calls back with what comes from there; returns how to stop. */
  listen(hear: (data: Record<string, unknown>) => void): () => void;
  /** For addresses as applets write them. */
  fetch: typeof fetch;
  globals: Record<string, unknown>;
}

const IMAGE_CHARS = 102_400;

export function appletApi(house: House): AppletApi {
  const expose: AppletApi['expose'] = (name, fn) => {
    if (typeof name === 'object' && name !== null) Object.assign(house.globals, name);
    else if (fn !== undefined) house.globals[name] = fn;
  };
  return {
    setAppletState: (data) => house.send({ type: 'setState', data: plain(data) }),
    onStateUpdate: (hear) => house.listen(hear),
    listApplets: async () => ((await answer(house, '/api/applets')) as { applets: Applet[] }).applets,
    getAppletSlug: () => house.slug,
    getAppletUrlParams: () => house.params.all(),
    updateAppletUrlParam: (key, value) => house.params.set(key, String(value), 'replace'),
    navigateAppletUrlParam: (key, value) => house.params.set(key, value ? String(value) : '', 'push'),
    onUrlParamsChange: (hear) => house.params.listen(hear),
    getSessionId: () => house.sessionId,
    async sendAgentMessage(prompt, options = {}) {
      const { imageData, appletSlug = house.slug } = options;
      if (!house.sessionId) throw new Error('No active session - cannot send agent message');
      if (imageData && imageData.length > IMAGE_CHARS) throw new Error('Image too large (max 100KB)');
      const said = { prompt, source: 'applet', appletSlug, ...(imageData ? { imageData } : {}) };
      await answer(house, `/api/sessions/${house.sessionId}/messages`, said);
    },
    saveTempFile: (data, options = {}) => answer(house, '/api/tmpfile', { data, ...options }),
    async callMCPTool(name, params = {}) {
      const reply = (await answer(house, `/api/mcp/${encodeURIComponent(name)}`, params)) as { ok?: boolean; error?: string };
      if (!reply.ok) throw new Error(reply.error ?? 'the tool failed');
      return reply;
    },
    expose,
  };
}

/** As JSON carries it, so that what cannot be carried fails here and is seen by its author. */
function plain(data: unknown): Record<string, unknown> {
  const copy: unknown = JSON.parse(JSON.stringify(data ?? {}));
  if (typeof copy !== 'object' || copy === null || Array.isArray(copy)) throw new TypeError('Invalid state object');
  return copy as Record<string, unknown>;
}

/** The reply to a request; an error in the server's own words if it refused. */
async function answer(house: House, path: string, body?: unknown): Promise<unknown> {
  const headers = { 'Content-Type': 'application/json' };
  const sent = body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) };
  const response = await house.fetch(path, sent);
  const reply: unknown = await response.json().catch(() => undefined);
  if (response.ok) return reply;
  const error = (reply as { error?: unknown } | undefined)?.error;
  throw new Error(typeof error === 'string' ? error : `HTTP ${response.status}`);
}
