// What was said to and by an app, put together from what the server tells: one row for a request and all that came of it. Pure.
import type { AppRequest } from '../frames/windows';

/** One thing that happened, as the server tells it: on record with a `seq`, or only told with an `id`. */
export type Trace = { seq?: number; id?: number; at: string; windowId?: string } & What;

type What =
  | { type: 'ready'; connection: string; instance?: string; generation: number }
  | { type: 'lost'; reason: string }
  | { type: 'owner'; connection: string; reason: string }
  | ({ type: 'request'; requestId: string; cause: string; deadlineMs: number } & Requested)
  | ({ type: 'response'; requestId: string; error?: string; elapsedMs: number; late: boolean } & Answered)
  | { type: 'failed'; requestId: string; reason: string }
  | { type: 'rejected'; connection: string; requestId?: string; why: string }
  | { type: 'replay'; from: number; to: number; failed: number }
  | { type: 'retired' }
  | { type: 'interaction'; content: string; instructions?: string; inform: boolean }
  | { type: 'file'; path: string }
  | { type: 'handsTaken' }
  | { type: 'handsBack'; reason: string }
  | { type: 'edited'; stateKeys: string[] }
  | { type: 'progress'; requestId: string; done: number; total?: number; note?: string }
  | { type: 'stateChanged'; stateKeys: string[] }
  | { type: 'console'; connection: string; level: string; text: string }
  | { type: 'refused'; request: AppRequest; why: string }
  | { type: 'odd'; requestId?: string; what: string }
  | { type: 'leftOut'; count: number };

interface Requested {
  request: AppRequest;
  /** What was left out because it is large. */
  paramsBytes?: number;
  generation: number;
  idempotencyKey?: string;
}

interface Answered {
  kind?: string;
  value?: unknown;
  /** How a value begins that is too large to be told. */
  valueBegins?: string;
  valueBytes?: number;
}

export type Kind = 'query' | 'command' | 'event' | 'console';
export type Status = 'open' | 'done' | 'failed' | 'late' | 'note' | 'warning';

export interface Row {
  key: string;
  kind: Kind;
  status: Status;
  /** Everything that it is made of, in order. */
  traces: Trace[];
  /** How long an answer took. */
  elapsed: number | undefined;
}

/** So many are kept; of older ones the server knows. */
const MOST = 1000;

/** What came before and what is new, each once, in the order of time. */
export function merged(before: readonly Trace[], more: readonly Trace[]): Trace[] {
  const known = new Set(before.map(nameOf));
  const fresh = more.filter((it) => !known.has(nameOf(it)));
  if (fresh.length === 0) return [...before];
  return inOrder([...before, ...fresh]).slice(-MOST);
}

/** Rows of one window, oldest first. What is said of other windows, or of requests that are not here, is left out. */
export function rows(traces: readonly Trace[]): Row[] {
  const requests = new Map<string, Row>();
  const all: Row[] = [];
  for (const trace of traces) {
    const of = 'requestId' in trace && trace.type !== 'request' ? requests.get(trace.requestId ?? '') : undefined;
    if (of) {
      of.traces.push(trace);
      settle(of);
      continue;
    }
    if (trace.type === 'response' || trace.type === 'failed' || trace.type === 'progress') continue;
    const row = begun(trace);
    all.push(row);
    if (trace.type === 'request') requests.set(trace.requestId, row);
  }
  return all;
}

export interface Filter {
  /** Words that must all be there. */
  text: string;
  kinds: ReadonlySet<Kind>;
  /** Only what went wrong. */
  troubles: boolean;
}

export function filtered(all: readonly Row[], { text, kinds, troubles }: Filter): Row[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const isTrouble = ({ status }: Row) => status === 'failed' || status === 'late' || status === 'warning';
  const says = (row: Row) => {
    const said = words.length > 0 ? JSON.stringify(row.traces).toLowerCase() : '';
    return words.every((word) => said.includes(word));
  };
  return all.filter((row) => kinds.has(row.kind) && (!troubles || isTrouble(row)) && says(row));
}

/** What a row is about, in a few words of the protocol itself. */
export function subject({ traces }: Row): string {
  const [first] = traces;
  if (!first) return '';
  if (first.type === 'request' || first.type === 'refused') return named(first.request);
  if (first.type === 'console') return first.text;
  if (first.type === 'stateChanged' || first.type === 'edited') return first.stateKeys.join(', ');
  if (first.type === 'interaction') return first.content;
  if (first.type === 'file') return first.path;
  if (first.type === 'ready' || first.type === 'owner') return first.connection;
  if (first.type === 'lost' || first.type === 'handsBack') return first.reason;
  if (first.type === 'rejected') return first.why;
  if (first.type === 'odd') return first.what;
  return '';
}

/** The newest that is told of how far a request is; nothing once it has an outcome. */
export function progressOf({ status, traces }: Row) {
  if (status !== 'open') return undefined;
  return traces.findLast((it) => it.type === 'progress');
}

export function json(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? '';
}

function named(request: AppRequest): string {
  if (request.kind === 'command') return request.command;
  return request.kind === 'query' ? request.stateKey : 'manifest';
}

/** What an app can do is something it is asked as well. */
function kindOf({ kind }: AppRequest): Kind {
  return kind === 'command' ? 'command' : 'query';
}

function begun(trace: Trace): Row {
  const key = nameOf(trace);
  const row = { key, traces: [trace], elapsed: undefined };
  switch (trace.type) {
    case 'request':
      return { ...row, kind: kindOf(trace.request), status: 'open' };
    case 'refused':
      return { ...row, kind: kindOf(trace.request), status: 'failed' };
    case 'console':
      return { ...row, kind: 'console', status: ['error', 'warn'].includes(trace.level) ? 'warning' : 'note' };
    case 'rejected':
    case 'odd':
    case 'leftOut':
    case 'lost':
      return { ...row, kind: 'event', status: 'warning' };
    case 'replay':
      return { ...row, kind: 'event', status: trace.failed > 0 ? 'warning' : 'note' };
    default:
      return { ...row, kind: 'event', status: 'note' };
  }
}

/** An answer counts, and before that what became of it otherwise; what looks odd does not make it fail. */
function settle(row: Row) {
  const answer = row.traces.find((it) => it.type === 'response');
  const odd = row.traces.some((it) => it.type === 'odd' || it.type === 'rejected');
  row.elapsed = answer?.elapsedMs;
  if (!answer) row.status = row.traces.some((it) => it.type === 'failed') ? 'failed' : 'open';
  else if (answer.error !== undefined) row.status = 'failed';
  else row.status = answer.late ? 'late' : odd ? 'warning' : 'done';
}

function nameOf({ seq, id }: Trace): string {
  return seq === undefined ? `news ${id}` : `fact ${seq}`;
}

/**
 * Facts have their own order, and news theirs; between the two the time decides. Not its text: a fraction has only as many
 * digits as it needs, so that `.12Z` would come after `.123Z`.
 */
function inOrder(all: Trace[]): Trace[] {
  const facts = all.filter((it) => it.seq !== undefined).sort((one, other) => one.seq! - other.seq!);
  const news = all.filter((it) => it.seq === undefined).sort((one, other) => one.id! - other.id!);
  const both: Trace[] = [];
  let at = 0;
  for (const fact of facts) {
    while (at < news.length && Date.parse(news[at]!.at) < Date.parse(fact.at)) both.push(news[at++]!);
    both.push(fact);
  }
  return [...both, ...news.slice(at)];
}
