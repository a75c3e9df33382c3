// What must hold of the inbox: what waits is listed, and what went says how.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Inbox } from './inbox.svelte';
import type { Approval } from './wire';

const approval = (id: string, sessionId = 'S'): Approval => ({
  ...{ id, sessionId, kind: 'approval', tool: 'write_file', title: `Writing ${id}`, caller: 'model' },
  askedAt: '2026-05-05T10:00:00Z',
});

let open: Approval[];
let answers: Record<string, () => Response>;
let rung: string[];
let inbox: Inbox;

beforeEach(() => {
  vi.useFakeTimers();
  open = [];
  answers = {};
  rung = [];
  inbox = new Inbox({ rang: (it) => rung.push(it.id), refused: (error) => String((error as Error).message) });
  vi.stubGlobal('fetch', async (path: string) => answers[path]?.() ?? Response.json({ approvals: open }));
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const titles = () => inbox.waiting.map((it) => it.title);
const notes = () => inbox.notes.map((it) => it.text);

test('what waited before is listed in silence, and what comes later is announced', async () => {
  open = [approval('a')];
  await inbox.refresh();
  expect([titles(), rung, inbox.spoken]).toEqual([['Writing a'], [], '']);
  open = [approval('a'), approval('b', 'T')];
  await inbox.refresh();
  expect([titles(), rung]).toEqual([['Writing a', 'Writing b'], ['b']]);
  expect(inbox.spoken).toBe('An approval is needed: Writing b');
  expect(inbox.of('T').map((it) => it.id)).toEqual(['b']);
});

test('what was answered elsewhere goes at once, and says by whom if that is known', async () => {
  open = [approval('a'), approval('b'), approval('c', 'T')];
  await inbox.refresh();
  inbox.completed({ approvalId: 'a', verdict: 'denied', by: 'the terminal' });
  inbox.changed('T', 0);
  expect([titles(), notes()]).toEqual([
    ['Writing b'],
    ['Writing a: denied in the terminal.', 'Writing c: answered elsewhere.'],
  ]);
  await vi.runAllTimersAsync();
  expect(notes()).toEqual([]);
});

test('an answer of the server that is older than the news brings nothing back', async () => {
  open = [approval('a')];
  await inbox.refresh();
  const listing = inbox.refresh();
  inbox.completed({ approvalId: 'a', verdict: 'allowed', scope: 'once', by: 'the page' });
  await listing;
  expect(titles()).toEqual([]);
});

test('what this page answers goes without a note, whether the news or the reply is first', async () => {
  open = [approval('a'), approval('b')];
  await inbox.refresh();
  answers['/api/approvals/a'] = () => {
    inbox.completed({ approvalId: 'a', verdict: 'allowed', scope: 'once', by: 'the page' });
    return Response.json({ verdict: 'allowed' });
  };
  answers['/api/approvals/b'] = () => Response.json({ verdict: 'denied' });
  expect(await inbox.decide(approval('a'), { decision: 'once' })).toBe('');
  expect(await inbox.decide(approval('b'), { decision: 'deny' })).toBe('');
  expect([titles(), notes()]).toEqual([[], []]);
});

test('who answers too late is told so', async () => {
  open = [approval('a')];
  await inbox.refresh();
  answers['/api/approvals/a'] = () => Response.json({ error: 'resolved' }, { status: 409 });
  expect(await inbox.decide(approval('a'), { decision: 'once' })).toBe('');
  expect([titles(), inbox.notes]).toEqual([
    [],
    [{ id: 'a', sessionId: 'S', text: 'Writing a: already answered.', late: true }],
  ]);
});

test('an answer that is refused leaves the question open and says why', async () => {
  open = [approval('a')];
  await inbox.refresh();
  answers['/api/approvals/a'] = () => Response.json({ error: 'the pattern does not cover it' }, { status: 400 });
  expect(await inbox.decide(approval('a'), { decision: 'once' })).toBe('the pattern does not cover it');
  expect([titles(), notes()]).toEqual([['Writing a'], []]);
});
