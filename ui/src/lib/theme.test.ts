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

test('widgets are told every name that hosts agree on, as they may not be told some of them', () => {
  const words = (kind: string, names: string) => names.split(' ').map((name) => `--${kind}-${name}`);
  const tones = 'primary secondary tertiary inverse ghost info danger success warning disabled';
  const sides = (kind: string, names: string) =>
    words(kind, names).flatMap((name) => [`${name}-size`, `${name}-line-height`]);
  const agreed = [
    ...['background', 'text', 'border'].flatMap((kind) => words(`color-${kind}`, tones)),
    ...words('color-ring', 'primary secondary inverse info danger success warning'),
    ...words('font', 'sans mono'),
    ...words('font-weight', 'normal medium semibold bold'),
    ...sides('font-text', 'xs sm md lg'),
    ...sides('font-heading', 'xs sm md lg xl 2xl 3xl'),
    ...words('border-radius', 'xs sm md lg xl full'),
    '--border-width-regular',
    ...words('shadow', 'hairline sm md lg'),
  ];
  expect(tokens.map(([name]) => name).toSorted()).toEqual(agreed.toSorted());
});
