// What a session's events add up to for a reader: a pure fold that knows nothing of sockets or components.
import { isDiff } from './diff';
import type { Approval, Completed, KnownEvent, SessionEvent, Step } from './wire';

export interface Said {
  kind: 'said';
  id: string;
  text: string;
  /** Who said it when it was not the person: an applet, another agent or a schedule. */
  origin: string;
}

export interface Answer {
  kind: 'answer';
  id: string;
  text: string;
  open: boolean;
}

export interface Thought {
  kind: 'thought';
  id: string;
  text: string;
  open: boolean;
}

export interface ToolCall {
  kind: 'tool';
  id: string;
  name: string;
  arguments: unknown;
  state: 'running' | 'succeeded' | 'failed' | 'stopped';
  progress: string;
  /** How much of it is done, from 0 to 1; null where nobody knows. */
  share: number | null;
  /** While it runs, the end of what it has printed so far. */
  output: string;
  /** What it changed, if it says. */
  diff: string;
}

/** Something the person was asked; what still waits is drawn from the inbox, not from here. */
export interface Asked {
  kind: 'asked';
  id: string;
  approval: Approval;
  outcome: Completed | null;
}

export interface Plan {
  kind: 'plan';
  id: string;
  title: string;
  steps: Step[];
  state: 'open' | 'done' | 'failed' | 'cancelled';
}

/** Something of another site, to be played where it was shown. */
export interface Embed {
  kind: 'embed';
  /** Of the output that has all of it. */
  id: string;
  provider: string;
  title: string;
}

export interface Notice {
  kind: 'notice';
  id: string;
  /** `retry` is passing: it goes as soon as anything else happens. */
  tone: 'error' | 'info' | 'retry';
  text: string;
}

/** The past is summed up for the model; the reader still has all of it. */
export interface Compaction {
  kind: 'compaction';
  id: string;
  state: 'running' | 'done' | 'failed';
  summary: string;
  reason: string;
  /** How many tokens it took up before and after; null where that is not known. */
  before: number | null;
  after: number | null;
}

/** `call` counts calls of the model; `stale` marks text of a connection that was lost. */
export type Item = (Said | Answer | Thought | ToolCall | Asked | Plan | Embed | Notice | Compaction) & {
  call: number;
  stale?: true;
};

/** A message of ours that the session has not begun to answer. */
export interface Waiting {
  key: string;
  text: string;
  state: 'sending' | 'waiting' | 'failed';
  reason: string;
}

export interface Conversation {
  items: Item[];
  waiting: Waiting[];
  intent: string;
  call: number;
}

/** Of what a running tool prints, only so much of the end is kept. */
export const TAIL = 32_000;

export const empty: Conversation = { items: [], waiting: [], intent: '', call: 0 };

/** What the session is working through now, if it has said. */
export function planOf({ items }: Conversation): Plan | undefined {
  return items.findLast((it) => it.kind === 'plan' && it.state === 'open') as Plan | undefined;
}

/** Adds events in order; items that no event touches keep their identity. */
export function fold(conversation: Conversation, events: SessionEvent[]): Conversation {
  const draft = { ...conversation, items: [...conversation.items] };
  for (const event of events) apply(draft, event as KnownEvent);
  return draft;
}

/** A new subscription begins: text that was still growing will be told again, whole, if it lives on. */
export function resumed(conversation: Conversation): Conversation {
  const items = conversation.items.map((item) => (isOpen(item) ? { ...item, stale: true as const } : item));
  return { ...conversation, items };
}

/** Nothing runs any more, whether or not an event said so; text that a lost connection left unfinished was never kept. */
export function settled(conversation: Conversation): Conversation {
  const draft = { ...conversation, items: conversation.items.filter((item) => !item.stale) };
  dropRetry(draft);
  settle(draft);
  return draft;
}

/** Shows a message of ours before the session has taken it up. */
export function posted(conversation: Conversation, key: string, text: string): Conversation {
  const message: Waiting = { key, text, state: 'sending', reason: '' };
  return { ...conversation, waiting: [...conversation.waiting, message] };
}

export function marked(conversation: Conversation, key: string, state: Waiting['state'], reason = ''): Conversation {
  const waiting = conversation.waiting.map((it) => (it.key === key ? { ...it, state, reason } : it));
  return { ...conversation, waiting };
}

export function withdrawn(conversation: Conversation, key: string): Conversation {
  return { ...conversation, waiting: conversation.waiting.filter((it) => it.key !== key) };
}

function apply(draft: Conversation, event: KnownEvent) {
  dropStale(draft, event);
  dropRetry(draft);
  const id = event.id ?? `${event.type}-${draft.items.length}`;
  switch (event.type) {
    case 'user.message': {
      settle(draft);
      draft.call += 1;
      const { content } = event.data;
      const ours = draft.waiting.findIndex((it) => it.text === content);
      if (ours >= 0) draft.waiting = draft.waiting.filter((_, at) => at !== ours);
      add(draft, { kind: 'said', id, text: content, origin: origin(event.data) });
      return;
    }
    case 'assistant.turn_start':
      draft.call += 1;
      return;
    case 'assistant.intent':
      draft.intent = event.data.intent;
      return;
    case 'assistant.reasoning_delta': {
      const { reasoningId, deltaContent, replace } = event.data;
      const before = replace ? '' : textOf(draft, 'thought', reasoningId);
      put(draft, { kind: 'thought', id: reasoningId, text: before + deltaContent, open: true });
      return;
    }
    case 'assistant.reasoning':
      put(draft, { kind: 'thought', id: event.data.reasoningId, text: event.data.content, open: false });
      return;
    case 'assistant.message_delta': {
      const { messageId, deltaContent, replace } = event.data;
      const before = replace ? '' : textOf(draft, 'answer', messageId);
      put(draft, { kind: 'answer', id: messageId, text: before + deltaContent, open: true });
      return;
    }
    case 'assistant.message':
      if (event.data.content)
        put(draft, { kind: 'answer', id: event.data.messageId, text: event.data.content, open: false });
      return;
    case 'tool.execution_start':
    case 'tool.user_requested': {
      const { toolCallId, toolName } = event.data;
      put(draft, {
        kind: 'tool',
        id: toolCallId,
        name: toolName,
        arguments: event.data.arguments,
        state: 'running',
        progress: '',
        share: null,
        output: '',
        diff: '',
      });
      return;
    }
    case 'tool.execution_partial_result': {
      const { partialOutput } = event.data;
      changeTool(draft, event.data.toolCallId, (tool) => ({ output: (tool.output + partialOutput).slice(-TAIL) }));
      return;
    }
    case 'tool.execution_progress': {
      const { progressMessage, progress, total } = event.data;
      const share = progress !== undefined && total ? Math.min(1, Math.max(0, progress / total)) : null;
      changeTool(draft, event.data.toolCallId, () => ({ progress: progressMessage, share }));
      return;
    }
    case 'tool.execution_complete': {
      const { success, result, error } = event.data;
      const output = (success ? result?.content : (error?.message ?? result?.content)) ?? '';
      changeTool(draft, event.data.toolCallId, () => ({
        state: success ? 'succeeded' : 'failed',
        progress: '',
        share: null,
        output,
        diff: told(result?.data?.diff) || (isDiff(output) ? output : ''),
      }));
      return;
    }
    case 'permission.requested':
      ask(draft, event.data.approval);
      return;
    case 'permission.completed': {
      const outcome = event.data;
      const at = draft.items.findLastIndex((it) => it.kind === 'asked' && it.id === outcome.approvalId);
      const asked = draft.items[at];
      if (asked?.kind === 'asked') draft.items[at] = { ...asked, outcome };
      return;
    }
    case 'task.created':
    case 'task.updated':
      put(draft, { kind: 'plan', ...event.data.task, state: 'open' });
      return;
    case 'task.completed': {
      const { taskId, status } = event.data;
      const at = draft.items.findLastIndex((it) => it.kind === 'plan' && it.id === taskId);
      const plan = draft.items[at];
      if (plan?.kind === 'plan') draft.items[at] = { ...plan, state: status };
      return;
    }
    case 'caco.embed': {
      const { outputId, provider, title } = event.data;
      put(draft, { kind: 'embed', id: outputId, provider, title });
      return;
    }
    case 'session.idle':
      settle(draft);
      return;
    case 'session.error':
      settle(draft);
      add(draft, { kind: 'notice', id, tone: 'error', text: event.data.message });
      return;
    case 'session.info': {
      const tone = event.data.infoType === 'retry' ? 'retry' : 'info';
      add(draft, { kind: 'notice', id, tone, text: event.data.message });
      return;
    }
    case 'session.compaction_start':
      add(draft, { kind: 'compaction', id, state: 'running', summary: '', reason: '', before: null, after: null });
      return;
    case 'session.compaction_complete':
      endCompaction(draft, id, event.data);
      return;
    case 'system.message':
      add(draft, { kind: 'notice', id, tone: 'info', text: event.data.content });
      return;
  }
}

type Bare<T> = T extends unknown ? Omit<T, 'call' | 'stale'> : never;
type BareItem = Bare<Item>;

function add(draft: Conversation, item: BareItem) {
  draft.items.push({ ...item, call: draft.call });
}

/** Changes the item in its place, or adds it where it belongs. */
function put(draft: Conversation, item: BareItem) {
  const at = draft.items.findLastIndex((it) => it.kind === item.kind && it.id === item.id);
  const known = draft.items[at];
  if (known) {
    draft.items[at] = { ...item, call: known.call };
    return;
  }
  // Stored reasoning comes after the message it led to, but is read before it.
  const outcome = item.kind === 'thought' ? draft.items.findIndex((it) => it.call === draft.call && isOutcome(it)) : -1;
  const where = outcome >= 0 ? outcome : draft.items.length;
  draft.items.splice(where, 0, { ...item, call: draft.call });
}

/** A question belongs right after the call that waits for it. */
function ask(draft: Conversation, approval: Approval) {
  const item: Asked = { kind: 'asked', id: approval.id, approval, outcome: null };
  const call = draft.items.findLastIndex((it) => it.kind === 'tool' && it.id === approval.toolCallId);
  const at = call < 0 ? draft.items.length : call + 1;
  draft.items.splice(at, 0, { ...item, call: draft.items[call]?.call ?? draft.call });
}

function changeTool(draft: Conversation, id: string, change: (tool: ToolCall) => Partial<ToolCall>) {
  const at = draft.items.findLastIndex((it) => it.kind === 'tool' && it.id === id);
  const tool = draft.items[at];
  if (tool?.kind === 'tool') draft.items[at] = { ...tool, ...change(tool) };
}

function endCompaction(
  draft: Conversation,
  id: string,
  data: Extract<KnownEvent, { type: 'session.compaction_complete' }>['data'],
) {
  const ended: Bare<Compaction> = {
    kind: 'compaction',
    id,
    state: data.success === false ? 'failed' : 'done',
    summary: data.summaryContent ?? '',
    reason: data.error ?? '',
    before: data.preCompactionTokens ?? null,
    after: data.postCompactionTokens ?? null,
  };
  const at = draft.items.findLastIndex((it) => it.kind === 'compaction' && it.state === 'running');
  const begun = draft.items[at];
  if (begun) draft.items[at] = { ...ended, id: begun.id, call: begun.call };
  else add(draft, ended);
}

function settle(draft: Conversation) {
  draft.intent = '';
  for (let at = turnStart(draft); at < draft.items.length; at += 1) {
    const item = draft.items[at]!;
    if (isOpen(item)) draft.items[at] = { ...item, open: false };
    else if (item.kind === 'tool' && item.state === 'running') draft.items[at] = { ...item, state: 'stopped' };
    else if (item.kind === 'compaction' && item.state === 'running')
      draft.items[at] = { ...item, state: 'failed', reason: 'it was stopped' };
  }
}

/** Text of a lost connection goes as soon as the new one speaks of anything else. */
function dropStale(draft: Conversation, event: KnownEvent) {
  const start = turnStart(draft);
  const turn = draft.items.slice(start);
  if (!turn.some((item) => item.stale)) return;
  const { messageId, reasoningId } = event.data as { messageId?: string; reasoningId?: string };
  const told = messageId ?? reasoningId;
  draft.items.splice(start, turn.length, ...turn.filter((item) => !item.stale || item.id === told));
}

/** Whatever happens next, the wait is over. */
function dropRetry(draft: Conversation) {
  const last = draft.items.at(-1);
  if (last?.kind === 'notice' && last.tone === 'retry') draft.items.pop();
}

/** Where the running turn begins; nothing before it can still change. */
function turnStart(draft: Conversation): number {
  return Math.max(
    0,
    draft.items.findLastIndex((item) => item.kind === 'said'),
  );
}

function textOf(draft: Conversation, kind: 'answer' | 'thought', id: string): string {
  const item = draft.items.findLast((it) => it.kind === kind && it.id === id);
  return item && 'text' in item ? item.text : '';
}

function told(diff: unknown): string {
  return typeof diff === 'string' ? diff : '';
}

function isOpen(item: Item): item is (Answer | Thought) & { call: number } {
  return (item.kind === 'answer' || item.kind === 'thought') && item.open;
}

function isOutcome(item: Item): boolean {
  return item.kind === 'answer' || item.kind === 'tool';
}

function origin(data: { source?: string; appletSlug?: string; fromSession?: string; scheduleSlug?: string }): string {
  if (data.appletSlug) return `applet ${data.appletSlug}`;
  if (data.scheduleSlug) return `schedule ${data.scheduleSlug}`;
  if (data.fromSession) return 'another agent';
  return data.source && data.source !== 'user' ? data.source : '';
}
