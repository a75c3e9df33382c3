// What the server says of schedules, as plain types; no behaviour.
import type { Detail } from '../lib/wire';

export type Missed = 'skip' | 'once' | 'all';
export type OnNewNeed = 'deny-and-continue' | 'end';
export type Timing =
  | { type: 'cron'; expression: string; timezone?: string }
  | { type: 'interval'; intervalMinutes: number };

export interface Schedule {
  slug: string;
  prompt: string;
  enabled: boolean;
  schedule: Timing;
  sessionConfig: { model?: string; persistSession: boolean };
  lastRun: string | null;
  lastResult: 'success' | 'error' | null;
  lastError: string | null;
  nextRun: string | null;
  sessionId: string | null;
  running: boolean;
  missed: Missed;
  onNewNeed: OnNewNeed;
}

export type Risk = 'reads' | 'shows' | 'edits' | 'runs_boxed' | 'runs' | 'reaches' | 'acts';

export interface Need {
  tool: string;
  title: string;
  risk: Risk;
  detail: Detail;
  subjects: string[];
  patterns: string[];
}

export interface Run {
  id: string;
  due: string;
  started: string | null;
  finished: string | null;
  outcome: 'success' | 'error' | 'cancelled' | 'skipped' | null;
  error: string | null;
  reason: string | null;
  sessionId: string | null;
  manual: boolean;
  needed: Need[];
}

export interface Leave {
  tool: string;
  pattern?: string;
}

export interface Wish {
  prompt: string;
  enabled: boolean;
  schedule: Timing;
  sessionConfig: { model?: string; persistSession: boolean };
  missed: Missed;
  onNewNeed: OnNewNeed;
  grants?: Leave[];
}
