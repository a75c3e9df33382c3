// Numbers as people read them: how long, how much, how many.
import { words } from './words';

/** How long something took, or has taken so far. */
export function duration(milliseconds: number): string {
  const seconds = Math.max(0, milliseconds) / 1000;
  if (seconds < 0.05) return words.chat.seconds('<0.1');
  if (seconds < 10) return words.chat.seconds(seconds.toFixed(1));
  if (seconds < 60) return words.chat.seconds(String(Math.floor(seconds)));
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return words.chat.minutes(minutes, String(Math.floor(seconds % 60)));
  return words.chat.hours(Math.floor(minutes / 60), String(minutes % 60));
}

/** 940, 12.3k, 1.2M. */
export function count(tokens: number): string {
  if (tokens < 1000) return String(tokens);
  const [size, unit] = tokens < 999_500 ? [tokens / 1000, 'k'] : [tokens / 1_000_000, 'M'];
  return `${size < 100 ? size.toFixed(1).replace(/\.0$/, '') : Math.round(size)}${unit}`;
}

/** Prices keep their cents, and as many more places as it takes to see them. */
export function dollars(amount: number): string {
  if (amount === 0) return '$0';
  if (amount < 0.0001) return '<$0.0001';
  return `$${amount.toFixed(amount < 0.01 ? 4 : amount < 1 ? 3 : 2).replace(/(\.\d\d\d*?)0+$/, '$1')}`;
}
