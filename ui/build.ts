// What is done to the built page besides building it: the list for the worker, and smaller copies of its files.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build, type Plugin, type Rolldown } from 'vite';

/** Writes `sdk/megaron-frame.js`: a classic script that imports nothing, as it must run before all others. */
export function lent(): Plugin {
  return {
    name: 'megaron-lent',
    apply: 'build',
    async generateBundle() {
      const input = join(import.meta.dirname, 'src/frames/sdk/megaron-frame.ts');
      const rolldownOptions = { input, output: { format: 'iife' as const } };
      const options = { write: false, target: 'es2023', rolldownOptions, modulePreload: false as const };
      const built = await build({ configFile: false, logLevel: 'warn', publicDir: false, build: options });
      const [script] = (built as Rolldown.RolldownOutput).output;
      this.emitFile({ type: 'asset', fileName: 'sdk/megaron-frame.js', source: script.code });
    },
  };
}

/** Writes `worker.js` with the files that the page needs to open. */
export function worker(): Plugin {
  return {
    name: 'megaron-worker',
    apply: 'build',
    generateBundle(_, bundle) {
      const files = ['/', '/theme.js', '/manifest.webmanifest', ...opening(bundle)].toSorted();
      const template = readFileSync(join(import.meta.dirname, 'src/offline/worker.js'), 'utf8');
      const hash = createHash('sha256').update(template).update(files.join('\n'));
      // Names of files have hashes in them, but these two have not.
      for (const file of ['index.html', 'public/theme.js']) hash.update(readFileSync(join(import.meta.dirname, file)));
      const version = hash.digest('hex').slice(0, 12);
      const source = template.replace('__VERSION__', version).replace('__FILES__', JSON.stringify(files));
      this.emitFile({ type: 'asset', fileName: 'worker.js', source });
    },
  };
}

/** The scripts, styles and pictures that are there from the beginning; what is loaded later is kept when it comes. */
function opening(bundle: Rolldown.OutputBundle): string[] {
  const found = new Set<string>();
  const visit = (name: string) => {
    const chunk = bundle[name];
    if (!chunk || found.has(name)) return;
    found.add(name);
    if (chunk.type !== 'chunk') return;
    chunk.imports.forEach(visit);
    const more = chunk as { viteMetadata?: { importedCss: Set<string>; importedAssets: Set<string> } };
    more.viteMetadata?.importedCss.forEach((it) => found.add(it));
    more.viteMetadata?.importedAssets.forEach((it) => found.add(it));
  };
  for (const part of Object.values(bundle))
    if (part.type === 'chunk' && part.isEntry && part.facadeModuleId?.endsWith('index.html')) visit(part.fileName);
  return [...found].map((it) => `/${it}`);
}

/** Puts a brotli and a gzip copy beside every file that gets smaller by it. */
export function compress(): Plugin {
  let out = '';
  return {
    name: 'megaron-compress',
    apply: 'build',
    configResolved(config) {
      out = join(config.root, config.build.outDir);
    },
    closeBundle() {
      for (const entry of readdirSync(out, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile() || !/\.(js|css|html|svg|json|webmanifest)$/.test(entry.name)) continue;
        const path = join(entry.parentPath, entry.name);
        const whole = readFileSync(path);
        const copies = {
          br: brotliCompressSync(whole, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }),
          gz: gzipSync(whole, { level: 9 }),
        };
        for (const [kind, copy] of Object.entries(copies))
          if (copy.length < whole.length * 0.9) writeFileSync(`${path}.${kind}`, copy);
      }
    },
  };
}
