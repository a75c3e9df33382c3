import { expect, test } from 'vitest';
import early from '../../public/theme.js?raw';
import ours from '../styles/tokens.css?raw';
import { tokens } from './theme';

test('every name for others is drawn from a token that there is', () => {
  const used = tokens.flatMap(([, from]) => from.match(/--[a-z-]+/g) ?? []);
  expect(used.filter((name) => !ours.includes(`  ${name}:`))).toEqual([]);
  expect(new Set(tokens.map(([name]) => name)).size).toBe(tokens.length);
});

test('the script that comes before the styles has the same colours of paper', () => {
  const [, light, dark] = ours.match(/--paper: light-dark\((#\w+), (#\w+)\)/) ?? [];
  expect(early).toContain(`{ light: '${light}', dark: '${dark}' }`);
});
