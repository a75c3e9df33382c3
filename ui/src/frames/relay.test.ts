import { expect, test } from 'vitest';
import { Relay } from './relay';

function begin() {
  const world = { sent: [] as unknown[], open: true };
  const relay = new Relay((text) => {
    if (world.open) world.sent.push(JSON.parse(text));
    return world.open;
  });
  return { world, relay };
}

function listener() {
  const heard: unknown[] = [];
  return {
    heard,
    told: (message: unknown) => void heard.push(message),
    complained: (error: string) => void heard.push({ error }),
    gone: () => void heard.push('gone'),
  };
}

const hold = (frameId: string) => ({ type: 'holdFrame', frameId });
const message = (frameId: string, text: string) => ({ type: 'frameMessage', frameId, message: text });

test('what is said before the server knows of us waits for that', () => {
  const { world, relay } = begin();
  relay.hold('a', listener());
  relay.pass('a', '"early"');
  expect(world.sent).toEqual([hold('a')]);
  relay.heard({ type: 'frameHeld', frameId: 'a' });
  relay.pass('a', '"late"');
  relay.pass('b', '"of nobody"');
  expect(world.sent).toEqual([hold('a'), message('a', 'early'), message('a', 'late')]);
});

test('each frame hears what is said to it and nothing else', () => {
  const { relay } = begin();
  const [one, two] = [listener(), listener()];
  relay.hold('a', one);
  relay.hold('b', two);
  relay.heard({ type: 'frameMessage', frameId: 'a', message: { n: 1 } });
  relay.heard({ type: 'frameError', frameId: 'b', error: 'no' });
  relay.heard({ type: 'frameMessage', frameId: 'c', message: 5 });
  relay.drop('a');
  relay.heard({ type: 'frameMessage', frameId: 'a', message: 6 });
  expect([one.heard, two.heard]).toEqual([[{ n: 1 }], [{ error: 'no' }]]);
});

test('a new connection holds every frame anew, and what was said meanwhile arrives', () => {
  const { world, relay } = begin();
  relay.hold('a', listener());
  relay.heard({ type: 'frameHeld', frameId: 'a' });
  world.open = false;
  relay.pass('a', '"meanwhile"');
  world.open = true;
  world.sent = [];
  relay.again();
  relay.pass('a', '"after"');
  relay.heard({ type: 'frameHeld', frameId: 'a' });
  expect(world.sent).toEqual([hold('a'), message('a', 'meanwhile'), message('a', 'after')]);
});

test('a frame that the server has let go is let go here', () => {
  const { relay } = begin();
  const one = listener();
  relay.hold('a', one);
  relay.heard({ type: 'frameGone', frameId: 'a' });
  relay.heard({ type: 'frameGone', frameId: 'a' });
  expect(one.heard).toEqual(['gone']);
});

test('what was lost is asked for again', () => {
  const { world, relay } = begin();
  relay.hold('a', listener());
  relay.heard({ type: 'frameLost', frameId: 'a' });
  expect(world.sent).toEqual([hold('a'), hold('a')]);
});

test('there is an end to what waits', () => {
  const { world, relay } = begin();
  const one = listener();
  world.open = false;
  relay.hold('a', one);
  for (let count = 0; count < 201; count += 1) relay.pass('a', `${count}`);
  expect(one.heard).toEqual([{ error: 'the server cannot be reached, and no more messages fit in between' }]);
});

test('wishes of a frame reach whoever shows it, and notes the server, in the order of all that is said', () => {
  const { world, relay } = begin();
  const wishes: unknown[] = [];
  relay.hold('a', { ...listener(), wished: (wish) => void wishes.push(wish) });
  relay.hold('b', listener());
  relay.pass('a', '"first"');
  relay.note('a', { context: { theme: 'dark' } });
  relay.note('of nobody', { done: 1, ok: true });
  const wish = { id: 1, kind: 'open-link', url: 'https://a.example/' } as const;
  relay.heard({ type: 'frameWish', frameId: 'a', wish });
  relay.heard({ type: 'frameWish', frameId: 'b', wish });
  expect(wishes).toEqual([wish]);
  relay.heard({ type: 'frameHeld', frameId: 'a' });
  const note = { type: 'frameNote', frameId: 'a', note: { context: { theme: 'dark' } } };
  expect(world.sent).toEqual([hold('a'), hold('b'), message('a', 'first'), note]);
});
