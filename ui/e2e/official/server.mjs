// A server with one tool and the guest as its widget: `node server.mjs FILE`. Speaks JSON-RPC by hand.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const text = readFileSync(process.argv[2] ?? '', 'utf8');
const meta = { ui: { resourceUri: 'ui://official/guest' } };
const annotations = { readOnlyHint: true };
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {}, resources: {} },
    serverInfo: { name: 'official', version: '1' },
  }),
  ping: () => ({}),
  'tools/list': () => ({
    tools: [{ name: 'echo', description: 'Echo', inputSchema: { type: 'object' }, annotations, _meta: meta }],
  }),
  'tools/call': ({ arguments: given }) => ({ content: [{ type: 'text', text: `echo ${JSON.stringify(given)}` }] }),
  'resources/list': () => ({ resources: [] }),
  'resources/read': ({ uri }) => ({ contents: [{ uri, mimeType: 'text/html;profile=mcp-app', text }] }),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = Object.hasOwn(answers, method)
    ? { result: answers[method](params ?? {}) }
    : { error: { code: -32601, message: 'Method not found' } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
});
