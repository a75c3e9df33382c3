// The vendor's own client, talking to our models.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import OpenAI from 'openai';
import { Server } from './server.mjs';

/** @type {Server} */
let server;
/** @type {OpenAI} */
let client;

before(async () => {
  server = await Server.fresh();
  const apiKey = (await readFile(join(server.home, 'data', 'key'), 'utf8')).trim();
  client = new OpenAI({ apiKey, baseURL: `${server.url}/v1`, maxRetries: 0 });
});

after(() => server.end());

const tool = {
  name: 'look_up',
  description: 'Looks something up.',
  parameters: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
};
/** @param {string} content */
const user = (content) => [{ role: /** @type {const} */ ('user'), content }];

test('the models are listed', async () => {
  const models = [];
  for await (const model of client.models.list()) models.push(model.id);
  assert.deepEqual(models, ['demo']);
});

test('a completion comes whole, with what it took', async () => {
  const answer = await client.chat.completions.create({ model: 'demo', messages: user('/long 3') });
  const [choice] = answer.choices;
  assert.equal(choice?.message.content, 'word1 word2 word3');
  assert.equal(choice?.finish_reason, 'stop');
  assert.ok((answer.usage?.completion_tokens ?? 0) > 0);
});

test('a completion comes in chunks that make up the whole', async () => {
  const stream = await client.chat.completions.create({
    model: 'demo',
    messages: user('/reason\n/long 200'),
    stream: true,
    stream_options: { include_usage: true },
  });
  let text = '';
  let usage;
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? '';
    usage = chunk.usage ?? usage;
  }
  assert.equal(text, Array.from({ length: 200 }, (_, n) => `word${n + 1}`).join(' '));
  assert.ok(usage?.total_tokens);
});

test('tools are called, and their results are heard', async () => {
  const tools = [{ type: /** @type {const} */ ('function'), function: tool }];
  const messages = user('/par\n/tool look_up {"word":"hearth"}\n/tool look_up {"word":"hall"}');
  const asked = await client.chat.completions.create({ model: 'demo', messages, tools });
  const said = asked.choices[0]?.message;
  assert.ok(said?.tool_calls);
  assert.equal(asked.choices[0]?.finish_reason, 'tool_calls');
  assert.deepEqual(
    said.tool_calls.map((call) => call.type === 'function' && JSON.parse(call.function.arguments)),
    [{ word: 'hearth' }, { word: 'hall' }],
  );
  const results = said.tool_calls.map((call) => ({
    role: /** @type {const} */ ('tool'),
    tool_call_id: call.id,
    content: `found ${call.id}`,
  }));
  const answer = await client.chat.completions.create({ model: 'demo', messages: [...messages, said, ...results], tools });
  for (const { content } of results) assert.ok(answer.choices[0]?.message.content?.includes(content));
});

test('a response comes whole and as events that make up the same', async () => {
  const question = { model: 'demo', input: '/long 50' };
  const whole = await client.responses.create(question);
  assert.equal(whole.status, 'completed');
  let text = '';
  let completed;
  for await (const event of await client.responses.create({ ...question, stream: true })) {
    if (event.type === 'response.output_text.delta') text += event.delta;
    if (event.type === 'response.completed') completed = event.response;
  }
  assert.equal(text, whole.output_text);
  const [item] = completed?.output ?? [];
  assert.ok(item?.type === 'message' && item.content[0]?.type === 'output_text' && item.content[0].text === text);
});

test('a response calls tools, and hears their results', async () => {
  const tools = [{ type: /** @type {const} */ ('function'), strict: false, ...tool }];
  const input = [{ role: /** @type {const} */ ('user'), content: '/tool look_up {"word":"hearth"}' }];
  const asked = await client.responses.create({ model: 'demo', input, tools });
  const call = asked.output.find((item) => item.type === 'function_call');
  assert.ok(call?.type === 'function_call');
  assert.deepEqual([call.name, JSON.parse(call.arguments)], ['look_up', { word: 'hearth' }]);
  const result = { type: /** @type {const} */ ('function_call_output'), call_id: call.call_id, output: 'warm' };
  const answer = await client.responses.create({ model: 'demo', input: [...input, call, result], tools });
  assert.match(answer.output_text, /warm/);
});

test('what goes wrong has the kind and the words the client knows', async () => {
  await assert.rejects(client.chat.completions.create({ model: 'nobody', messages: user('hi') }), (error) => {
    assert.ok(error instanceof OpenAI.NotFoundError);
    assert.equal(error.code, 'model_not_found');
    return true;
  });
  await assert.rejects(
    client.chat.completions.create({ model: 'demo', messages: user('/fail rate_limited') }),
    OpenAI.RateLimitError,
  );
  await assert.rejects(async () => {
    const stream = await client.chat.completions.create({ model: 'demo', messages: user('/fail mid'), stream: true });
    for await (const chunk of stream) assert.ok(chunk);
  }, /demo model was told to fail/);
  const stranger = new OpenAI({ apiKey: 'wrong', baseURL: `${server.url}/v1`, maxRetries: 0 });
  await assert.rejects(stranger.models.list(), OpenAI.AuthenticationError);
});
