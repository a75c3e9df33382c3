// A model for a test that says exactly what it was told to: a small server on this machine that speaks Chat Completions.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';

/**
 * What it answers: text, piece by piece, or calls of tools, whose arguments may come in pieces, each but the first behind a gate.
 * @typedef {{ text?: string, pieces?: string[], calls?: { name: string, args: object | string | string[], gates?: Promise<unknown>[] }[], gate?: Promise<unknown>, gateAt?: number, refusal?: string }} Reply
 */

export class ScriptedModel {
  /** What it was asked, oldest first. @type {any[]} */
  asked = [];
  /** What it answers next, in this order; then always the same. @type {Reply[]} */
  replies = [];
  server = createServer((request, response) => void this.answer(request, response));

  static async start() {
    const model = new ScriptedModel();
    model.server.listen(0, '127.0.0.1');
    await once(model.server, 'listening');
    return model;
  }

  /** What the configuration says of it: its only model is `script/it`. */
  get config() {
    const { port } = /** @type {import('node:net').AddressInfo} */ (this.server.address());
    return `default_model = "script/it"\n[providers.script]\nkind = "openai-chat"\nbase_url = "http://127.0.0.1:${port}/v1"\nmodels = ["it"]\n`;
  }

  /** @param {(Reply | string)[]} replies */
  will(...replies) {
    this.replies = replies.map((reply) => (typeof reply === 'string' ? { text: reply } : reply));
  }

  /**
   * @param {import('node:http').IncomingMessage} request
   * @param {import('node:http').ServerResponse} response
   */
  async answer(request, response) {
    if (request.method !== 'POST' || request.url !== '/v1/chat/completions') {
      response.writeHead(404).end();
      return;
    }
    this.asked.push(await json(request));
    const reply = this.replies.shift() ?? { text: 'Nothing more to say.' };
    if (reply.refusal) {
      response.writeHead(400, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify({ error: { message: reply.refusal } }));
      return;
    }
    const pieces = reply.pieces ?? (reply.text ?? '').match(/[\s\S]{1,24}/g) ?? [];
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    for (const [at, content] of pieces.entries()) {
      if (reply.gate && at === (reply.gateAt ?? 1)) await reply.gate;
      response.write(event({ choices: [{ index: 0, delta: { content } }] }));
    }
    for (const [index, { name, args, gates = [] }] of (reply.calls ?? []).entries()) {
      const [first, ...more] = Array.isArray(args) ? args : [typeof args === 'string' ? args : JSON.stringify(args)];
      const write = (call) => response.write(event({ choices: [{ index: 0, delta: { tool_calls: [{ index, ...call }] } }] }));
      write({ id: `call${this.asked.length}_${index}`, type: 'function', function: { name, arguments: first } });
      for (const [at, piece] of more.entries()) {
        await gates[at];
        write({ function: { arguments: piece } });
      }
    }
    const usage = { prompt_tokens: 50, completion_tokens: 10 };
    const finish_reason = reply.calls ? 'tool_calls' : 'stop';
    response.write(event({ choices: [{ index: 0, delta: {}, finish_reason }], usage }));
    response.end('data: [DONE]\n\n');
  }

  async end() {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }
}

/** @param {object} data */
function event(data) {
  return `data: ${JSON.stringify(data)}\n\n`;
}

/** A gate that a reply waits at until the test opens it. */
export function held() {
  let open = () => {};
  const gate = new Promise((resolve) => {
    open = () => resolve(undefined);
  });
  return { gate, open: () => open() };
}
