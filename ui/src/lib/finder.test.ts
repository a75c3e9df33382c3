import { expect, test } from 'vitest';
import { Finder } from './finder.svelte';
import type { Finding, FindingsAnswer } from './wire';

const hit = (seq: number): Finding => ({ seq, kind: 'answer', excerpt: `at ${seq}`, timestamp: '' });
const hits = (from: number, count: number) => Array.from({ length: count }, (_, at) => hit(from - at));

/** Answers each request in turn, and notes what was asked. */
function server(...pages: (FindingsAnswer | Error)[]) {
  const asked: [string, number | undefined][] = [];
  const request = (words: string, before: number | undefined) => {
    asked.push([words, before]);
    const page = pages.shift()!;
    return page instanceof Error ? Promise.reject(page) : Promise.resolve(page);
  };
  return { asked, finder: new Finder(request, (error) => (error as Error).message) };
}

test('stretches without anything are passed until something is found', async () => {
  const { asked, finder } = server({ found: [], before: 900 }, { found: hits(800, 2), before: 400 }, { found: [], before: null });
  await finder.look('  kite ');
  expect(asked).toEqual([['kite', undefined], ['kite', 900], ['kite', 400]]);
  expect([finder.found, finder.before, finder.busy]).toEqual([hits(800, 2), null, false]);
});

test('enough is enough until more is wanted', async () => {
  const { asked, finder } = server({ found: hits(90, 20), before: 70 }, { found: hits(60, 1), before: null });
  await finder.look('kite');
  expect([finder.found.length, finder.before]).toEqual([20, 70]);
  await finder.more();
  expect(asked).toEqual([['kite', undefined], ['kite', 70]]);
  expect([finder.found.length, finder.before]).toEqual([21, null]);
  await finder.more();
  expect(asked.length).toBe(2);
});

test('nothing is asked for no words, and what was found before goes', async () => {
  const { asked, finder } = server({ found: hits(9, 1), before: null });
  await finder.look('kite');
  await finder.look('  ');
  expect([asked.length, finder.found, finder.busy]).toEqual([1, [], false]);
});

test('an answer to earlier words is left aside', async () => {
  const answers: ((page: FindingsAnswer) => void)[] = [];
  const finder = new Finder(() => new Promise((resolve) => answers.push(resolve)), String);
  const [first, second] = [finder.look('kit'), finder.look('kite')];
  answers[1]!({ found: hits(5, 1), before: null });
  answers[0]!({ found: hits(9, 3), before: 4 });
  await Promise.all([first, second]);
  expect([finder.found, finder.before, finder.busy]).toEqual([hits(5, 1), null, false]);
});

test('what went wrong is said in words', async () => {
  const { finder } = server(new Error('no'), { found: hits(3, 1), before: null });
  await finder.look('kite');
  expect([finder.trouble, finder.busy]).toEqual(['no', false]);
  await finder.look('kite');
  expect([finder.trouble, finder.found.length]).toEqual(['', 1]);
});
