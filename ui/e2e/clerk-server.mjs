// A server whose widgets do what people and agents ask of them, and try it unasked as well: `node clerk-server.mjs LINK`.
import { page, pageAt, polite, said, serve, tool } from './tool-server.mjs';

const link = process.argv[2] ?? '';
/** Bytes that no text has. */
const blob = Buffer.from(Array.from({ length: 256 }, (_, at) => at)).toString('base64');
const file = { type: 'resource', resource: { uri: 'file:///all.bin', mimeType: 'application/octet-stream', blob } };

const clerk = page(`${polite}
  const wishes = {
    Link: { method: 'ui/open-link', params: { url: ${JSON.stringify(link)} } },
    File: { method: 'ui/download-file', params: { contents: [${JSON.stringify(file)}] } },
  };
  let last = 0;
  for (const [name, wish] of Object.entries(wishes)) {
    const button = document.createElement('button');
    button.textContent = name;
    button.onclick = () => post({ id: name + ' ' + (last += 1), ...wish });
    document.body.append(button);
  }
  // Nobody has touched anything here.
  addEventListener('message', ({ data }) => data?.id === 0 && post({ id: 'unasked', ...wishes.Link }));
`);

/** Of the older dialect, with the bridge that its host lends it. */
const lent = page(`
  const said = document.querySelector('#said');
  const schema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
  addEventListener('bridge:ready', async () => {
    await FrontMcpBridge.registerTool('greet', 'Greets somebody', schema, ({ name }) => {
      said.textContent = 'hello ' + name;
      return { content: [{ type: 'text', text: 'greeted ' + name }] };
    });
    await FrontMcpBridge.updateModelContext({ seat: 'window' }, true);
    await FrontMcpBridge.updateModelContext({ drink: 'wine' }, true);
    said.textContent = 'ready';
  });
`);

/** And with one of its own, which hears no questions. */
const brought = page(`
  window.FrontMcpBridge = {};
  const post = (message) => parent.postMessage({ jsonrpc: '2.0', ...message }, '*');
  addEventListener('message', ({ data }) => {
    if (data?.id === 1) post({ id: 2, method: 'ui/registerTool', params: {
      name: 'old', description: 'Out of reach', inputSchema: { type: 'object' } } });
    if (data?.id === 2) document.querySelector('#said').textContent = JSON.stringify(data.result);
  });
  post({ id: 1, method: 'ui/initialize', params: {
    appInfo: { name: 'brought', version: '1' }, appCapabilities: {}, protocolVersion: '2024-11-05' } });
`);

const pages = { clerk, lent, brought };

serve('clerk', {
  'tools/list': () => ({ tools: Object.keys(pages).map((name) => tool(name, `ui://clerk/${name}`)) }),
  'tools/call': ({ arguments: given }) => said(`filed ${JSON.stringify(given)}`),
  'resources/read': ({ uri }) =>
    pageAt(uri, { html: pages[uri.split('/').pop()], ui: { permissions: { microphone: {}, clipboardWrite: {} } } }),
});
