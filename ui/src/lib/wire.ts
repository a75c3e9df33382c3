// The frames and answers the server speaks, as plain types; no behaviour.
import type { DesktopEvent } from '../desktop/desktops.svelte';

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

/** Something that waits for the person. Fields that do not apply to its kind are absent. */
export interface Approval {
  id: string;
  sessionId: string;
  /** Not in events. */
  sessionName?: string;
  kind: 'approval' | 'question' | 'form' | 'link';
  tool: string;
  toolCallId?: string;
  title: string;
  caller: string;
  /** It can be allowed to the widget that asks, for as long as that is shown. */
  forView?: boolean;
  why?: string;
  risk?: string;
  detail?: Detail;
  patterns?: string[];
  text?: string;
  choices?: string[];
  free?: boolean;
  schema?: unknown;
  url?: string;
  askedAt: string;
  expiresAt?: string;
}

/** What exactly would happen. */
export type Detail =
  | { type: 'command'; command: string; cwd: string; sandboxed: boolean; whyNot?: string }
  | { type: 'change'; path: string; diff: string }
  | { type: 'address'; url: string }
  | { type: 'arguments'; args: unknown };

export type Ruling =
  | { decision: 'once' | 'view' }
  | { decision: 'session' | 'always'; expiresInSeconds?: number }
  | { decision: 'pattern'; pattern: string; scope: 'view' | 'session' | 'always'; expiresInSeconds?: number }
  | { decision: 'deny'; reason?: string }
  | { decision: 'answer'; answer: unknown };

export type Verdict = 'allowed' | 'denied' | 'answered' | 'expired' | 'withdrawn';

export interface Completed {
  approvalId: string;
  verdict: Verdict;
  scope?: 'once' | 'view' | 'session' | 'always';
  by: string;
}

export interface Grant {
  id: string;
  tool: string;
  caller: string;
  /** For one widget alone, while it is shown. */
  forView?: boolean;
  sessionId?: string;
  /** In runs of this schedule alone. */
  scheduleSlug?: string;
  pattern?: string;
  expiresAt?: string;
  grantedAt: string;
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

export interface Task {
  id: string;
  title: string;
  steps: Step[];
  /** Where the agent has decided it. */
  visibility?: 'show' | 'hide';
}

export interface Step {
  text: string;
  status: 'pending' | 'active' | 'done' | 'failed' | 'skipped';
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

/** One thing that happened in a session. Types this page does not know are passed over. */
export interface SessionEvent {
  type: string;
  data: unknown;
  id?: string;
  timestamp?: string;
  parentId?: string | null;
  ephemeral?: boolean;
}

/** An event and, where its frame had one, the number. */
export type NumberedEvent = SessionEvent & { seq?: number };

/** A part of a session's past. */
export interface EventsAnswer {
  frames: EventFrame[];
  /** What to ask for next, going backwards; null at the beginning. */
  before: number | null;
  /** The newest number there is. */
  last: number;
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

export interface EventFrame {
  type: 'event';
  sessionId: string;
  /** Only on stored events, and of several frames made of one stored fact only on the last. */
  seq?: number;
  event: SessionEvent;
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

/** What concerns one frame, which is a window whose content lives on another origin. */
export type FrameWord =
  | { type: 'frameMessage'; frameId: string; message: unknown }
  | { type: 'frameError'; frameId: string; error: string }
  | { type: 'frameWish'; frameId: string; wish: FrameWish }
  | { type: 'frameHeld' | 'frameGone' | 'frameLost'; frameId: string };

export type DisplayMode = 'inline' | 'fullscreen' | 'pip';

/** What a widget wants of the page; consent has been asked for already. */
export type FrameWish =
  | { id: number; kind: 'open-link'; url: string }
  | { id: number; kind: 'download'; files: { name: string; mimeType: string; base64: string }[] }
  | { id: number; kind: 'display-mode'; mode: DisplayMode }
  | { kind: 'close'; reason?: string }
  | { kind: 'size'; width?: number; height?: number; aspectRatio?: number };

/** What a widget is told through the server: how a wish went, what is different around it, why it does not work. */
export type FrameNote =
  | { done: number; ok: boolean; mode?: DisplayMode }
  | { context: Record<string, unknown> }
  | { verdict: string; detail: string }
  | { gesture: true };

/** What became of the widget of a call. */
export interface WidgetView {
  /** Word for word what the model is told of it. */
  context?: { version: number; text: string; pictures?: { mimeType: string; url: string }[] };
  /** How it went; what is said beside `ok` is what was not heeded. */
  verdict?: { verdict: string; detail: string };
  /** What it lends to agents while it is shown; without `offered` it cannot be called. */
  tools: { name: string; description: string; offered: string | null }[];
  /** What it wants to use of the browser. */
  features: { feature: string; granted: boolean }[];
  /** What it asked for. */
  calls: { seq: number; method: string; outcome: string }[];
}

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

/** A plan that is under way. */
export interface OpenTask {
  id: string;
  sessionId: string;
  title: string;
}

/** What can be opened in a frame. */
export interface FrameOffer {
  kind: 'app' | 'applet';
  id: string;
  title: string;
  description: string;
  /** It belongs in a window of a session. */
  window?: boolean;
}

/** A frame that was opened. */
export interface FrameTicket {
  frameId: string;
  url: string;
  sandbox: string;
  allow: string;
  title: string;
  nonce: string;
}

export type ServerFrame =
  | EventFrame
  | { type: 'globalEvent'; event: GlobalEvent }
  | FrameWord
  | { type: 'pong'; id?: string }
  | { type: 'error'; id?: string; error: string };

/** The events the conversation is made of. */
export type KnownEvent =
  | Happened<
      'user.message',
      {
        content: string;
        attachments?: { url?: string; displayName?: string }[];
        source?: string;
        appletSlug?: string;
        appId?: string;
        server?: string;
        fromSession?: string;
        scheduleSlug?: string;
      }
    >
  | Happened<'caco.embed', { outputId: string; provider: string; title: string }>
  | Happened<'assistant.turn_start', { turnId: string }>
  | Happened<'assistant.intent', { intent: string }>
  | Happened<'assistant.reasoning_delta', { reasoningId: string; deltaContent: string; replace?: boolean }>
  | Happened<'assistant.reasoning', { reasoningId: string; content: string }>
  | Happened<'assistant.message_delta', { messageId: string; deltaContent: string; replace?: boolean }>
  | Happened<'assistant.message', { messageId: string; content: string }>
  | Happened<
      'tool.execution_start' | 'tool.user_requested',
      { toolCallId: string; toolName: string; arguments?: unknown }
    >
  | Happened<'tool.execution_partial_result', { toolCallId: string; partialOutput: string }>
  | Happened<
      'tool.execution_progress',
      { toolCallId: string; progressMessage: string; progress?: number; total?: number }
    >
  | Happened<
      'tool.execution_complete',
      {
        toolCallId: string;
        success: boolean;
        result?: {
          content: string;
          data?: { diff?: unknown };
          images?: { url: string; mimeType?: string; name?: string }[];
        };
        error?: { message: string };
      }
    >
  | Happened<'widget.writing', { id: string; toolName: string }>
  | Happened<'widget.shown', { toolCallId: string; server: string; changed: boolean }>
  | Happened<'widget.verdict', { toolCallId: string; verdict: string; detail: string }>
  | Happened<'widget.context' | 'widget.tools' | 'widget.call', { toolCallId: string }>
  | Happened<'permission.requested', { approval: Approval }>
  | Happened<'permission.completed', Completed>
  | Happened<'task.created' | 'task.updated', { task: Task }>
  | Happened<'task.completed', { taskId: string; status: 'done' | 'failed' | 'cancelled'; reason?: string }>
  | Happened<'session.rewound', { before: number }>
  | Happened<'session.idle', object>
  | Happened<'session.error', { message: string; errorType?: string }>
  | Happened<'session.info', { infoType?: string; message: string }>
  | Happened<'session.compaction_start', object>
  | Happened<
      'session.compaction_complete',
      {
        success?: boolean;
        error?: string;
        summaryContent?: string;
        preCompactionTokens?: number;
        postCompactionTokens?: number;
      }
    >
  | Happened<'system.message', { content: string }>;

interface Happened<Type extends string, Data> {
  type: Type;
  data: Data;
  id?: string;
  timestamp?: string;
}

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
