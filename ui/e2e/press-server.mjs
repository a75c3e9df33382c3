// A server whose widget is another page once it was reprinted, and which keeps calls waiting until it is told to go on: `node press-server.mjs`.
import { page, pageAt, polite, said, serve, tool } from './tool-server.mjs';

let edition = 1;
/** @type {(() => void)[]} */
let waiting = [];

const calls = {
  poster: () => said('a poster'),
  reprint: () => said(`edition ${(edition += 1)}`),
  hold: async ({ number }) => {
    await new Promise((resolve) => waiting.push(() => resolve(undefined)));
    return said(`held ${number}`);
  },
  waiting: () => said(`${waiting.length} wait`),
  release: () => {
    const count = waiting.length;
    for (const go of waiting.splice(0)) go();
    return said(`released ${count}`);
  },
};

serve('press', {
  'tools/list': () => ({
    tools: Object.keys(calls).map((name) => tool(name, name === 'poster' ? 'ui://press/poster' : undefined)),
  }),
  'tools/call': ({ name, arguments: args }) => calls[name](args ?? {}),
  'resources/read': ({ uri }) => pageAt(uri, { html: page(`${polite} document.title = 'edition ${edition}';`) }),
});
