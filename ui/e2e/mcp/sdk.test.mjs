// What a program can do in the house through the protocol, with the clients that others use.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Server } from '../server.mjs';
import { command, discovering, initializing } from './clients.mjs';
import { Page } from './page.mjs';

/** @type {Server} */
let server;

before(async () => {
  server = await Server.fresh();
});

after(() => server.end());

const ours = [
  'ask_session',
  'send_message',
  'wait_for_session',
  'list_sessions',
  'create_session',
  'get_session',
  'cancel_session',
  'show_window',
  'look_at_window',
];
/** @param {number} count */
const words = (count) => Array.from({ length: count }, (_, n) => `word${n + 1}`).join(' ');
/** @param {string} path */
const file = (path) => `file://${join(server.workspace, path)}`;

/** Counts what is heard of lists, and looks again whenever something is. */
function heardLists() {
  /** @type {string[]} */
  const heard = [];
  let wake = () => {};
  return {
    heard: (/** @type {string} */ list) => {
      heard.push(list);
      wake();
    },
    count: (/** @type {string} */ list) => heard.filter((it) => it === list).length,
    until: async (/** @type {() => Promise<boolean>} */ holds) => {
      for (;;) {
        const { length } = heard;
        if (await holds()) return;
        if (heard.length === length) await new Promise((more) => (wake = () => more(undefined)));
      }
    },
  };
}

function countingApp() {
  let n = 0;
  const params = { type: 'object', properties: { by: { type: 'number' } } };
  const inc = { description: 'Counts', params, returns: { type: 'object', properties: { n: { type: 'number' } } } };
  const manifest = { appId: 'counter', name: 'Counter', state: { n: {} }, commands: { inc } };
  return {
    /** @param {import('./page.mjs').Asked} asked */
    answer: (asked) => {
      if (asked.kind === 'manifest') return { manifest };
      if (asked.kind === 'command') n += asked.params.by;
      return asked.kind === 'command' ? { result: { n } } : { data: n };
    },
  };
}

const eras = { initializing, discovering };
for (const [era, visit] of Object.entries(eras)) {
  for (const way of /** @type {const} */ (['http', 'pipe'])) {
    describe(`a client that is ${era}, over ${way}`, () => {
      /** @type {import('./clients.mjs').Visitor} */
      let visitor;
      before(async () => {
        visitor = await visit(server, way);
      });
      after(() => visitor.leave());

      test('sees who it is, and what it can call', async () => {
        assert.equal(visitor.client.getServerVersion()?.name, 'megaron');
        const { tools } = await visitor.client.listTools();
        assert.deepEqual(
          tools.slice(0, ours.length).map((tool) => tool.name),
          ours,
        );
        const reading = tools.find((tool) => tool.name === 'read_file');
        assert.deepEqual(reading?.annotations, { readOnlyHint: true, idempotentHint: true, openWorldHint: false });
        const writing = tools.find((tool) => tool.name === 'write_file');
        assert.deepEqual(writing?.annotations, { readOnlyHint: false, destructiveHint: true, openWorldHint: false });
      });

      test('asks, hears how the answer comes, and goes on', async () => {
        /** @type {{ progress: number, message?: string }[]} */
        const heard = [];
        const options = { onprogress: (/** @type {any} */ progress) => heard.push(progress) };
        const { content, structuredContent, isError } = await visitor.call('ask_session', { prompt: '/long 200' }, options);
        const { sessionId } = structuredContent;
        assert.deepEqual(structuredContent, { sessionId, answer: words(200), outcome: 'finished' });
        assert.deepEqual(content, [{ type: 'text', text: words(200) }]);
        assert.equal(isError, false);
        // In how many pieces, if any, is a matter of time; that there are some is seen where they cancel.
        assert.ok(words(200).startsWith(heard.map(({ message }) => message).join('')));
        assert.deepEqual(
          heard.map(({ progress }) => progress),
          heard.map((_, n) => n + 1),
        );
        const again = await visitor.call('ask_session', { sessionId, prompt: '/long 2' });
        assert.deepEqual(again.structuredContent, { sessionId, answer: words(2), outcome: 'finished' });
      });

      test('hears what went wrong', async () => {
        const failed = await visitor.call('ask_session', { prompt: '/fail refused' });
        const { outcome, error } = failed.structuredContent;
        assert.deepEqual([failed.isError, outcome, failed.content], [true, 'failed', [{ type: 'text', text: error }]]);
        const unknown = await visitor.call('get_session', { sessionId: 'nobody' });
        const text = 'no session is called `nobody`; `list_sessions` tells which there are';
        assert.deepEqual([unknown.isError, unknown.content], [true, [{ type: 'text', text }]]);
        const escalated = await visitor.call('create_session', { mode: 'full' });
        assert.match(escalated.content[0]?.text ?? '', /`full` is for the person to choose/);
        await assert.rejects(visitor.call('no_such_tool'), /Unknown tool: no_such_tool/);
      });

      test('makes a session, says something, waits for it and looks at it', async () => {
        const made = await visitor.call('create_session', { name: 'A room', model: 'demo' });
        const { sessionId } = made.structuredContent;
        assert.equal(made.structuredContent.name, 'A room');
        const sent = await visitor.call('send_message', { sessionId, prompt: '/long 3' });
        assert.deepEqual(sent.structuredContent, { sessionId });
        const { structuredContent: rested } = await visitor.call('wait_for_session', { sessionId });
        assert.deepEqual(
          [rested.busy, rested.waiting, rested.lastAnswer, rested.questions, rested.mode],
          [false, 0, words(3), [], 'ask'],
        );
        const { structuredContent: seen } = await visitor.call('get_session', { sessionId });
        assert.deepEqual(seen, rested);
        const { structuredContent: listed } = await visitor.call('list_sessions', { limit: 1 });
        assert.deepEqual(listed.sessions.map((/** @type {any} */ it) => it.sessionId), [sessionId]);
      });

      test('cancels, and the turn ends', async () => {
        const { sessionId } = (await visitor.call('create_session')).structuredContent;
        const giving = new AbortController();
        const asked = visitor.call(
          'ask_session',
          { sessionId, prompt: '/slow 5\n/long 100000' },
          { signal: giving.signal, onprogress: () => giving.abort() },
        );
        await assert.rejects(asked);
        const { structuredContent: rested } = await visitor.call('wait_for_session', { sessionId });
        assert.equal(rested.busy, false);
        const { contents } = await visitor.client.readResource({ uri: `megaron://sessions/${sessionId}` });
        const [markdown] = contents;
        assert.ok(markdown && 'text' in markdown);
        assert.match(markdown.text, /\n\*The turn was cancelled\.\*\n$/);
      });

      test('uses the tools of the house, in a session of its own', async () => {
        const read = await visitor.call('read_file', { path: 'guests.txt' });
        assert.match(read.content[0]?.text ?? '', /Nestor/);
        const wrong = await visitor.call('read_file', { path: '../secret' });
        assert.equal(wrong.isError, true);
        const { structuredContent: listed } = await visitor.call('list_sessions');
        assert.ok(listed.sessions.some((/** @type {any} */ it) => it.name === 'Tools for visitor'));
      });

      test('reads files and sessions, and nothing else', async () => {
        const { resources } = await visitor.client.listResources();
        assert.equal(resources[0]?.uri, 'megaron://sessions');
        const { contents } = await visitor.client.readResource({ uri: file('guests.txt') });
        const text = 'Nestor\nTelemachus\n';
        assert.deepEqual(contents, [{ uri: file('guests.txt'), mimeType: 'text/plain', text }]);
        for (const uri of ['file:///etc/hostname', file('../data/key'), 'megaron://sessions/x']) {
          await assert.rejects(visitor.client.readResource({ uri }), /Resource not found/);
        }
        const { resourceTemplates } = await visitor.client.listResourceTemplates();
        assert.deepEqual(
          resourceTemplates.map((it) => it.uriTemplate),
          ['megaron://sessions/{id}', 'yaar://{monitor}/{window}/state/{+key}', file('{+path}')],
        );
      });

      test('reads a conversation as people and as programs do', async () => {
        const { structuredContent } = await visitor.call('ask_session', { prompt: '/long 2' });
        const { sessionId } = structuredContent;
        const uri = `megaron://sessions/${sessionId}`;
        const { contents } = await visitor.client.readResource({ uri });
        const [markdown, data] = contents;
        assert.ok(markdown && 'text' in markdown && data && 'text' in data);
        assert.equal(markdown.text, '# /long 2\n\n## User\n\n/long 2\n\n## Agent\n\nword1 word2\n');
        const { session, transcript } = JSON.parse(data.text);
        assert.equal(session.sessionId, sessionId);
        assert.deepEqual(
          transcript.lines.map((/** @type {any} */ line) => [line.who, line.text]),
          [
            ['user', '/long 2'],
            ['agent', 'word1 word2'],
          ],
        );
      });

      test('is told when what it watches changes', async () => {
        const { sessionId } = (await visitor.call('create_session')).structuredContent;
        const told = new Promise((heard) => visitor.watch(`megaron://sessions/${sessionId}`, () => heard(true)).then(async () => {
          await visitor.call('send_message', { sessionId, prompt: '/long 1' });
        }));
        assert.equal(await told, true);
      });

      test('uses the apps that somebody shows, for as long as they do', async () => {
        const { sessionId } = (await visitor.call('create_session', { name: 'Counting' })).structuredContent;
        const lists = heardLists();
        await visitor.listen(lists.heard);
        const window = `${way}-${era}`;
        const counter = countingApp();
        const page = await Page.show(server, sessionId, window, counter.answer);
        const name = `app.${window}.inc`;
        const uri = `yaar://monitor-0/${window}/state/n`;
        const listed = async () => {
          const { tools } = await visitor.client.listTools();
          const { resources } = await visitor.client.listResources();
          return { tool: tools.find((it) => it.name === name), state: resources.find((it) => it.uri === uri) };
        };
        await lists.until(async () => Object.values(await listed()).every(Boolean));
        assert.ok(lists.count('tools') > 0 && lists.count('resources') > 0);
        const { tool, state } = await listed();
        assert.match(tool?.description ?? '', /^Counts\n\nRuns "inc" of the app Counter in window/);
        assert.equal(state?.mimeType, 'application/json');

        const done = await visitor.call(name, { by: 2 });
        assert.deepEqual([done.content, done.structuredContent], [[{ type: 'text', text: '{\n  "n": 2\n}' }], { n: 2 }]);
        const wrong = await visitor.call(name, { by: 'two' });
        const text = 'Invalid params for command "inc" at /by: expected number, got string.';
        assert.deepEqual([wrong.isError, wrong.content], [true, [{ type: 'text', text }]]);
        const { contents } = await visitor.client.readResource({ uri });
        assert.deepEqual(contents, [{ uri, mimeType: 'application/json', text: '2' }]);

        /** @type {() => void} */
        let tell = () => {};
        const told = new Promise((heard) => (tell = () => heard(true)));
        await visitor.watch(uri, tell);
        page.changed('n');
        assert.equal(await told, true);

        page.close();
        await lists.until(async () => Object.values(await listed()).every((it) => it === undefined));
        await assert.rejects(visitor.call(name, { by: 1 }), /Unknown tool/);
        await assert.rejects(visitor.client.readResource({ uri }), /Resource not found/);
        page.leave();
      });

      test('finds prompts, and has its words finished', async () => {
        const { sessionId } = (await visitor.call('create_session', { name: 'To be continued' })).structuredContent;
        const { prompts } = await visitor.client.listPrompts();
        assert.deepEqual(prompts.map((it) => it.name).slice(0, 2), ['continue-session', 'review-changes']);
        const { messages } = await visitor.client.getPrompt({ name: 'continue-session', arguments: { sessionId } });
        const said = messages[1]?.content;
        assert.ok(said?.type === 'resource' && 'text' in said.resource);
        assert.equal(said.resource.text, '# To be continued\n');
        const ref = { type: /** @type {const} */ ('ref/prompt'), name: 'continue-session' };
        const { completion } = await visitor.client.complete({ ref, argument: { name: 'sessionId', value: sessionId } });
        assert.deepEqual(completion, { values: [sessionId], total: 1, hasMore: false });
      });
    });
  }
}

test('without a server one runs for as long as the client stays, and says nothing but messages', async () => {
  const home = await mkdtemp(join(tmpdir(), 'megaron-mcp-'));
  await mkdir(join(home, 'workspace'));
  const visitor = await initializing(/** @type {any} */ ({ home }), 'pipe');
  const second = await discovering(/** @type {any} */ ({ home }), 'pipe');
  const { structuredContent } = await visitor.call('ask_session', { prompt: '/long 3' });
  assert.equal(structuredContent.answer, words(3));
  const { sessionId } = structuredContent;
  const { structuredContent: seen } = await second.call('get_session', { sessionId });
  assert.equal(seen.lastAnswer, words(3), 'the second client is in the same house');
  await visitor.leave();
  const { structuredContent: still } = await second.call('get_session', { sessionId });
  assert.equal(still.lastAnswer, words(3), 'and stays there when the first has left');
  await second.leave();
  await rm(home, { recursive: true, force: true });
});

test('a client keeps its connection when the server is started anew', async () => {
  const own = await Server.fresh();
  const visitor = await initializing(own, 'pipe');
  const { sessionId } = (await visitor.call('create_session')).structuredContent;
  await own.kill();
  await own.restart();
  const { structuredContent } = await visitor.call('ask_session', { sessionId, prompt: '/long 2' });
  assert.equal(structuredContent.answer, words(2));
  const told = new Promise((heard) => {
    const watching = visitor.watch(`megaron://sessions/${sessionId}`, () => heard(true));
    void watching.then(() => visitor.call('send_message', { sessionId, prompt: '/long 1' }));
  });
  assert.equal(await told, true, 'it still hears what it did not ask for');
  await visitor.leave();
  await own.end();
});

test('a message is one line, an error is one too, and the end is the end', async () => {
  const { spawn } = await import('node:child_process');
  const pipe = command(server.home);
  const child = spawn(pipe.command, pipe.args, { stdio: ['pipe', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.on('data', (text) => (out += text));
  child.stdin.end('nonsense\n{"jsonrpc":"2.0","id":7,"method":"tools/list"}\n');
  const [code] = await once(child, 'exit');
  const lines = out.trim().split('\n').map((line) => JSON.parse(line));
  assert.equal(code, 0);
  assert.deepEqual(lines, [
    { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error: expected ident at line 1 column 2' } },
    { jsonrpc: '2.0', id: 7, error: { code: -32000, message: 'Bad Request: Session ID is required' } },
  ]);
});
