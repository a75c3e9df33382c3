// The requests that schedules take.
import { ask } from '../lib/api';
import type { Need, Run, Schedule, Timing, Wish } from './wire';

export const list = () => ask<{ schedules: Schedule[] }>('GET', '/api/schedule');
export const put = (slug: string, wish: Wish) => ask('PUT', place(slug), wish);
export const enable = (slug: string, enabled: boolean) => ask('PATCH', place(slug), { enabled });
export const remove = (slug: string) => ask('DELETE', place(slug));
export const run = (slug: string) => ask<{ sessionId: string }>('POST', `${place(slug)}/run`);
export const runs = (slug: string) => ask<{ runs: Run[] }>('GET', `${place(slug)}/runs?limit=20`);
export const preview = (schedule: Timing) =>
  ask<{ nextRuns: string[]; timezone: string }>('POST', '/api/schedule/preview', { schedule });
export const rehearse = (slug: string, wish: Wish) =>
  ask<{ needs: Need[]; trouble?: string }>('POST', `${place(slug)}/rehearse`, wish);

function place(slug: string): string {
  return `/api/schedule/${encodeURIComponent(slug)}`;
}
