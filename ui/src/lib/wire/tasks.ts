// Plans of several steps, as the server tells of them.

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

/** A plan that is under way. */
export interface OpenTask {
  id: string;
  sessionId: string;
  title: string;
}
