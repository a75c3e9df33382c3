// The frames and answers the server speaks, as plain types; no behaviour.
import type { DesktopEvent } from '../desktop/desktops.svelte';
import type { EventFrame } from './wire/events';
import type { FrameWord } from './wire/frames';

export type * from './wire/approvals';
export type * from './wire/events';
export type * from './wire/frames';
export type * from './wire/tasks';

/** What a session may do without asking. */
export type Mode = 'ask' | 'auto-safe' | 'full';

export interface SessionItem {
  sessionId: string;
  cwd: string | null;
  model: string | null;
  mode: Mode;
  name: string;
  summary: string | null;
  updatedAt: string | null;
  isBusy: boolean;
  isUnobserved: boolean;
  currentIntent: string | null;
  scheduleSlug: string | null;
  scheduleNextRun: string | null;
}

export interface Model {
  id: string;
  name: string;
  cost: number;
  /** In US dollars for a million tokens, where known. */
  price?: { input: number; output: number };
  contextWindow?: number;
  /** Who pays for what it uses. */
  payer?: string;
  /** It can look at pictures. */
  vision?: boolean;
}

/** A model with who pays for it. */
export interface ListedModel {
  id: string;
  name: string;
  payer: string;
  /** In tokens. */
  contextWindow?: number;
  /** Whether it sees pictures. */
  vision?: boolean;
  /** In US dollars, for a million tokens. */
  price?: { input: number; output: number };
}

export interface Preferences {
  lastCwd: string;
  lastModel: string;
  lastSessionId: string | null;
}

/** What this machine has that could answer. */
export interface WelcomeAnswer {
  firstRun: boolean;
  defaultModel: string;
  found: Found[];
}

export interface Found {
  what: string;
  payer: string;
  models: string[];
  usable: boolean;
  hint: string | null;
}

export interface SessionsAnswer {
  activeSessionId: string | null;
  currentCwd: string;
  grouped: Record<string, SessionItem[]>;
  unobservedCount: number;
  models: Model[];
}

export interface CreatedAnswer {
  sessionId: string;
  cwd: string;
  model: string;
}

export interface StateAnswer {
  sessionId: string;
  isBusy: boolean;
  queued: number;
  /** Those that wait, in their order. */
  queuedMessages?: { seq: number; text: string; key: string | null }[];
  /** From 1, empty, to 0, full. */
  contextRemaining: number | null;
  contextUsed?: number | null;
  contextWindow?: number | null;
  usage: Spent;
  turnUsage?: Spent;
}

/** `cost` is in US dollars, as far as prices are known. */
export interface Spent {
  inputTokens: number;
  outputTokens: number;
  cost: number;
}

export interface PromptAnswer {
  /** In the order in which they are told. */
  parts: { title: string; text: string }[];
  tools: { name: string; description: string }[];
}

export interface AcceptedAnswer {
  ok: true;
  sessionId: string;
  queued?: boolean;
  position?: number;
}

/** A device with a key of its own. */
export interface Device {
  id: string;
  name: string;
  scope: 'phone' | 'everything';
  sessionId: string | null;
  createdAt: string;
  lastSeenAt: string | null;
  connected: boolean;
}

/** A browser that is told of what happens. */
export interface PushBrowser {
  id: string;
  name: string;
  deviceId: string | null;
  /** Who carries the messages. */
  service: string;
  createdAt: string;
  lastSuccessAt: string | null;
  lastError: string | null;
  lastErrorAt: string | null;
  settings: PushSettings;
}

export interface PushSettings {
  questions: boolean;
  tasks: boolean;
  messages: boolean;
  answers: boolean;
  hideContent: boolean;
  quiet: { from: string; to: string; exceptQuestions: boolean } | null;
  timeZone: string | null;
}

/** How other machines reach the server, as far as they do. */
export interface Reach {
  host: string;
  local: boolean;
  url: string;
  /** The SHA-256 of the certificate, where the server encrypts. */
  fingerprint?: string;
}

/** A server of tools, and how it stands. */
export interface ToolServer {
  name: string;
  kind: string;
  place: string;
  state: 'disabled' | 'resting' | 'starting' | 'ready' | 'failed' | 'needs-sign-in';
  reason?: string;
  retryAt?: string;
  signInUrl?: string;
  since: string;
  starts: number;
  trusted: boolean;
  /** It is in the configuration file, and cannot be removed from here. */
  configured: boolean;
  protocol?: string;
  title?: string;
  tools: ServerTool[];
}

export interface ServerTool {
  name: string;
  offeredAs?: string;
  description: string;
  enabled: boolean;
  warning?: string;
}

export interface LogLine {
  at: string;
  text: string;
}

/** A picture the server keeps. */
export interface Picture {
  url: string;
  name: string;
}

export interface OutputAnswer {
  id: string;
  data: string;
  metadata: { type?: string; url?: string; playerUrl?: string; author?: string | null };
  createdAt: string;
}

export type GlobalEvent =
  | { type: 'session.busy'; data: { sessionId: string; isBusy: boolean } }
  | { type: 'session.listChanged'; data: { reason: string; sessionId: string; unobservedCount?: number } }
  | { type: 'applet.changed'; data: { slug: string } }
  | { type: 'app.changed'; data: { id: string } }
  | { type: 'approvals.changed'; data: { sessionId: string; open: number } }
  | { type: 'devices.changed'; data: object }
  | { type: 'schedule.changed'; data: object }
  | DesktopEvent;

/** Where words were found in a session. */
export interface Finding {
  seq: number;
  kind: 'message' | 'answer' | 'tool';
  toolCallId?: string;
  excerpt: string;
  timestamp: string;
}

export interface FindingsAnswer {
  /** Newest first. */
  found: Finding[];
  before: number | null;
}

export type ServerFrame =
  | EventFrame
  | { type: 'globalEvent'; event: GlobalEvent }
  | FrameWord
  | { type: 'pong'; id?: string }
  | { type: 'error'; id?: string; error: string };

/** One thing that happened to a window. */
export interface WindowEvent {
  seq: number;
  at: string;
  who: 'person' | 'agent' | 'program' | 'app' | 'house';
  /** Of an agent its model, of an app its id. */
  name?: string;
  what: string;
  text?: string;
  command?: {
    request: string;
    name: string;
    params?: string;
    came: 'open' | 'done' | 'failed';
    error?: string;
    undoes?: string;
    undo?: 'can' | 'undone' | 'covered' | 'passed';
  };
}
