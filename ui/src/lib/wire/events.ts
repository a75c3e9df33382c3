// What happens in a session, event by event, as the server tells it.
import type { Approval, Completed } from './approvals';
import type { Task } from './tasks';

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

export interface EventFrame {
  type: 'event';
  sessionId: string;
  /** Only on stored events, and of several frames made of one stored fact only on the last. */
  seq?: number;
  event: SessionEvent;
}

/** A part of a session's past. */
export interface EventsAnswer {
  frames: EventFrame[];
  /** What to ask for next, going backwards; null at the beginning. */
  before: number | null;
  /** The newest number there is. */
  last: number;
}

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
