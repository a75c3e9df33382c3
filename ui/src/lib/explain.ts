// What went wrong and what to do about it, in words; the one place that knows the codes of the server.
import { Refused } from './api';
import { words } from './words';

/** Why a request was not granted. */
export function explain(error: unknown): string {
  if (!(error instanceof Refused)) return words.errors.unreachable;
  const said = error.message || words.errors.answered(error.status);
  return joined(said, advice(error));
}

/** Why a turn failed, and what to do where that is known. */
export function failed({ message, errorType }: { message: string; errorType?: string }): string {
  const known: Record<string, string> = words.errors.turns;
  return joined(message, known[errorType ?? ''] ?? '');
}

function joined(said: string, more: string): string {
  return more ? `${said.replace(/[^.!?…]$/, '$&.')} ${more}` : said;
}

function advice({ code, status }: Refused): string {
  const known: Record<string, string> = words.errors.requests;
  if (known[code]) return known[code];
  if (status === 413) return words.errors.requests.PAYLOAD_TOO_LARGE;
  return [502, 503, 504].includes(status) ? words.errors.requests.SHUTTING_DOWN : '';
}
