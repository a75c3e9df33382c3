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

/** A document with a script in it. */
export const page = (script, body = '') =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>Widget</title><body><p id="said">${body}</p><script>${script}</script></body></html>`;

/** Greets as guests of the official dialect do, and writes down everything that it hears. */
export const polite = `
  const heard = (window.heard = []);
  const post = (window.post = (message) => parent.postMessage({ jsonrpc: '2.0', ...message }, '*'));
  addEventListener('message', ({ data }) => {
    heard.push(data);
    if (data?.id === 0 && data.result) {
      post({ method: 'ui/notifications/initialized' });
      document.querySelector('#said').textContent = 'greeted by ' + data.result.hostInfo?.name;
    }
  });
  post({ id: 0, method: 'ui/initialize', params: {
    appInfo: { name: 'polite', version: '1' }, appCapabilities: {}, protocolVersion: '2026-01-26' } });
`;

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
