// What a session's events add up to for a reader: a pure fold that knows nothing of sockets or components.
import { isDiff } from './diff';
import { failed } from './explain';
import type { Answer, Asked, Compaction, Item, Plan, Said, Speaker, Thought, ToolCall, WidgetState } from './items';
import type { Approval, KnownEvent, NumberedEvent, SessionEvent } from './wire';
import { words } from './words';

export type * from './items';

/** A message of ours that the session has not begun to answer. */
export interface Waiting {
  key: string;
  text: string;
  /** As `data:` addresses. */
  images: string[];
  /** `taken` by the server, which has not told of it yet; `waiting` for its turn there. */
  state: 'sending' | 'taken' | 'waiting' | 'failed';
  /** Why it has not been sent, if it has not. */
  reason: string;
}

export interface Conversation {
  items: Item[];
  waiting: Waiting[];
  intent: string;
  call: number;
  /** The last number heard. */
  last: number;
  /** What happened to things that are not here: they are in an earlier part of the past, which is told when it is at hand. */
  loose: SessionEvent[];
}

/** Of what a running tool prints, only so much of the end is kept. */
export const TAIL = 32_000;

export const empty: Conversation = { items: [], waiting: [], intent: '', call: 0, last: 0, loose: [] };

/** What the session is working through now, if it has said. */
export function planOf({ items }: Conversation): Plan | undefined {
  return items.findLast((it) => it.kind === 'plan' && it.state === 'open') as Plan | undefined;
}

/** Adds events in order; items that no event touches keep their identity. */
export function fold(conversation: Conversation, events: NumberedEvent[]): Conversation {
  const draft = { ...conversation, items: [...conversation.items] };
  for (const event of events) {
    draft.last = event.seq ?? draft.last;
    apply(draft, event as KnownEvent);
  }
  return draft;
}

/** Tells an earlier part of the past what happened later to the things in it, and nothing else. */
export function tied(conversation: Conversation, loose: SessionEvent[]): Conversation {
  const draft = { ...conversation, items: [...conversation.items] };
  for (const event of loose) finish(draft, event as KnownEvent);
  return draft;
}

/** What is left when everything from one number on was taken back, up to another if more came after that. */
export function takenBack(conversation: Conversation, before: number, until = Infinity): Conversation {
  const items = conversation.items.filter((item) => item.at < before || item.at >= until);
  return items.length === conversation.items.length ? conversation : { ...conversation, items };
}

/** The last message of the person's, if nothing of theirs waits: what "try again" would say once more. */
export function lastSaid({ items, waiting }: Conversation): (Said & { at: number }) | undefined {
  if (waiting.length > 0) return undefined;
  const last = items.findLast((it) => it.kind === 'said');
  return last?.kind === 'said' && last.speaker === 'user' && last.at > 0 ? last : undefined;
}

/** A new subscription begins: text that was still growing will be told again, whole, if it lives on. */
export function resumed(conversation: Conversation): Conversation {
  const items = conversation.items.map((item) => (isOpen(item) ? { ...item, stale: true as const } : item));
  return { ...conversation, items };
}

/** Nothing runs any more, whether or not an event said so; text that a lost connection left unfinished was never kept. */
export function settled(conversation: Conversation): Conversation {
  const draft = {
    ...conversation,
    items: conversation.items.filter((item) => !item.stale),
    // If it was taken it was said, and told of before this.
    waiting: conversation.waiting.filter((message) => message.state !== 'taken'),
  };
  dropRetry(draft);
  settle(draft);
  return draft;
}

/** Shows a message of ours before the session has taken it up. */
export function posted(conversation: Conversation, key: string, text: string, images: string[] = []): Conversation {
  const message: Waiting = { key, text, images, state: 'sending', reason: '' };
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
      const pictures = (event.data.attachments ?? []).flatMap(({ url, displayName }) =>
        url ? [{ url, name: displayName ?? '' }] : [],
      );
      add(draft, { kind: 'said', id, text: content, pictures, ...spoken(event.data) });
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
    case 'widget.writing': {
      const { id, toolName } = event.data;
      const known = draft.items.some((it) => it.kind === 'tool' && it.written === id);
      if (!known) put(draft, { ...begun(id, toolName, undefined, null), written: id });
      return;
    }
    case 'tool.execution_start':
    case 'tool.user_requested': {
      const { toolCallId, toolName } = event.data;
      const item = begun(toolCallId, toolName, event.data.arguments, moment(event.timestamp));
      if (!takeUp(draft, item)) put(draft, item);
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
    case 'tool.execution_complete':
    case 'permission.completed':
    case 'widget.shown':
    case 'widget.verdict':
    case 'widget.context':
    case 'widget.tools':
    case 'widget.call':
    case 'task.updated':
    case 'task.completed':
      finish(draft, event);
      return;
    case 'permission.requested':
      ask(draft, event.data.approval);
      return;
    case 'task.created':
      if (event.data.task.visibility !== 'hide') put(draft, { kind: 'plan', ...event.data.task, state: 'open', begun: true });
      return;
    case 'session.rewound':
      Object.assign(draft, takenBack(draft, event.data.before));
      settle(draft);
      return;
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
      add(draft, { kind: 'notice', id, tone: 'error', text: failed(event.data) });
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

function begun(id: string, name: string, given: unknown, since: number | null): Bare<ToolCall> {
  const nothing = { progress: '', share: null, output: '', diff: '', pictures: [] };
  return { kind: 'tool', id, name, arguments: given, state: 'running', ...nothing, since, until: null };
}

/** The model has finished writing a call whose widget is there already: that stays where it is. */
function takeUp(draft: Conversation, item: Bare<ToolCall>): boolean {
  const at = draft.items.findIndex((it) => it.kind === 'tool' && it.id === it.written && it.name === item.name);
  const written = draft.items[at];
  if (written?.kind !== 'tool' || draft.items.some((it) => it.kind === 'tool' && it.id === item.id)) return false;
  draft.items[at] = { ...written, ...item };
  return true;
}

/** What happens to something that is there already; where it is not, the event is kept for an earlier part. */
function finish(draft: Conversation, event: KnownEvent) {
  const found = finished(draft, event);
  if (!found) draft.loose = [...draft.loose, event];
}

function finished(draft: Conversation, event: KnownEvent): boolean {
  switch (event.type) {
    case 'tool.execution_complete': {
      const { success, result, error } = event.data;
      const output = (success ? result?.content : (error?.message ?? result?.content)) ?? '';
      return changeTool(draft, event.data.toolCallId, () => ({
        state: success ? 'succeeded' : 'failed',
        progress: '',
        share: null,
        output,
        diff: told(result?.data?.diff) || (isDiff(output) ? output : ''),
        pictures: (result?.images ?? []).map(({ url, name }) => ({ url, name: name ?? '' })),
        until: moment(event.timestamp),
      }));
    }
    case 'widget.shown': {
      const { toolCallId, server, changed } = event.data;
      return changeWidget(draft, toolCallId, { server, changed });
    }
    case 'widget.verdict': {
      const { toolCallId, verdict, detail } = event.data;
      const now = verdict === 'ok' ? { verdict: '', detail: '' } : { verdict, detail };
      return changeWidget(draft, toolCallId, now, true);
    }
    case 'widget.context':
    case 'widget.tools':
    case 'widget.call':
      return changeWidget(draft, event.data.toolCallId, {});
    case 'permission.completed': {
      const outcome = event.data;
      const at = draft.items.findLastIndex((it) => it.kind === 'asked' && it.id === outcome.approvalId);
      const asked = draft.items[at];
      if (asked?.kind === 'asked') draft.items[at] = { ...asked, outcome };
      return at >= 0;
    }
    case 'task.updated': {
      const { task } = event.data;
      const known = draft.items.findLast((it) => it.kind === 'plan' && it.id === task.id) as Plan | undefined;
      if (task.visibility === 'hide' && !known) return false;
      put(draft, { kind: 'plan', ...task, state: 'open', begun: known?.begun ?? false });
      return known?.begun ?? false;
    }
    case 'task.completed': {
      const { taskId, status } = event.data;
      const at = draft.items.findLastIndex((it) => it.kind === 'plan' && it.id === taskId);
      const plan = draft.items[at];
      if (plan?.kind !== 'plan') return false;
      draft.items[at] = { ...plan, state: status };
      return plan.begun;
    }
    default:
      return true;
  }
}

type Bare<T> = T extends unknown ? Omit<T, 'call' | 'at' | 'stale'> : never;
type BareItem = Bare<Item>;

function add(draft: Conversation, item: BareItem) {
  draft.items.push({ ...item, call: draft.call, at: draft.last });
}

/** Changes the item in its place, or adds it where it belongs. */
function put(draft: Conversation, item: BareItem) {
  const at = draft.items.findLastIndex((it) => it.kind === item.kind && it.id === item.id);
  const known = draft.items[at];
  if (known) {
    draft.items[at] = { ...item, call: known.call, at: known.at };
    return;
  }
  // Stored reasoning comes after the message it led to, but is read before it.
  const outcome = item.kind === 'thought' ? draft.items.findIndex((it) => it.call === draft.call && isOutcome(it)) : -1;
  const where = outcome >= 0 ? outcome : draft.items.length;
  draft.items.splice(where, 0, { ...item, call: draft.call, at: draft.last });
}

/** A question belongs right after the call that waits for it. */
function ask(draft: Conversation, approval: Approval) {
  const item: Asked = { kind: 'asked', id: approval.id, approval, outcome: null };
  const call = draft.items.findLastIndex((it) => it.kind === 'tool' && it.id === approval.toolCallId);
  const at = call < 0 ? draft.items.length : call + 1;
  draft.items.splice(at, 0, { ...item, call: draft.items[call]?.call ?? draft.call, at: draft.last });
}

function changeTool(draft: Conversation, id: string, change: (tool: ToolCall) => Partial<ToolCall>): boolean {
  const at = draft.items.findLastIndex((it) => it.kind === 'tool' && it.id === id);
  const tool = draft.items[at];
  if (tool?.kind === 'tool') draft.items[at] = { ...tool, ...change(tool) };
  return at >= 0;
}

const newWidget: WidgetState = { server: '', changed: false, verdict: '', detail: '', judged: 0, news: 0 };

function changeWidget(draft: Conversation, id: string, change: Partial<WidgetState>, judges = false): boolean {
  return changeTool(draft, id, ({ widget = newWidget }) => {
    const news = widget.news + 1;
    return { widget: { ...widget, ...change, judged: judges ? news : widget.judged, news } };
  });
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
  if (begun) draft.items[at] = { ...ended, id: begun.id, call: begun.call, at: begun.at };
  else add(draft, ended);
}

function settle(draft: Conversation) {
  draft.intent = '';
  // What was never written to its end was never called.
  const unsaid = (it: Item) => it.kind === 'tool' && it.id === it.written;
  if (draft.items.some(unsaid)) draft.items = draft.items.filter((it) => !unsaid(it));
  for (let at = turnStart(draft); at < draft.items.length; at += 1) {
    const item = draft.items[at]!;
    if (isOpen(item)) draft.items[at] = { ...item, open: false };
    else if (item.kind === 'tool' && item.state === 'running') draft.items[at] = { ...item, state: 'stopped' };
    else if (item.kind === 'compaction' && item.state === 'running')
      draft.items[at] = { ...item, state: 'failed', reason: words.chat.summing.stopped };
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

function isOpen(item: Item): item is (Answer | Thought) & { call: number; at: number } {
  return (item.kind === 'answer' || item.kind === 'thought') && item.open;
}

function isOutcome(item: Item): boolean {
  return item.kind === 'answer' || item.kind === 'tool';
}

function moment(timestamp: string | undefined): number | null {
  const moment = Date.parse(timestamp ?? '');
  return Number.isNaN(moment) ? null : moment;
}

function spoken(data: Extract<KnownEvent, { type: 'user.message' }>['data']): Pick<Said, 'speaker' | 'origin'> {
  if (data.appletSlug) return { speaker: 'applet', origin: data.appletSlug };
  if (data.scheduleSlug) return { speaker: 'schedule', origin: data.scheduleSlug };
  if (data.fromSession) return { speaker: 'agent', origin: '' };
  if (data.source === 'app') return { speaker: 'app', origin: data.appId ?? '' };
  if (data.source === 'widget') return { speaker: 'widget', origin: data.server ?? '' };
  const speaker = speakers.find((it) => it === data.source) ?? 'user';
  return { speaker: data.source === 'scheduler' ? 'schedule' : speaker, origin: '' };
}

const speakers: Speaker[] = ['applet', 'app', 'agent', 'schedule'];
