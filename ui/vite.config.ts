// How the two pages are built: separate files only, nothing inlined, so that a strict content policy holds.
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';
import { compress, lent, worker } from './build.ts';

const server = process.env.MEGARON_URL ?? 'http://127.0.0.1:53000';
// The server answers its own origin only, so the development proxy speaks in its name.
const proxied = { target: server, changeOrigin: true, headers: { origin: server } };

/** Every browser that can run the page reads the smallest of the three formats in which formulas' fonts come. */
const newestFontsOnly = {
  name: 'newest-fonts-only',
  enforce: 'pre' as const,
  transform: (code: string, id: string) =>
    id.endsWith('katex.min.css') ? code.replace(/,url\([^)]+\) format\("(?:woff|truetype)"\)/g, '') : undefined,
};

export default defineConfig({
  plugins: [svelte(), newestFontsOnly, lent(), worker(), compress()],
  build: {
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // What frames are lent is embedded by the server under a name that it knows.
      input: {
        index: 'index.html',
        docs: 'docs.html',
        diagram: 'diagram.html',
        'applet-runtime': 'src/applets/runtime/main.ts',
      },
      output: {
        entryFileNames: ({ name }) => (name === 'applet-runtime' ? 'sdk/[name].js' : 'assets/[name]-[hash].js'),
      },
    },
  },
  server: {
    host: '127.0.0.1',
    proxy: { '/api': proxied, '/login': proxied, '/ws': { ...proxied, ws: true } },
  },
  // Tests read the tokens.
  test: { include: ['src/**/*.test.ts'], css: true },
});
