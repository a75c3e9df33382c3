// Draws the icons of the installed page from the mark, with the browser of the system: `node scripts/icons.mjs`.
import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const root = join(import.meta.dirname, '..');
const out = join(root, 'public', 'icons');
const mark = await readFile(join(root, 'src', 'hearth.svg'), 'utf8');
const paper = '#fbf9f5';

/** Maskable icons are cut to any shape, so their mark keeps to the middle. */
const icons = [
  { name: 'hearth-192.png', size: 192, share: 0.72, round: '22%' },
  { name: 'hearth-512.png', size: 512, share: 0.72, round: '22%' },
  { name: 'maskable-512.png', size: 512, share: 0.5, round: '0' },
  { name: 'touch-180.png', size: 180, share: 0.64, round: '0' },
];

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM_BIN ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});
for (const { name, size, share, round } of icons) {
  const page = await browser.newPage({ viewport: { width: size, height: size } });
  const style = `body{margin:0}div{display:grid;place-items:center;width:100vw;height:100vh;background:${paper};border-radius:${round}}svg{width:${share * 100}%}`;
  await page.setContent(`<style>${style}</style><div>${mark}</div>`);
  await page.screenshot({ path: join(out, name), omitBackground: true });
  await page.close();
}
await browser.close();
await copyFile(join(root, 'src', 'hearth.svg'), join(out, 'hearth.svg'));
