// The frames and answers the server speaks, as plain types; no behaviour.

export interface SessionItem {
  sessionId: string;
  cwd: string | null;
  model: string | null;
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
  /** From 1, empty, to 0, full. */
  contextRemaining: number | null;
  usage: { inputTokens: number; outputTokens: number; cost: number };
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

/** One thing that happened in a session. Types this page does not know are passed over. */
export interface SessionEvent {
  type: string;
  data: unknown;
  id?: string;
  timestamp?: string;
  parentId?: string | null;
  ephemeral?: boolean;
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
  | { type: 'session.listChanged'; data: { reason: string; sessionId: string; unobservedCount?: number } };

export type ServerFrame =
  | EventFrame
  | { type: 'globalEvent'; event: GlobalEvent }
  | { type: 'pong'; id?: string }
  | { type: 'error'; id?: string; error: string };

/** The events the conversation is made of. */
export type KnownEvent =
  | Happened<
      'user.message',
      { content: string; source?: string; appletSlug?: string; fromSession?: string; scheduleSlug?: string }
    >
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
  | Happened<'tool.execution_progress', { toolCallId: string; progressMessage: string }>
  | Happened<
      'tool.execution_complete',
      { toolCallId: string; success: boolean; result?: { content: string }; error?: { message: string } }
    >
  | Happened<'session.idle', object>
  | Happened<'session.error', { message: string }>
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
