import { describe, expect, test, vi } from 'vitest';
import { FileKeeper } from './keeper';
import { StorageLine } from './storage';

const PATH = 'apps/self/windows/w.json';

/** A server that keeps files, and can be told to fail. */
function server() {
  const files = new Map<string, string>();
  const house = { files, asked: [] as string[], status: 200, gate: Promise.resolve() };
  const fetch = async (address: unknown, init?: RequestInit) => {
    const path = String(address);
    house.asked.push(`${init?.method} ${path}`);
    await house.gate;
    if (house.status !== 200) return Response.json({ error: 'the shelf is full' }, { status: house.status });
    if (init?.method === 'POST') {
      files.set(path, String(init.body));
      return Response.json({ ok: true, path });
    }
    if (path.endsWith('?list=true')) return Response.json([...files.keys()].map((it) => ({ path: it })));
    return new Response(files.get(path));
  };
  return { ...house, house, fetch: fetch as typeof globalThis.fetch };
}

function tab(fetch: typeof globalThis.fetch, instance: string) {
  const storage = new StorageLine({ base: '/f/t/', token: 'x', readToken: undefined, fetch });
  const timers: (() => void)[] = [];
  const keeper = new FileKeeper(storage, PATH, instance, (act) => void timers.push(act));
  const it = { state: 'new', failures: [] as (string | undefined)[] };
  const restore = {
    save: () => it.state,
    load: (state: string) => void (it.state = state),
    failed: (error: string | undefined) => void it.failures.push(error),
  };
  return { keeper, it, restore, timers };
}

describe('what an app is like', () => {
  test('is there again in the next document', async () => {
    const { fetch } = server();
    const first = tab(fetch, 'one');
    expect(await first.keeper.open(first.restore)).toBe(true);
    first.it.state = 'changed';
    await first.keeper.now();
    const second = tab(fetch, 'two');
    expect(await second.keeper.open(second.restore)).toBe(true);
    expect(second.it.state).toBe('changed');
  });

  test('is written once for many changes, and not at all for none', async () => {
    const { fetch, asked } = server();
    const { keeper, it, restore, timers } = tab(fetch, 'one');
    await keeper.open(restore);
    it.state = 'a';
    keeper.soon();
    keeper.soon();
    expect(timers).toHaveLength(1);
    timers.shift()!();
    await vi.waitFor(() => expect(asked).toHaveLength(2));
    await keeper.now();
    expect(asked).toHaveLength(2);
  });

  test('is written although it changed before it was known what is kept', async () => {
    const { fetch, files, house } = server();
    const { keeper, it, restore, timers } = tab(fetch, 'one');
    let open = () => {};
    house.gate = new Promise((resolve) => (open = resolve));
    const opened = keeper.open(restore);
    it.state = 'early';
    keeper.soon();
    await keeper.now();
    expect(timers).toEqual([]);
    open();
    await opened;
    timers.shift()!();
    await vi.waitFor(() => expect(files.size).toBe(1));
    expect(JSON.parse([...files.values()][0]!)).toEqual({ version: 1, instance: 'one', state: 'early' });
  });

  test('is written again when it changed while it was being written', async () => {
    const { fetch, files, asked, house } = server();
    const { keeper, it, restore } = tab(fetch, 'one');
    await keeper.open(restore);
    let open = () => {};
    house.gate = new Promise((resolve) => (open = resolve));
    it.state = 'a';
    const first = keeper.now();
    await vi.waitFor(() => expect(asked).toHaveLength(2));
    it.state = 'b';
    const more = [keeper.now(), keeper.now()];
    open();
    await Promise.all([first, ...more]);
    expect(asked).toHaveLength(3);
    expect(JSON.parse([...files.values()][0]!)).toEqual({ version: 2, instance: 'one', state: 'b' });
  });

  test('is brought up to date when a tab is looked at after another has gone on', async () => {
    const { fetch } = server();
    const [one, two] = [tab(fetch, 'one'), tab(fetch, 'two')];
    await one.keeper.open(one.restore);
    await two.keeper.open(two.restore);
    two.it.state = 'from two';
    await two.keeper.now();
    await one.keeper.again();
    expect(one.it.state).toBe('from two');
    one.it.state = 'from one';
    await one.keeper.now();
    await two.keeper.again();
    await one.keeper.again();
    expect([one.it.state, two.it.state]).toEqual(['from one', 'from one']);
  });

  test('is not overwritten by another tab while it has changes of its own', async () => {
    const { fetch } = server();
    const [one, two] = [tab(fetch, 'one'), tab(fetch, 'two')];
    await one.keeper.open(one.restore);
    await two.keeper.open(two.restore);
    two.it.state = 'from two';
    await two.keeper.now();
    one.it.state = 'mine';
    one.keeper.soon();
    await one.keeper.again();
    expect(one.it.state).toBe('mine');
  });

  test('cannot be kept where the server says no, which the app hears', async () => {
    const { fetch, house } = server();
    house.status = 403;
    const { keeper, it, restore } = tab(fetch, 'one');
    expect(await keeper.open(restore)).toBe(false);
    await keeper.now();
    keeper.soon();
    expect(house.asked).toHaveLength(1);
    expect(it.failures).toEqual(['Error: the shelf is full']);
  });

  test('is tried again after a failure, and the app hears of both', async () => {
    const { fetch, house } = server();
    const { keeper, it, restore } = tab(fetch, 'one');
    await keeper.open(restore);
    house.status = 507;
    it.state = 'a';
    await keeper.now();
    house.status = 200;
    await keeper.now();
    expect(it.failures).toEqual(['Error: the shelf is full', undefined]);
  });
});
