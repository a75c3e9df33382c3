// What must hold of letters: each is sent once, in order, by one tab at a time, and none is lost on the way.
import { beforeEach, expect, test } from 'vitest';
import { Refused } from './api';
import { Outbox, type Letter, type Shelf } from './outbox';
import type { AcceptedAnswer } from './wire';

/** A server, a shelf and a lock that several tabs share. */
class World {
  letters = new Map<string, Letter>();
  said: string[] = [];
  log: string[] = [];
  /** What goes wrong with the next attempts, in order. */
  troubles: unknown[] = [];
  private keys = new Set<string>();
  private queue = Promise.resolve();

  shelf: Shelf = {
    all: () => [...this.letters.values()],
    put: (letter) => void this.letters.set(letter.key, letter),
    remove: (key) => void this.letters.delete(key),
  };

  tab(name: string): Outbox {
    return new Outbox(this.shelf, {
      deliver: (letter) => this.deliver(letter),
      alone: (run) => (this.queue = this.queue.then(run)),
      pause: async (attempts) => void this.log.push(`${name} pauses ${attempts}`),
      accepted: (letter) => this.log.push(`${name} sent ${letter.text}`),
      held: (letter) => this.log.push(`${name} holds ${letter.text}`),
      refused: (_, error) => (error as Error).message,
    });
  }

  async deliver({ key, text }: Letter): Promise<AcceptedAnswer> {
    await Promise.resolve();
    const trouble = this.troubles.shift();
    if (trouble) throw trouble;
    if (!this.keys.has(key)) this.said.push(text);
    this.keys.add(key);
    return { ok: true, sessionId: 'S' };
  }
}

let world: World;
let outbox: Outbox;
const letter = (text: string) => ({ key: text, sessionId: 'S', text, model: '' });
const idle = async (tab: Outbox) => {
  while (tab.letters().some((it) => !it.refused)) await Promise.resolve();
};

beforeEach(() => {
  world = new World();
  outbox = world.tab('A');
});

test('letters go in the order in which they were written, even within a moment', async () => {
  for (const text of ['b', 'a', 'c']) outbox.write(letter(text), 5);
  await idle(outbox);
  expect(world.said).toEqual(['b', 'a', 'c']);
  expect(outbox.letters()).toEqual([]);
});

test('what cannot be sent now holds back what is behind it, and is tried again', async () => {
  world.troubles = [new TypeError('no network'), new Refused(503, 'away'), new Refused(401, 'signed out')];
  outbox.write(letter('a'), 1);
  outbox.write(letter('b'), 2);
  await idle(outbox);
  expect(world.log).toEqual([
    ...[0, 1, 2].flatMap((attempt) => ['A holds a', `A pauses ${attempt}`]),
    'A sent a',
    'A sent b',
  ]);
});

test('what the server will not have stays for the person, and holds nobody back', async () => {
  world.troubles = [new Refused(413, 'too long')];
  outbox.write(letter('a'), 1);
  outbox.write(letter('b'), 2);
  await idle(outbox);
  expect(world.said).toEqual(['b']);
  expect(outbox.letters()).toEqual([{ ...letter('a'), at: 1, refused: 'too long' }]);
  outbox.remove('a');
  expect(outbox.letters()).toEqual([]);
});

test('a letter that is taken out before it goes is never sent', async () => {
  world.troubles = [new TypeError('no network')];
  outbox.write(letter('a'), 1);
  outbox.write(letter('b'), 2);
  outbox.remove('b');
  await idle(outbox);
  expect(world.said).toEqual(['a']);
});

test('two tabs send everything once, in order', async () => {
  const other = world.tab('B');
  outbox.write(letter('a'), 1);
  other.write(letter('b'), 1);
  outbox.write(letter('c'), 2);
  await Promise.all([outbox.run(), other.run()]);
  await idle(outbox);
  expect(world.said).toEqual(['a', 'b', 'c']);
  expect(world.log.filter((line) => line.includes('sent'))).toHaveLength(3);
});

test('a letter that arrived although nobody said so is sent again under its key, and said once', async () => {
  await world.deliver({ ...letter('a'), at: 1 });
  world.shelf.put({ ...letter('a'), at: 1 });
  await world.tab('after a reload').run();
  await idle(outbox);
  expect(world.said).toEqual(['a']);
});

test('what was meant for a session that had to be made follows it there', () => {
  world.troubles = [new TypeError('no network')];
  outbox.write({ ...letter('a'), sessionId: 'new:1' }, 1);
  outbox.write({ ...letter('b'), sessionId: 'new:2' }, 2);
  outbox.forward('new:1', 'S');
  expect(outbox.letters().map((it) => it.sessionId)).toEqual(['S', 'new:2']);
  outbox.forget('S');
  expect(outbox.letters().map((it) => it.text)).toEqual(['b']);
});

test('what a page left behind as taken is cleared away and not sent', async () => {
  world.shelf.put({ ...letter('a'), at: 1, taken: 'said' });
  await outbox.run();
  expect(world.said).toEqual([]);
  outbox.tidy();
  expect(outbox.letters()).toEqual([]);
});
