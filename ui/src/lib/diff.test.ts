import { expect, test } from 'vitest';
import { extent, isDiff, lines } from './diff';

const change = `--- a/notes.md
+++ b/notes.md
@@ -1,3 +1,3 @@ Guests
 Nestor
--- Telemachus
+++ Menelaus
 Helen
\\ No newline at end of file
`;

test('a diff is read with signs apart from text, and every line has its number', () => {
  expect(lines(change)).toEqual([
    { kind: 'file', text: '--- a/notes.md', number: null },
    { kind: 'file', text: '+++ b/notes.md', number: null },
    { kind: 'hunk', text: '@@ -1,3 +1,3 @@ Guests', number: null },
    { kind: 'same', text: 'Nestor', number: 1 },
    { kind: 'removed', text: '-- Telemachus', number: 2 },
    { kind: 'added', text: '++ Menelaus', number: 2 },
    { kind: 'same', text: 'Helen', number: 3 },
    { kind: 'note', text: 'No newline at end of file', number: null },
  ]);
  expect(extent(lines(change))).toEqual({ added: 1, removed: 1 });
});

test('several files and hunks of one line are read', () => {
  const two = '--- a\n+++ a\n@@ -1 +1 @@\n-x\n+y\n--- b\n+++ b\n@@ -0,0 +1 @@\n+z';
  expect(lines(two).map((line) => line.kind)).toEqual([
    ...['file', 'file', 'hunk', 'removed', 'added'],
    ...['file', 'file', 'hunk', 'added'],
  ]);
});

test('what is no diff at all is still shown whole', () => {
  expect(lines('one\ntwo').map((line) => line.text)).toEqual(['one', 'two']);
});

test('a diff is told from other text', () => {
  expect(isDiff(change)).toBe(true);
  expect(isDiff(`replaced it\n${change}`)).toBe(true);
  expect(isDiff('--- a title\n+++ not a diff')).toBe(false);
  expect(isDiff('')).toBe(false);
});
