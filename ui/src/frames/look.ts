// How the page looks, for whatever is framed in it: light or dark, and its colours and type by name.

export interface Look {
  scheme: 'light' | 'dark';
  tokens: Record<string, string>;
}

const TOKENS = [
  ...['paper', 'paper-deep', 'raised', 'line', 'line-strong', 'ink', 'ink-soft', 'ember', 'ember-ink', 'ember-wash'],
  ...['good', 'good-wash', 'gone', 'gone-wash', 'sans', 'serif', 'mono', 'small', 'round'],
];

export function look(): Look {
  const style = getComputedStyle(document.documentElement);
  const tokens = TOKENS.map((name) => [`--${name}`, style.getPropertyValue(`--${name}`).trim()] as const);
  return { scheme: scheme(style.colorScheme), tokens: Object.fromEntries(tokens.filter(([, value]) => value)) };
}

/** What the page has chosen; where it leaves it open, what the person's system has. */
function scheme(declared: string): Look['scheme'] {
  if (!declared.includes('light') && declared.includes('dark')) return 'dark';
  if (declared.includes('light') && !declared.includes('dark')) return 'light';
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

/** Calls back whenever it may have changed. */
export function watchLook(changed: () => void): () => void {
  const system = matchMedia('(prefers-color-scheme: dark)');
  const chosen = new MutationObserver(changed);
  chosen.observe(document.documentElement, { attributes: true, attributeFilter: ['class', 'style', 'data-theme'] });
  system.addEventListener('change', changed);
  return () => {
    chosen.disconnect();
    system.removeEventListener('change', changed);
  };
}
