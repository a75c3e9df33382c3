// What waits for the person, how they answer, and what they allowed, as the server speaks of it.

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
