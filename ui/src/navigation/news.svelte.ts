// What happened while the person was away: gathered from what the server says, and remembered in this browser.
import * as api from '../lib/api';
import type { Hall } from '../lib/hall.svelte';
import { failures, looked, marked, read, type Memory } from '../lib/news';
import type { Schedule } from '../schedules/wire';
import * as requests from '../schedules/requests';

const KEY = 'megaron.news';
/** Much happens at once when a turn ends; one look is enough for all of it, in milliseconds. */
const SOON = 500;

export class News {
  private memory = $state.raw<Memory>(read(localStorage.getItem(KEY)));
  /** Undefined until the server was asked. */
  private schedules = $state.raw<Schedule[]>();
  private waiting: ReturnType<typeof setTimeout> | undefined;

  questions = $derived.by(() => this.hall.inbox.waiting);
  answers = $derived.by(() => {
    const { current, view, roster } = this.hall;
    return roster.sessions.filter((it) => it.isUnobserved && !(it.sessionId === current && view === 'chat'));
  });
  plans = $derived(this.memory.ended);
  failures = $derived(failures(this.schedules ?? [], this.memory.seen));
  /** Until all was asked for, there may be more than is counted. */
  isKnown = $derived.by(() => this.hall.roster.listed && this.hall.inbox.listed && this.schedules !== undefined);
  count = $derived(this.questions.length + this.answers.length + this.plans.length + this.failures.length);

  constructor(private hall: Hall) {}

  /** Looks again whenever something may have happened; within an effect. */
  watch() {
    const { pulse, roster, scheduled, current, view } = this.hall;
    void [scheduled, current, view, roster.sessions.filter((it) => it.isBusy).length];
    if (pulse.link !== 'open' || !roster.listed) return;
    this.waiting = setTimeout(() => void this.look(), SOON);
    return () => clearTimeout(this.waiting);
  }

  async look() {
    try {
      const [{ tasks }, { schedules }] = await Promise.all([api.tasks(), requests.list()]);
      const { current, view } = this.hall;
      this.schedules = schedules;
      this.keep(looked(this.memory, tasks, view === 'chat' && !document.hidden ? current : ''));
    } catch {
      // The connection says what is wrong, and another look follows when it is there again.
    }
  }

  /** All that is listed was seen, but what waits for an answer goes on waiting. */
  async see() {
    this.keep(marked(this.memory, new Date()));
    const all = this.answers.map(({ sessionId }) => api.observe(sessionId));
    // Not seen after all is no harm: it stays in the list.
    await Promise.allSettled(all);
    await this.hall.refresh();
  }

  private keep(memory: Memory) {
    this.memory = memory;
    localStorage.setItem(KEY, JSON.stringify(memory));
  }
}
