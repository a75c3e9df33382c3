// What a conversation is made of, as a reader sees it; no behaviour.
import type { Approval, Completed, Picture, Step } from './wire';

export interface Said {
  kind: 'said';
  id: string;
  text: string;
  speaker: Speaker;
  /** Which applet, app or schedule it was; empty where one name is enough. */
  origin: string;
  pictures: Picture[];
}

export type Speaker = 'user' | 'applet' | 'app' | 'widget' | 'agent' | 'schedule';

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
  pictures: Picture[];
  /** When it began and ended, in milliseconds since 1970; null where that was not said. */
  since: number | null;
  until: number | null;
  /** By which it was known while the model still wrote it, and its widget was there already. */
  written?: string;
  /** What became of the widget that shows it, if one does. */
  widget?: WidgetState;
}

export interface WidgetState {
  /** Whose it is, once it was shown. */
  server: string;
  /** Its page is another than the last time. */
  changed: boolean;
  /** Why it does not work; empty while it does. */
  verdict: string;
  detail: string;
  /** What it counted to when that was found. */
  judged: number;
  /** Counts what has happened in it since. */
  news: number;
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
  /** Whether it was made here; it may have been in a part of the past that is not at hand. */
  begun: boolean;
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

/** `call` counts calls of the model; `at` is the last number heard when it came; `stale` marks text of a connection that was lost. */
export type Item = (Said | Answer | Thought | ToolCall | Asked | Plan | Embed | Notice | Compaction) & {
  call: number;
  at: number;
  stale?: true;
};
