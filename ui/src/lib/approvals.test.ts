import { expect, test } from 'vitest';
import { asker, denial, lasting, left, outcome, plain, target, terms, type Lasting } from './approvals';

const now = new Date(2026, 4, 5, 22, 30);
const wish: Lasting = { reach: 'session', pattern: ' git * ', scope: 'always', length: 'endless' };

test('leave that lasts says how far it reaches and how long it holds', () => {
  expect(lasting(wish, now)).toEqual({ decision: 'session' });
  expect(lasting({ ...wish, length: 'hour' }, now)).toEqual({ decision: 'session', expiresInSeconds: 3600 });
  expect(lasting({ ...wish, reach: 'always', length: 'today' }, now)).toEqual({
    decision: 'always',
    expiresInSeconds: 5400,
  });
  expect(lasting({ ...wish, reach: 'view', length: 'hour' }, now)).toEqual({ decision: 'view' });
  expect(lasting({ ...wish, reach: 'pattern' }, now)).toEqual({
    decision: 'pattern',
    pattern: 'git *',
    scope: 'always',
  });
});

test('today lasts at least a minute, even just before midnight', () => {
  const late = new Date(2026, 4, 5, 23, 59, 59);
  expect(lasting({ ...wish, length: 'today' }, late)).toEqual({ decision: 'session', expiresInSeconds: 60 });
});

test('a denial carries a reason only where there is one', () => {
  expect(denial('  ')).toEqual({ decision: 'deny' });
  expect(denial(' not on a Friday ')).toEqual({ decision: 'deny', reason: 'not on a Friday' });
});

test('marks that are not seen are written out, and plain text is left alone', () => {
  expect(plain('rm \u202e~/ \u200b\x1b[8m x')).toBe('rm \\u{202e}~/ \\u{200b}\\u{1b}[8m x');
  expect(plain('two\n\tlines, ümlauts, 日本 and 👩‍🍳')).toBe('two\n\tlines, ümlauts, 日本 and 👩‍🍳');
});

test('whoever asks is named in words', () => {
  const callers = ['model', 'owner', 'client', 'widget:maps', 'agent:Paris:2', 'somebody:new'];
  expect(callers.map(asker)).toEqual([
    'the agent',
    'you',
    'another program',
    'the widget maps',
    'the agent Paris:2',
    'somebody:new',
  ]);
});

test('the time that is left is told roughly', () => {
  const start = now.getTime();
  const after = (seconds: number) => left(new Date(start + seconds * 1000).toISOString(), start);
  expect([86_400, 5399, 61, 59, 0, -5].map(after)).toEqual([
    '24 h left',
    '89 min left',
    '1 min left',
    'less than a minute left',
    'time is up',
    'time is up',
  ]);
  expect(left(undefined, start)).toBe('');
});

test('what came of a question says who answered', () => {
  const about = { approvalId: 'a', by: 'the page' } as const;
  expect([
    outcome({ ...about, verdict: 'allowed', scope: 'once' }),
    outcome({ ...about, verdict: 'allowed', scope: 'session', by: 'the terminal' }),
    outcome({ ...about, verdict: 'allowed', scope: 'always', by: 'the owner' }),
    outcome({ ...about, verdict: 'allowed', scope: 'view' }),
    outcome({ ...about, verdict: 'denied', by: '' }),
    outcome({ ...about, verdict: 'answered' }),
    outcome({ ...about, verdict: 'expired' }),
    outcome({ ...about, verdict: 'withdrawn' }),
  ]).toEqual([
    'Allowed once in the page',
    'Allowed for this session in the terminal',
    'Always allowed by the owner',
    'Allowed while the widget is shown in the page',
    'Denied elsewhere',
    'Answered in the page',
    'Nobody answered in time, so it was refused',
    'No longer asked',
  ]);
});

test('a grant tells its terms', () => {
  const grant = { id: 'g', tool: 'write_file', caller: 'model', grantedAt: now.toISOString() };
  expect(terms(grant, '', now)).toBe('for the agent, in every session, without end');
  expect(terms({ ...grant, caller: 'widget:maps', sessionId: 's', forView: true }, 'Guests', now)).toBe(
    'for the widget maps, in “Guests”, while it is shown',
  );
  const expiresAt = new Date(2026, 4, 5, 23, 5).toISOString();
  expect(terms({ ...grant, sessionId: 's', expiresAt }, 'Guests', now)).toBe('for the agent, in “Guests”, until 23:05');
});

test('what would be touched on a screen can be looked at, and nothing else', () => {
  const about = (tool: string, args: unknown) => target({ tool, detail: { type: 'arguments', args } });
  expect(about('computer', { device: 'my desk', type: 'mouse_click_at', arguments: { x: 5, y: 0 } })).toBe(
    '/api/desktop/target?device=my+desk&x=5&y=0',
  );
  const path = [
    [1, 2],
    [3, 4],
  ];
  expect(about('computer', { device: 'local', arguments: { path } })).toBe('/api/desktop/target?device=local&x=1&y=2');
  expect(about('keyboard_input', { device: 'local', arguments: { text: 'a\n' } })).toBe('/api/desktop/target?device=local');
  expect(about('computer', {})).toBe(undefined);
  expect(about('notes__computer', { device: 'local' })).toBe(undefined);
  expect(target({ tool: 'computer', detail: { type: 'address', url: 'https://a.example' } })).toBe(undefined);
});
