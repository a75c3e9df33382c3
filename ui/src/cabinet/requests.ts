// The requests that apps take.
import { ask, Refused } from '../lib/api';
import type { ListedApp, Looked } from './wire';

export const list = () => ask<{ apps: ListedApp[] }>('GET', '/api/apps');
/** Goes on its way even if the page is being left. */
export const remove = (id: string) =>
  ask('DELETE', `/api/apps/${encodeURIComponent(id)}`, undefined, {}, { keepalive: true });
/** What an archive holds and asks for. */
export const inspect = (file: File) => send(file, true);
export const install = (file: File) => send(file, false);

async function send(file: File, dryRun: boolean): Promise<Looked> {
  const query = new URLSearchParams({ name: file.name, dryRun: String(dryRun) });
  const headers = { 'Content-Type': 'application/octet-stream' };
  const response = await fetch(`/api/apps?${query}`, { method: 'POST', headers, body: file });
  if (response.ok) return response.json() as Promise<Looked>;
  const answer = (await response.json().catch(() => ({}))) as { error?: string; code?: string };
  throw new Refused(response.status, answer.error ?? '', answer.code);
}
