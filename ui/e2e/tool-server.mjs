// The least that a server of tools with widgets is, for tests: JSON-RPC by hand, over standard input and output.
import { createInterface } from 'node:readline';

const PROFILE = 'text/html;profile=mcp-app';

/** A tool that only reads, and the widget that shows what it gives. @param {string} name @param {string} [resourceUri] */
export const tool = (name, resourceUri) => ({
  name,
  description: name,
  inputSchema: { type: 'object' },
  annotations: { readOnlyHint: true },
  ...(resourceUri ? { _meta: { ui: { resourceUri } } } : {}),
});

/** One block of text. @param {string} text */
export const said = (text) => ({ content: [{ type: 'text', text }] });

/** What `resources/read` gives for a page. @param {string} uri @param {{ html: string, mimeType?: string, ui?: object }} page */
export const pageAt = (uri, { html, mimeType = PROFILE, ui }) => ({
  contents: [{ uri, mimeType, text: html, ...(ui ? { _meta: { ui } } : {}) }],
});

/**
 * Answers whoever started this program, until they go.
 * @param {string} name
 * @param {Record<string, (params: any) => unknown>} answers what else it knows, by method
 */
export function serve(name, answers) {
  const known = {
    initialize: ({ protocolVersion }) => ({
      protocolVersion,
      capabilities: { tools: {}, resources: {} },
      serverInfo: { name, version: '1' },
    }),
    ping: () => ({}),
    'resources/list': () => ({ resources: [] }),
    ...answers,
  };
  createInterface({ input: process.stdin }).on('line', async (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return;
    const answer = Object.hasOwn(known, method)
      ? { result: await known[method](params ?? {}) }
      : { error: { code: -32601, message: 'Method not found' } };
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
  });
}
