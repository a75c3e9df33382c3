// Somebody who uses the apps in windows as an agent does, by calling tools, and who can look up what is on record of it.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { Agent as Connections, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { eventually } from './visit.mjs';

const VERSION = '2025-06-18';
let count = 0;

/** Speaks MCP in as few words as there are: it makes very many calls. */
export class Agent {
  /** Where its windows are. */
  session = '';
  #connections = new Connections({ keepAlive: true });
  #asked = 0;

  constructor(server, key) {
    this.server = server;
    this.headers = { authorization: `Bearer ${key}` };
  }

  /** @param {import('./server.mjs').Server} server */
  static async come(server) {
    const agent = new Agent(server, (await readFile(join(server.home, 'data', 'key'), 'utf8')).trim());
    const name = `agent ${(count += 1)}`;
    const { headers } = await agent.#post('initialize', {
      protocolVersion: VERSION,
      capabilities: {},
      clientInfo: { name, version: '1' },
    });
    Object.assign(agent.headers, { 'mcp-session-id': headers['mcp-session-id'], 'mcp-protocol-version': VERSION });
    await agent.#post('notifications/initialized', undefined, true);
    // It is given a room with the first tool that it uses.
    await agent.call('window_list', {});
    const { sessions } = JSON.parse(await agent.call('list_sessions', {}));
    agent.session = sessions.find((it) => it.name === `Tools for ${name}`).sessionId;
    return agent;
  }

  leave() {
    this.#connections.destroy();
  }

  async #post(method, params, isNotice = false) {
    const more = isNotice ? {} : { id: (this.#asked += 1) };
    const body = JSON.stringify({ jsonrpc: '2.0', method, params, ...more });
    const headers = {
      ...this.headers,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
    const response = await new Promise((done, failed) =>
      request(`${this.server.url}/mcp`, { method: 'POST', headers, agent: this.#connections }, done)
        .on('error', failed)
        .end(body),
    );
    return { headers: response.headers, text: await text(response) };
  }

  /** What a tool says, whether it is a result or a complaint. */
  async call(name, args) {
    const { text } = await this.#post('tools/call', { name, arguments: args });
    const line = text.startsWith('{') ? text : text.split('\n').findLast((it) => it.startsWith('data: {'))?.slice(6);
    const { result, error } = JSON.parse(line ?? '{}');
    assert.ok(result, error?.message ?? `no answer: ${text}`);
    return result.content[0].text;
  }

  query(windowId, stateKey) {
    return this.call('app_query', { windowId, stateKey });
  }

  async command(windowId, command, params) {
    const text = await this.call('app_command', { windowId, command, params });
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  }

  /** What is on record of apps, or one kind of it. */
  async facts(kind) {
    const found = [];
    for (let after = 0; after !== undefined; ) {
      const address = `${this.server.url}/api/log?session=${this.session}&after=${after}`;
      const page = await (await fetch(address, { headers: this.headers })).json();
      found.push(...page.facts.filter((it) => it.fact === 'app' && (!kind || it.app === kind)));
      after = page.next;
    }
    return found;
  }

  /** Waits until so many documents have registered, and all have said what they can do. */
  registered(times) {
    return eventually(async () => {
      const facts = await this.facts();
      const documents = new Set(facts.filter((it) => it.app === 'ready').map((it) => it.instance));
      assert.equal(documents.size, times);
      const settled = new Set(facts.filter((it) => it.app === 'response' || it.app === 'failed').map((it) => it.request));
      const asked = facts.filter((it) => it.app === 'request' && it.cause !== 'tool');
      assert.ok(asked.length >= times && asked.every((it) => settled.has(it.request)), 'not all is said yet');
    });
  }

  /** The name of the request by which a command was sent. */
  async requestFor(command) {
    let request = '';
    await eventually(async () => {
      const sent = (await this.facts('request')).findLast((it) => it.asked?.command === command);
      assert.ok(sent, `${command} was not sent`);
      request = sent.request;
    });
    return request;
  }
}
