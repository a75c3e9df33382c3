// How the two pages are built: separate files only, nothing inlined, so that a strict content policy holds.
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';
import { compress, worker } from './build.ts';

const server = process.env.MEGARON_URL ?? 'http://127.0.0.1:53000';
// The server answers its own origin only, so the development proxy speaks in its name.
const proxied = { target: server, changeOrigin: true, headers: { origin: server } };

export default defineConfig({
  plugins: [svelte(), worker(), compress()],
  build: {
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: { input: ['index.html', 'docs.html'] },
  },
  server: {
    host: '127.0.0.1',
    proxy: { '/api': proxied, '/login': proxied, '/ws': { ...proxied, ws: true } },
  },
  // Tests read the tokens.
  test: { include: ['src/**/*.test.ts'], css: true },
});
