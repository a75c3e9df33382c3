// Takes a picture of what is on show, and lets nothing pass that would shut somebody out.
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import axe from 'axe-core';

const shots = join(import.meta.dirname, 'shots');

export const looks = ['light', 'dark'].flatMap((colorScheme) =>
  [
    { width: 1280, height: 800 },
    { width: 390, height: 844 },
  ].map((viewport) => ({
    name: `${colorScheme}-${viewport.width > 800 ? 'wide' : 'narrow'}`,
    wide: viewport.width > 800,
    // Without animations, as half-faded text would be read as too faint.
    options: {
      colorScheme: /** @type {'light' | 'dark'} */ (colorScheme),
      viewport,
      reducedMotion: /** @type {const} */ ('reduce'),
    },
  })),
);

export async function inspect(guest, name) {
  await mkdir(shots, { recursive: true });
  await guest.page.screenshot({ path: join(shots, `${name}.png`) });
  assert.equal(
    await guest.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
    true,
    'it fits the width',
  );
  await guest.page.evaluate(axe.source);
  const { violations } = await guest.page.evaluate(() => /** @type {any} */ (window).axe.run());
  const serious = violations.filter((it) => ['serious', 'critical'].includes(it.impact));
  assert.deepEqual(
    serious.map((it) => `${it.id}: ${it.nodes.map((node) => node.html).join(' ')}`),
    [],
  );
  assert.deepEqual(guest.complaints, [], 'the console complained');
}
