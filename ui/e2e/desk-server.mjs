// A server whose widget stamps, which is asked about, and tells the model what it draws: `node desk-server.mjs PICTURE PICTURE`, in base64.
import { page, pageAt, polite, said, serve, tool } from './tool-server.mjs';

const [red, blue] = process.argv.slice(2).map((data) => ({ type: 'image', mimeType: 'image/png', data }));
const text = (text) => ({ type: 'text', text });

const desk = page(`${polite}
  const context = (...content) => ({ method: 'ui/update-model-context', params: { content } });
  const wishes = {
    Stamp: { method: 'tools/call', params: { name: 'stamp', arguments: {} } },
    Red: context(${JSON.stringify(text('a red chart'))}, ${JSON.stringify(red)}),
    Blue: context(${JSON.stringify(text('a blue chart'))}, ${JSON.stringify(blue)}),
    Words: context(${JSON.stringify(text('no chart any more'))}),
  };
  for (const [name, wish] of Object.entries(wishes)) {
    const button = document.createElement('button');
    let last = 0;
    button.textContent = name;
    button.onclick = () => post({ id: name + ' ' + (last += 1), ...wish });
    document.body.append(button);
  }
`);

let stamped = 0;

serve('desk', {
  'tools/list': () => ({
    tools: [tool('desk', 'ui://desk/desk'), { ...tool('stamp'), annotations: { readOnlyHint: false } }],
  }),
  'tools/call': ({ name }) => said(name === 'stamp' ? `stamped ${(stamped += 1)}` : 'a desk'),
  'resources/read': ({ uri }) => pageAt(uri, { html: desk }),
});
