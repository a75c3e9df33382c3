// Tells the compiler that components are written in TypeScript and styles go to files.
import { vitePreprocess } from '@sveltejs/vite-plugin-svelte';

export default { preprocess: vitePreprocess(), compilerOptions: { css: 'external', runes: true } };
