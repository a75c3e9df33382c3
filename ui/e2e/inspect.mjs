// Takes a picture of what is on show, and lets nothing pass that would shut somebody out.
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import axe from 'axe-core';
import { unhurried } from './visit.mjs';

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
  await unhurried(guest.page, async () => {
    await guest.page.screenshot({ path: join(shots, `${name}.png`) });
    assert.equal(
      await guest.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
      true,
      'it fits the width',
    );
    await reachable(guest.page);
  });
  assert.deepEqual(guest.complaints, [], 'the console complained');
}

/** Nothing in a page or a frame shuts anybody out. */
export async function reachable(document) {
  if (!(await document.evaluate(() => 'axe' in window))) await document.evaluate(axe.source);
  const violations = await document.evaluate(async () => {
    // What is well is not asked for: telling of it takes as long as looking.
    const found = await /** @type {any} */ (window).axe.run({ resultTypes: ['violations'] });
    return found.violations.map(({ id, impact, nodes }) => ({ id, impact, html: nodes.map(({ html }) => html) }));
  });
  const serious = violations.filter((it) => ['serious', 'critical'].includes(it.impact));
  assert.deepEqual(
    serious.map((it) => `${it.id}: ${it.html.join(' ')}`),
    [],
  );
}
