// What must hold of what an agent is told: nothing left out, and the person's own part always there to be written.
import { expect, test } from 'vitest';
import { arranged, fits, size } from './told';

const session = { title: 'This session', text: 'You are an agent.' };
const folder = { title: 'AGENTS.md of this folder', text: 'Use tabs.' };
const tools = [{ name: 'read_file', description: 'Reads a file.' }];

test('the parts keep their order, each with its size', () => {
  const own = { title: 'From the person', text: 'Be kind.' };
  expect(arranged({ parts: [session, own, folder], tools })).toEqual({
    parts: [
      { ...session, size: '17 characters', kind: 'given' },
      { ...own, size: '8 characters', kind: 'own' },
      { ...folder, size: '9 characters', kind: 'given' },
    ],
    tools,
    size: '34 characters',
  });
});

test('who has said nothing yet finds the place to say it', () => {
  const { parts } = arranged({ parts: [session, folder], tools });
  expect(parts.map(({ title, kind, size }) => [title, kind, size])).toEqual([
    ['This session', 'given', '17 characters'],
    ['From the person', 'own', 'empty'],
    ['AGENTS.md of this folder', 'given', '9 characters'],
  ]);
});

test('what the server had to cut is shown but cannot be changed', () => {
  const long = { title: 'From the person', text: 'ä'.repeat(16 * 1024 + 1) };
  expect(arranged({ parts: [session, long], tools }).parts[1]!.kind).toBe('given');
  expect([fits('ä'.repeat(16 * 1024)), fits('ä'.repeat(16 * 1024 + 1))]).toEqual([true, false]);
});

test('sizes count what a person would count', () => {
  expect(['', 'a', '🏛️'.slice(0, 2), 'x'.repeat(1234)].map(size)).toEqual([
    'empty',
    '1 character',
    '1 character',
    '1,234 characters',
  ]);
});
