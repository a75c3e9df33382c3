// A server with one tool and the guest as its widget: `node server.mjs FILE`.
import { readFileSync } from 'node:fs';
import { pageAt, said, serve, tool } from '../tool-server.mjs';

const html = readFileSync(process.argv[2] ?? '', 'utf8');

serve('official', {
  'tools/list': () => ({ tools: [tool('echo', 'ui://official/guest')] }),
  'tools/call': ({ arguments: given }) => said(`echo ${JSON.stringify(given)}`),
  'resources/read': ({ uri }) => pageAt(uri, { html }),
});
