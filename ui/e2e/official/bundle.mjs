// Makes one script of a file here and the official libraries that it names.
import { dirname, join } from 'node:path';
import { rolldown } from 'rolldown';
import { binary } from '../server.mjs';

export const peers = join(dirname(binary), '..', 'peers', 'node_modules');
const library = join(peers, '@modelcontextprotocol', 'ext-apps', 'dist', 'src');

/** @param {string} name */
export async function bundle(name) {
  const build = await rolldown({
    input: join(import.meta.dirname, name),
    platform: 'browser',
    logLevel: 'silent',
    resolve: {
      alias: { 'ext-apps/bridge': join(library, 'app-bridge.js'), 'ext-apps': join(library, 'app.js') },
      modules: [peers],
    },
  });
  const { output } = await build.generate({ format: 'esm' });
  await build.close();
  return output[0].code.replaceAll('</script', '<\\/script');
}

/** The document of the guest. @param {string} script */
export const document = (script, title = 'guest') =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><body><script type="module">${script}</script></body></html>`;
