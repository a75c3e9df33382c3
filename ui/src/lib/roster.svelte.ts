// The sessions the server has, kept up to date; knows nothing of what is said in them.
import * as api from './api';
import { flat, patched } from './sessions';
import type { CreatedAnswer, Mode, Model, SessionItem } from './wire';

export class Roster {
  sessions = $state.raw<SessionItem[]>([]);
  models = $state.raw<Model[]>([]);
  /** Where a new session works unless told otherwise. */
  folder = $state('');
  /** Whether the server has answered at all. */
  listed = $state(false);

  private running = false;
  private again = false;
  private busyNews = new Map<string, boolean>();

  constructor(private refused: (error: unknown) => void) {}

  find(id: string): SessionItem | undefined {
    return this.sessions.find((it) => it.sessionId === id);
  }

  /** Asks for the list; wishes that come while one is under way become one more. */
  async refresh(): Promise<void> {
    this.again = true;
    if (this.running) return;
    this.running = true;
    while (this.again) {
      this.again = false;
      await this.ask().catch(this.refused);
    }
    this.running = false;
  }

  busy(id: string, isBusy: boolean) {
    this.busyNews.set(id, isBusy);
    this.sessions = patched(this.sessions, id, { isBusy });
  }

  created({ sessionId, cwd, model }: CreatedAnswer) {
    if (this.find(sessionId)) return;
    const nothing = { summary: null, currentIntent: null, scheduleSlug: null, scheduleNextRun: null };
    const updatedAt = new Date().toISOString();
    this.sessions = [
      { ...nothing, sessionId, cwd, model, mode: 'ask', name: '', updatedAt, isBusy: false, isUnobserved: false },
      ...this.sessions,
    ];
  }

  renamed(id: string, name: string) {
    this.sessions = patched(this.sessions, id, { name });
  }

  chose(id: string, model: string) {
    this.sessions = patched(this.sessions, id, { model });
  }

  moded(id: string, mode: Mode) {
    this.sessions = patched(this.sessions, id, { mode });
  }

  removed(id: string) {
    this.sessions = this.sessions.filter((it) => it.sessionId !== id);
  }

  private async ask() {
    this.busyNews.clear();
    const answer = await api.sessions();
    let sessions = flat(answer);
    // The answer may be older than what the socket said while it was on its way.
    for (const [id, isBusy] of this.busyNews) sessions = patched(sessions, id, { isBusy });
    this.sessions = sessions;
    this.models = answer.models;
    this.folder = answer.currentCwd;
    this.listed = true;
  }
}
