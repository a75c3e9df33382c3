// A server whose widget does what people ask of it, and tries it unasked as well: `node clerk-server.mjs LINK`.
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

serve('clerk', {
  'tools/list': () => ({ tools: [tool('clerk', 'ui://clerk/desk')] }),
  'tools/call': ({ arguments: given }) => said(`filed ${JSON.stringify(given)}`),
  'resources/read': ({ uri }) =>
    pageAt(uri, { html: clerk, ui: { permissions: { microphone: {}, clipboardWrite: {} } } }),
});
