// Events and frames in few words, for tests.
import type { EventFrame, SessionEvent } from './wire';

let made = 0;
const fresh = (prefix: string) => `${prefix}${(made += 1)}`;

export const said = (content: string, more: object = {}, id = fresh('u')): SessionEvent => ({
  type: 'user.message',
  data: { content, attachments: [], ...more },
  id,
});

export const delta = (messageId: string, deltaContent: string, replace = false): SessionEvent => ({
  type: 'assistant.message_delta',
  data: { messageId, deltaContent, ...(replace ? { replace } : {}) },
  id: fresh('d'),
  ephemeral: true,
});

export const answer = (messageId: string, content: string, id = fresh('a')): SessionEvent => ({
  type: 'assistant.message',
  data: { messageId, content, toolRequests: [] },
  id,
});

export const toolStart = (toolCallId: string, toolName: string, given: object = {}, id = fresh('t')): SessionEvent => ({
  type: 'tool.execution_start',
  data: { toolCallId, toolName, arguments: given },
  id,
});

export const toolDone = (toolCallId: string, content: string, id = fresh('t')): SessionEvent => ({
  type: 'tool.execution_complete',
  data: { toolCallId, success: true, result: { content } },
  id,
});

export const idle = (id = fresh('i')): SessionEvent => ({ type: 'session.idle', data: {}, id });

export const message = (event: SessionEvent, seq?: number): EventFrame => ({
  type: 'event',
  sessionId: 'S',
  event,
  ...(seq === undefined ? {} : { seq }),
});

/** Frames of stored facts: of each the last carries the number. Some numbers are skipped, as they are on the wire. */
export function facts(groups: EventFrame[][]): EventFrame[] {
  return groups.flatMap((frames, at) =>
    frames.map((frame, index) => (index === frames.length - 1 ? { ...frame, seq: 2 * at + 3 } : frame)),
  );
}
