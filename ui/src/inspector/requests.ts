// The requests that inspecting an app takes.
import { ask as request } from '../lib/api';
import type { Trace } from './traffic';

/** How things stand with an app. */
export interface Standing {
  windowId: string;
  appId?: string;
  readiness: 'none' | 'loading' | 'catching-up' | 'ready' | 'lost';
  owner?: string;
  loads: { connection: string; generation: number; instance?: string }[];
  manifest?: Manifest;
  connections: number;
  journal: number;
  waiting: number;
  open: number;
}

/** What an app says that it can do; anything may be missing. */
export interface Manifest {
  appId?: unknown;
  name?: unknown;
  state?: Record<string, { description?: unknown; schema?: unknown }>;
  commands?: Record<string, { description?: unknown; params?: unknown }>;
}

export interface Past {
  entries: Trace[];
  news: Trace[];
  before?: number;
}

export type Question = { stateKey: string } | { command: string; params?: Record<string, unknown> };

export interface Said {
  text: string;
  failed: boolean;
}

export const standing = (session: string, key: string) => request<Standing>('GET', `${place(key)}/app?${of(session)}`);

export const traffic = (session: string, key: string, before?: number) =>
  request<Past>('GET', `${place(key)}/traffic?${of(session)}${before === undefined ? '' : `&before=${before}`}`);

export const ask = (session: string, key: string, question: Question) =>
  request<Said>('POST', `${place(key)}/ask`, { session, ...question });

const place = (key: string) => `/api/windows/${encodeURIComponent(key)}`;
const of = (session: string) => `session=${encodeURIComponent(session)}`;
