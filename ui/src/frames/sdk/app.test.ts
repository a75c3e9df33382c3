import { beforeEach, describe, expect, test, vi } from 'vitest';
import { AppLine, type Keeper } from './app';

/** A page around the frame that writes down what it is told. */
function frame(keeps = false) {
  const told: Record<string, unknown>[] = [];
  const timers: (() => void)[] = [];
  const log: string[] = [];
  const keeper: Keeper = {
    open: async (restore) => {
      log.push('opened');
      restore.load('before');
      return keeps;
    },
    soon: () => void log.push('soon'),
    now: async () => void log.push('kept'),
  };
  // As `postMessage` does it: copied, or thrown.
  const post = (message: unknown) => void told.push(structuredClone(message) as Record<string, unknown>);
  const app = new AppLine({ post, instance: 'one', keeper, later: (act) => void timers.push(act) });
  const ask = async (message: object) => {
    told.length = 0;
    expect(app.heard(message)).toBe(true);
    await vi.waitFor(() => expect(told).toHaveLength(1));
    return told[0];
  };
  const query = (stateKey: string) => ask({ type: 'yaar:app-query-request', requestId: 'r', stateKey });
  const command = (name: string, params?: unknown) =>
    ask({ type: 'yaar:app-command-request', requestId: 'r', command: name, params });
  return { app, told, timers, log, ask, query, command };
}

const answer = { type: 'yaar:app-command-response', requestId: 'r' };
const data = { type: 'yaar:app-query-response', requestId: 'r' };

test('what was changed by hand is told as that, and what a command changed is not', async () => {
  const told: unknown[] = [];
  const keeper: Keeper = { open: async () => false, soon() {}, now: async () => {} };
  const world = { post: (it: unknown) => void told.push(it), instance: 'one', keeper, later: (act: () => void) => act() };
  const app = new AppLine({ ...world, touched: () => true });
  const state = { n: { description: 'n', handler: () => 1 } };
  app.register({
    appId: 'a',
    name: 'A',
    state,
    commands: { set: { description: 'sets', handler: () => app.stateChanged('n') } },
  });
  told.length = 0;
  app.stateChanged('n');
  app.heard({ type: 'yaar:app-command-request', requestId: 'r', command: 'set' });
  await vi.waitFor(() => expect(told).toHaveLength(3));
  const changed = { type: 'yaar:app-state-changed', stateKeys: ['n'] };
  expect(told).toEqual([{ ...changed, byPerson: true }, changed, { type: 'yaar:app-command-response', requestId: 'r' }]);
});

describe('an app that is registered', () => {
  test('is announced each time, with the same instance', () => {
    const { app, told } = frame();
    app.register({ appId: 'a', name: 'A' });
    app.register({ appId: 'b', name: 'B' });
    expect(told).toEqual([
      { type: 'yaar:app-ready', appId: 'a', instance: 'one' },
      { type: 'yaar:app-ready', appId: 'b', instance: 'one' },
    ]);
    expect(() => app.register(undefined as never)).toThrow('yaar.app.register expects an object');
  });

  test('shows its manifest without its functions, with everything the server wants to know', async () => {
    const { app, ask } = frame();
    const handler = () => {};
    const more = {
      replay: 'last',
      timeoutMs: 9000,
      inverse: 'clear',
      aliases: ['put'],
      params: {},
      returns: {},
    } as const;
    app.register({
      appId: 'a',
      name: 'A',
      state: { cells: { description: 'all', schema: { type: 'object' }, handler } },
      commands: {
        set: { description: 'sets', ...more, aliases: ['put'], handler },
        clear: { description: 'clears', inverse: 'toString', handler, secret: 1 } as never,
        told: { description: 'says how', inverse: true, handler },
        fixed: { description: 'always', inverse: { command: 'set', params: { to: 1 } }, handler },
      },
    });
    const manifest = {
      appId: 'a',
      name: 'A',
      state: { cells: { description: 'all', schema: { type: 'object' } } },
      commands: {
        set: { description: 'sets', ...more },
        clear: { description: 'clears' },
        told: { description: 'says how', inverse: true },
        fixed: { description: 'always', inverse: { command: 'set', params: { to: 1 } } },
      },
    };
    expect(await ask({ type: 'yaar:app-manifest-request', requestId: 'm' })).toEqual({
      type: 'yaar:app-manifest-response',
      requestId: 'm',
      manifest,
    });
  });

  test('shows empty lists where it has none, and nothing when there is none', async () => {
    const { app, ask } = frame();
    const request = { type: 'yaar:app-manifest-request', requestId: 'm' };
    const reply = { type: 'yaar:app-manifest-response', requestId: 'm' };
    expect(await ask(request)).toEqual({ ...reply, manifest: null, error: 'No app registered' });
    app.register({ appId: 'a', name: 'A' });
    expect(await ask(request)).toEqual({ ...reply, manifest: { appId: 'a', name: 'A', state: {}, commands: {} } });
  });
});

describe('what the page asks', () => {
  let here: ReturnType<typeof frame>;
  beforeEach(() => {
    here = frame();
    const command = (handler: (...all: any[]) => unknown, more = {}) => ({ description: '', handler, ...more });
    here.app.register({
      appId: 'a',
      name: 'A',
      state: {
        now: { description: '', handler: () => [1, { two: null }] },
        later: { description: '', handler: async () => 'later' },
        nothing: { description: '', handler: () => undefined },
        manifest: { description: '', handler: () => 'mine' },
      },
      commands: {
        echo: command((params) => ({ params, absent: params === undefined })),
        add: command(({ by }: { by: number }) => by + 1, { aliases: ['plus', 'toString'] }),
        nothing: command(() => undefined),
        null: command(() => null),
        throws: command(() => {
          throw new TypeError('no');
        }),
        rejects: command(() => Promise.reject('words')),
        strange: command(() => Promise.reject(Object.create(null))),
        function: command(() => () => 1),
        thenable: command(() => ({ then: (done: (it: string) => void) => done('thenable') })),
        slow: command((_, call) => {
          call.progress(1, 4, 'a quarter');
          return call.replayed;
        }),
      },
    });
    here.told.length = 0;
  });

  test('is answered with data, at once or later, or with none', async () => {
    expect(await here.query('now')).toEqual({ ...data, data: [1, { two: null }] });
    expect(await here.query('later')).toEqual({ ...data, data: 'later' });
    expect(await here.query('manifest')).toEqual({ ...data, data: 'mine' });
    const none = await here.query('nothing');
    expect(none).toEqual(data);
    expect(Object.keys(none!)).not.toContain('data');
  });

  test('is answered with results, at once or later, or with none', async () => {
    expect(await here.command('echo', { a: 1 })).toEqual({ ...answer, result: { params: { a: 1 }, absent: false } });
    expect(await here.command('echo')).toEqual({ ...answer, result: { params: undefined, absent: true } });
    expect(await here.command('null')).toEqual({ ...answer, result: null });
    expect(await here.command('thenable')).toEqual({ ...answer, result: 'thenable' });
    expect(await here.command('nothing')).toEqual(answer);
  });

  test('is known by its aliases as well', async () => {
    expect(await here.command('plus', { by: 2 })).toEqual({ ...answer, result: 3 });
    expect(await here.command('toString', { by: 3 })).toEqual({ ...answer, result: 4 });
  });

  test('is refused by name when the app has no such thing of its own', async () => {
    for (const name of ['toLocaleString', '__proto__', 'constructor', 'valueOf', 'ad', '']) {
      expect(await here.command(name)).toEqual({ ...answer, error: `Unknown command: ${name}` });
      expect(await here.query(name)).toEqual({ ...data, error: `Unknown state key: ${name}` });
    }
  });

  test('is answered with what was thrown, in its own words', async () => {
    expect(await here.command('throws')).toEqual({ ...answer, error: 'TypeError: no' });
    expect(await here.command('rejects')).toEqual({ ...answer, error: 'words' });
    expect(await here.command('add')).toMatchObject({ error: expect.stringMatching(/^TypeError: /) });
    expect(await here.command('function')).toMatchObject({ error: expect.stringMatching(/^DataCloneError: /) });
    expect(await here.command('strange')).toEqual({
      ...answer,
      error: 'Error: something that cannot be written was thrown',
    });
  });

  test('is told how far a command has come, under a name that nobody takes for the answer', async () => {
    const request = { type: 'yaar:app-command-request', requestId: 'replay-w-1', command: 'slow' };
    here.app.heard(request);
    await vi.waitFor(() => expect(here.told).toHaveLength(2));
    expect(here.told).toEqual([
      { type: 'yaar:app-progress', of: 'replay-w-1', done: 1, total: 4, note: 'a quarter' },
      { type: 'yaar:app-command-response', requestId: 'replay-w-1', result: true },
    ]);
  });

  test('tells how far it is at once, then the newest now and then, and nothing after its end', async () => {
    let finish = () => {};
    const more = { description: '', handler: () => {} };
    here.app.register({
      appId: 'a',
      name: 'A',
      commands: {
        long: {
          ...more,
          handler: (_, call) => {
            for (const done of [1, 2, 3]) call.progress(done, 9);
            return new Promise<void>((end) => {
              finish = () => {
                call.progress(8, 9);
                end();
              };
            }).finally(() => setTimeout(() => call.progress(9, 9)));
          },
        },
      },
    });
    here.told.length = 0;
    here.timers.length = 0;
    here.app.heard({ type: 'yaar:app-command-request', requestId: 'r', command: 'long' });
    const step = (done: number) => ({ type: 'yaar:app-progress', of: 'r', done, total: 9 });
    expect(here.told).toEqual([step(1)]);
    here.timers.shift()!();
    expect(here.told).toEqual([step(1), step(3)]);
    finish();
    await vi.waitFor(() => expect(here.told).toHaveLength(3));
    here.timers.shift()!();
    expect(here.told).toEqual([step(1), step(3), answer]);
    expect(here.timers).toEqual([]);
  });

  test('is left to others when it is none of ours', () => {
    for (const other of [null, 5, 'yaar:app-query-request', {}, { type: 'notes' }, { type: 'yaar:app-query-response' }])
      expect(here.app.heard(other)).toBe(false);
    expect(here.told).toEqual([]);
  });
});

describe('an app by itself', () => {
  test('tells the agent words and data, and nothing when there is nothing to tell', () => {
    const { app, told } = frame();
    app.sendInteraction('saved');
    app.sendInteraction({ row: 1, instructions: 'look', toMonitor: '0' });
    app.sendInteraction('moved', { inform: true, instructions: 'none' });
    app.sendInteraction('');
    app.sendInteraction(undefined as never);
    expect(told).toEqual([
      { type: 'yaar:app-interaction', content: 'saved' },
      { type: 'yaar:app-interaction', content: '{"row":1}', instructions: 'look', toMonitor: '0' },
      { type: 'yaar:app-interaction', content: 'moved', instructions: 'none', inform: true },
    ]);
  });

  test('tells of changes at once, and of those that follow together', () => {
    const { app, told, timers } = frame();
    const state = { a: { description: '', handler: () => 1 }, b: { description: '', handler: () => 1 } };
    app.register({ appId: 'a', name: 'A', state });
    told.length = 0;
    app.stateChanged('a');
    app.stateChanged('b');
    app.stateChanged('a', 'toString');
    expect(told).toEqual([{ type: 'yaar:app-state-changed', stateKeys: ['a'] }]);
    timers.shift()!();
    expect(told.slice(1)).toEqual([{ type: 'yaar:app-state-changed', stateKeys: ['b', 'a'] }]);
    timers.shift()!();
    expect(timers).toEqual([]);
    expect(told).toHaveLength(2);
  });

  test('hears that its window is closed, and one listener that fails does not silence the others', () => {
    vi.stubGlobal('reportError', () => {});
    const { app, log } = frame();
    app.register({ appId: 'a', name: 'A', onClose: () => void log.push('closed') });
    const stop = app.onClose(() => log.push('never'));
    app.onClose(() => {
      throw new Error('broken');
    });
    stop();
    app.heard({ type: 'yaar:app-close' });
    expect(log).toEqual(['closed', 'kept']);
    vi.unstubAllGlobals();
  });
});

describe('an app that is restored', () => {
  const commands = {
    set: { description: '', handler: () => 1 },
    more: { description: '', replay: 'last' as const, handler: () => 1 },
  };
  const request = { type: 'yaar:app-manifest-request', requestId: 'm' };

  test('is ready once it is itself again, and repeats nothing but what it asks for', async () => {
    const here = frame(true);
    const loaded: unknown[] = [];
    const restore = { save: () => 1, load: (state: unknown) => void loaded.push(state) };
    here.app.register({ appId: 'a', name: 'A', commands, restore });
    expect(here.told).toEqual([]);
    await vi.waitFor(() => expect(here.told).toHaveLength(1));
    expect(loaded).toEqual(['before']);
    const { manifest } = (await here.ask(request)) as { manifest: { commands: object } };
    expect(manifest.commands).toEqual({
      set: { description: '', replay: 'never' },
      more: { description: '', replay: 'last' },
    });
    await here.command('set');
    await here.command('more');
    expect(here.log).toEqual(['opened', 'kept']);
  });

  test('has its commands repeated where nothing can be kept', async () => {
    const here = frame(false);
    here.app.register({ appId: 'a', name: 'A', commands, restore: { save: () => 1, load: () => {} } });
    await vi.waitFor(() => expect(here.told).toHaveLength(1));
    const { manifest } = (await here.ask(request)) as { manifest: { commands: object } };
    expect(manifest.commands).toEqual({ set: { description: '' }, more: { description: '', replay: 'last' } });
  });
});
