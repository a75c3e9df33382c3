// Finds what was meant by a few letters; pure.

/** How well a text fits, higher is better; nothing if it does not. Each word must be found, its letters in order. */
export function fit(query: string, text: string): number | undefined {
  const low = text.toLowerCase();
  let sum = 0;
  for (const word of query.toLowerCase().split(/\s+/).filter(Boolean)) {
    const score = within(word, low);
    if (score === undefined) return undefined;
    sum += score;
  }
  // Of two that fit as well, the shorter was meant.
  return sum - low.length / 1000;
}

/** Those that fit, best first; all of them, as they are, where nothing is asked. */
export function matching<T>(query: string, all: T[], text: (it: T) => string): T[] {
  if (!query.trim()) return all;
  return all
    .map((it) => ({ it, score: fit(query, text(it)) }))
    .filter((found): found is { it: T; score: number } => found.score !== undefined)
    .toSorted((a, b) => b.score - a.score)
    .map(({ it }) => it);
}

function within(word: string, text: string): number | undefined {
  const whole = text.indexOf(word);
  if (whole >= 0) return 10 * word.length + (begins(text, whole) ? 10 : 0);
  let at = -1;
  let score = 0;
  for (const letter of word) {
    const next = text.indexOf(letter, at + 1);
    if (next < 0) return undefined;
    score += begins(text, next) ? 4 : next === at + 1 ? 2 : 0;
    at = next;
  }
  return score;
}

function begins(text: string, at: number): boolean {
  return at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1]!);
}
