// Somebody who uses the apps in windows as an agent does, by calling tools, and who can look up what is on record of it.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from './visit.mjs';

let count = 0;

export class Agent {
  /** Where its windows are. */
  session = '';

  constructor(server, client, headers) {
    this.server = server;
    this.client = client;
    this.headers = headers;
  }

  /** @param {import('./server.mjs').Server} server */
  static async come(server) {
    const key = (await readFile(join(server.home, 'data', 'key'), 'utf8')).trim();
    const headers = { authorization: `Bearer ${key}` };
    const name = `agent ${(count += 1)}`;
    const client = new Client({ name, version: '1' });
    const transport = new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit: { headers } });
    await client.connect(/** @type {any} */ (transport));
    const agent = new Agent(server, client, headers);
    // It is given a room with the first tool that it uses.
    await agent.call('window_list', {});
    const { structuredContent } = await client.callTool({ name: 'list_sessions', arguments: {} });
    const { sessions } = /** @type {any} */ (structuredContent);
    agent.session = sessions.find((it) => it.name === `Tools for ${name}`).sessionId;
    return agent;
  }

  leave() {
    return this.client.close();
  }

  /** What a tool says, whether it is a result or a complaint. */
  async call(name, args) {
    const { content } = await this.client.callTool({ name, arguments: args });
    return /** @type {any} */ (content)[0].text;
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
