import { expect, test } from 'vitest';
import { Refused } from './api';
import { explain, failed } from './explain';

test('a refusal is told in the words of the server, with what to do', () => {
  expect(explain(new Refused(409, 'Session is busy processing another message', 'SESSION_BUSY'))).toBe(
    'Session is busy processing another message. Wait until it is done, or stop it.',
  );
  expect(explain(new Refused(404, 'Session not found: S', 'NOT_FOUND'))).toBe('Session not found: S');
});

test('what a gateway says is explained although it knows no codes', () => {
  expect(explain(new Refused(413, ''))).toBe(
    'The server answered 413. Send less at once: a shorter text, or a smaller file.',
  );
  expect(explain(new Refused(502, ''))).toMatch(/^The server answered 502\. .*try again/);
});

test('no answer at all is told from a refusal', () => {
  expect(explain(new TypeError('Failed to fetch'))).toMatch(/^The server cannot be reached\. /);
});

test('a failed turn has a remedy, unless nobody knows one', () => {
  expect(failed({ message: 'HTTP 429: slow down', errorType: 'rate_limit' })).toBe(
    'HTTP 429: slow down. Wait a minute and send it again, or choose another model.',
  );
  expect(failed({ message: 'a surprise', errorType: 'something new' })).toBe('a surprise');
  expect(failed({ message: 'a surprise' })).toBe('a surprise');
});
