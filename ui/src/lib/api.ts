// The HTTP requests the page makes, and what their failures mean to it.
import type { AcceptedAnswer, CreatedAnswer, PromptAnswer, SessionsAnswer, StateAnswer } from './wire';

/** The server answered, and the answer was no. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

export const sessions = () => ask<SessionsAnswer>('GET', '/api/sessions');
export const create = (model: string) => ask<CreatedAnswer>('POST', '/api/sessions', model ? { model } : {});
export const rename = (id: string, name: string) => ask('PATCH', session(id), { name });
export const choose = (id: string, model: string) => ask('PATCH', session(id), { model });
export const compact = (id: string) => ask<{ started: boolean }>('POST', `${session(id)}/compact`);
export const remove = (id: string) => ask('DELETE', session(id));
export const observe = (id: string) => ask('POST', `${session(id)}/observe`);
export const cancel = (id: string) => ask('POST', `${session(id)}/cancel`);
export const state = (id: string) => ask<StateAnswer>('GET', `${session(id)}/state`);

export const told = (id: string) => ask<PromptAnswer>('GET', `${session(id)}/prompt`);
export const instruct = (text: string) => ask('PUT', '/api/instructions', { text });

/** Says something to a session. Waits its turn if the session is busy; said once however often it is sent under one key. */
export function say(id: string, prompt: string, key: string): Promise<AcceptedAnswer> {
  return ask('POST', `${session(id)}/messages`, { prompt, queue: true }, { 'Idempotency-Key': key });
}

/** Tries until the server answers; a network that fails, or a gateway with nobody behind it, is no answer. */
export async function insist<T>(attempt: () => Promise<T>, pause: (attempts: number) => Promise<void>): Promise<T> {
  for (let attempts = 0; ; attempts += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (error instanceof Refused && ![502, 503, 504].includes(error.status)) throw error;
      await pause(attempts);
    }
  }
}

async function ask<T>(method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<T> {
  const request: RequestInit = { method, headers };
  if (body) {
    request.body = JSON.stringify(body);
    request.headers = { ...headers, 'Content-Type': 'application/json' };
  }
  const response = await fetch(path, request);
  if (response.ok) return response.json() as Promise<T>;
  const answer = (await response.json().catch(() => ({}))) as { error?: string };
  throw new Refused(response.status, answer.error ?? `The server answered ${response.status}.`);
}

function session(id: string): string {
  return `/api/sessions/${encodeURIComponent(id)}`;
}

/** A random UUID; made by hand because `crypto.randomUUID` is missing on plain-HTTP pages of a home network. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
