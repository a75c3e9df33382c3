// What waits for the person in every session, kept up to date, and what became of it; knows nothing of how it is drawn.
import * as api from './api';
import { outcome } from './approvals';
import type { Approval, Completed, Ruling } from './wire';
import { words } from './words';

/** Something that went without this page having answered it. */
export interface Note {
  id: string;
  sessionId: string;
  text: string;
  /** Somebody here tried to answer, and was too late. */
  late: boolean;
}

export interface Doorbell {
  /** Something new waits. */
  rang(approval: Approval): void;
  refused(error: unknown): string;
}

const NOTED = 12_000;
const { notes } = words.approvals;

export class Inbox {
  waiting = $state.raw<Approval[]>([]);
  notes = $state.raw<Note[]>([]);
  /** What whoever cannot see the page should hear. */
  spoken = $state('');
  /** Whether it was told once what waits. */
  listed = $state(false);

  private running = false;
  private again = false;
  private settled = new Set<string>();
  /** Those this page is answering: their end is no news here. */
  private answering = new Set<string>();

  constructor(private bell: Doorbell) {}

  of(sessionId: string): Approval[] {
    return this.waiting.filter((it) => it.sessionId === sessionId);
  }

  /** Asks what waits; wishes that come while one is under way become one more. */
  async refresh(): Promise<void> {
    this.again = true;
    if (this.running) return;
    this.running = true;
    while (this.again) {
      this.again = false;
      await this.ask().catch((error: unknown) => this.bell.refused(error));
    }
    this.running = false;
  }

  /** So many wait in this session now. */
  changed(sessionId: string, open: number) {
    // A list that is on its way may be from before.
    if (open === 0 && !this.running && this.of(sessionId).length === 0) return;
    if (open === 0) for (const approval of this.of(sessionId)) this.vanished(approval);
    void this.refresh();
  }

  /** A question was settled, and this is how. */
  completed(done: Completed) {
    const approval = this.waiting.find((it) => it.id === done.approvalId);
    if (!approval) return;
    this.settle(approval.id);
    if (!this.answering.has(approval.id)) this.note(approval, notes.ended(approval.title, outcome(done)), false);
  }

  /** Answers; what it gives back is why that did not work, if it did not. */
  async decide(approval: Approval, ruling: Ruling): Promise<string> {
    this.answering.add(approval.id);
    try {
      await api.decide(approval.id, ruling);
      this.settle(approval.id);
      this.spoken = notes.taken(approval.title);
      return '';
    } catch (error) {
      const gone = error instanceof api.Refused && (error.status === 409 || error.status === 404);
      if (!gone) return this.bell.refused(error);
      this.settle(approval.id);
      this.note(approval, notes.late(approval.title), true);
      return '';
    } finally {
      this.answering.delete(approval.id);
    }
  }

  private async ask() {
    const { approvals } = await api.approvals();
    // The answer may be older than what the socket said while it was on its way.
    const now = approvals.filter((it) => !this.settled.has(it.id));
    const known = new Set(this.waiting.map((it) => it.id));
    const still = new Set(now.map((it) => it.id));
    for (const approval of this.waiting) if (!still.has(approval.id)) this.vanished(approval);
    this.waiting = now.filter((it) => !this.settled.has(it.id));
    const fresh = now.filter((it) => !known.has(it.id));
    // What waited before the page was opened is no news.
    if (this.listed) for (const approval of fresh) this.announce(approval);
    this.listed = true;
  }

  private announce(approval: Approval) {
    this.spoken = (approval.kind === 'approval' ? notes.needed : notes.asked)(approval.title);
    this.bell.rang(approval);
  }

  /** It is open no more, and nobody said how. */
  private vanished(approval: Approval) {
    this.settle(approval.id);
    if (!this.answering.has(approval.id)) this.note(approval, notes.elsewhere(approval.title), false);
  }

  private settle(id: string) {
    this.settled.add(id);
    this.waiting = this.waiting.filter((it) => it.id !== id);
  }

  private note({ id, sessionId }: Approval, text: string, late: boolean) {
    this.notes = [...this.notes.filter((it) => it.id !== id), { id, sessionId, text, late }];
    this.spoken = text;
    setTimeout(() => (this.notes = this.notes.filter((it) => it.id !== id)), NOTED);
  }
}
