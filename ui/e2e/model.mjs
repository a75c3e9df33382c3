// A second model for a test: a small server on this machine that speaks Chat Completions.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';

export class SmallModel {
  /** What it was asked, oldest first. @type {any[]} */
  asked = [];
  server = createServer((request, response) => void this.answer(request, response));

  static async start() {
    const model = new SmallModel();
    model.server.listen(0, '127.0.0.1');
    await once(model.server, 'listening');
    return model;
  }

  /** What the configuration says of it: its only model is `box/small`. */
  get config() {
    const { port } = /** @type {import('node:net').AddressInfo} */ (this.server.address());
    return `[providers.box]\nkind = "openai-chat"\nbase_url = "http://127.0.0.1:${port}/v1"\nmodels = ["small"]\n`;
  }

  /**
   * Says what it heard last, word by word.
   * @param {import('node:http').IncomingMessage} request
   * @param {import('node:http').ServerResponse} response
   */
  async answer(request, response) {
    if (request.method !== 'POST' || request.url !== '/v1/chat/completions') {
      response.writeHead(404).end();
      return;
    }
    const asked = /** @type {any} */ (await json(request));
    this.asked.push(asked);
    const words = `The small one heard: ${asked.messages.at(-1).content}`.split(/(?<= )/);
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    for (const content of words) response.write(event({ choices: [{ index: 0, delta: { content } }] }));
    const usage = { prompt_tokens: 50, completion_tokens: words.length };
    response.write(event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage }));
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
