// The look of the page for others, such as widgets in frames: names that hosts agree on, with the values of our tokens.

/** Each name with what it is drawn from, and the property in which a browser makes a value of it. */
export const tokens = [
  ['--color-background-primary', 'var(--paper)', 'color'],
  ['--color-background-secondary', 'var(--paper-deep)', 'color'],
  ['--color-background-tertiary', 'var(--raised)', 'color'],
  ['--color-background-inverse', 'var(--ink)', 'color'],
  ['--color-background-ghost', 'transparent', 'color'],
  ['--color-background-info', 'var(--ember-wash)', 'color'],
  ['--color-background-danger', 'var(--gone-wash)', 'color'],
  ['--color-background-success', 'var(--good-wash)', 'color'],
  ['--color-background-warning', 'var(--ember-wash)', 'color'],
  ['--color-background-disabled', 'var(--paper-deep)', 'color'],
  ['--color-text-primary', 'var(--ink)', 'color'],
  ['--color-text-secondary', 'var(--ink-soft)', 'color'],
  ['--color-text-tertiary', 'var(--ink-soft)', 'color'],
  ['--color-text-inverse', 'var(--paper)', 'color'],
  ['--color-text-ghost', 'var(--ink-soft)', 'color'],
  ['--color-text-info', 'var(--ember)', 'color'],
  ['--color-text-danger', 'var(--gone)', 'color'],
  ['--color-text-success', 'var(--good)', 'color'],
  ['--color-text-warning', 'var(--ember)', 'color'],
  ['--color-text-disabled', 'var(--line-strong)', 'color'],
  ['--color-border-primary', 'var(--line)', 'color'],
  ['--color-border-secondary', 'var(--line-strong)', 'color'],
  ['--color-border-tertiary', 'var(--line)', 'color'],
  ['--color-border-inverse', 'var(--ink)', 'color'],
  ['--color-border-ghost', 'transparent', 'color'],
  ['--color-border-info', 'var(--ember)', 'color'],
  ['--color-border-danger', 'var(--gone)', 'color'],
  ['--color-border-success', 'var(--good)', 'color'],
  ['--color-border-warning', 'var(--ember)', 'color'],
  ['--color-border-disabled', 'var(--line)', 'color'],
  ['--color-ring-primary', 'var(--ember)', 'color'],
  ['--color-ring-secondary', 'var(--line-strong)', 'color'],
  ['--color-ring-inverse', 'var(--paper)', 'color'],
  ['--color-ring-info', 'var(--ember)', 'color'],
  ['--color-ring-danger', 'var(--gone)', 'color'],
  ['--color-ring-success', 'var(--good)', 'color'],
  ['--color-ring-warning', 'var(--ember)', 'color'],
  ['--font-sans', 'var(--sans)', 'font-family'],
  ['--font-mono', 'var(--mono)', 'font-family'],
  ['--font-weight-normal', '400', 'font-weight'],
  ['--font-weight-medium', '500', 'font-weight'],
  ['--font-weight-semibold', '600', 'font-weight'],
  ['--font-weight-bold', '700', 'font-weight'],
  ['--font-text-xs-size', '0.75rem', 'font-size'],
  ['--font-text-xs-line-height', '1.1rem', 'line-height'],
  ['--font-text-sm-size', 'var(--small)', 'font-size'],
  ['--font-text-sm-line-height', '1.25rem', 'line-height'],
  ['--font-text-md-size', '1rem', 'font-size'],
  ['--font-text-md-line-height', '1.6rem', 'line-height'],
  ['--font-text-lg-size', '1.125rem', 'font-size'],
  ['--font-text-lg-line-height', '1.7rem', 'line-height'],
  ['--font-heading-xs-size', '0.875rem', 'font-size'],
  ['--font-heading-xs-line-height', '1.1rem', 'line-height'],
  ['--font-heading-sm-size', '1rem', 'font-size'],
  ['--font-heading-sm-line-height', '1.25rem', 'line-height'],
  ['--font-heading-md-size', '1.125rem', 'font-size'],
  ['--font-heading-md-line-height', '1.4rem', 'line-height'],
  ['--font-heading-lg-size', '1.25rem', 'font-size'],
  ['--font-heading-lg-line-height', '1.55rem', 'line-height'],
  ['--font-heading-xl-size', '1.5rem', 'font-size'],
  ['--font-heading-xl-line-height', '1.85rem', 'line-height'],
  ['--font-heading-2xl-size', '1.875rem', 'font-size'],
  ['--font-heading-2xl-line-height', '2.3rem', 'line-height'],
  ['--font-heading-3xl-size', '2.25rem', 'font-size'],
  ['--font-heading-3xl-line-height', '2.75rem', 'line-height'],
  ['--border-radius-xs', '4px', 'border-top-left-radius'],
  ['--border-radius-sm', '8px', 'border-top-left-radius'],
  ['--border-radius-md', 'var(--round)', 'border-top-left-radius'],
  ['--border-radius-lg', '14px', 'border-top-left-radius'],
  ['--border-radius-xl', '20px', 'border-top-left-radius'],
  ['--border-radius-full', '999px', 'border-top-left-radius'],
  ['--border-width-regular', '1px', 'outline-offset'],
  ['--shadow-hairline', '0 0 0 1px var(--line)', 'box-shadow'],
  ['--shadow-sm', '0 1px 2px var(--line)', 'box-shadow'],
  ['--shadow-md', 'var(--shadow)', 'box-shadow'],
  ['--shadow-lg', 'var(--shadow-high)', 'box-shadow'],
] as const;

export type TokenName = (typeof tokens)[number][0];

export interface Look {
  theme: 'light' | 'dark';
  styles: Record<TokenName, string>;
}

/** The look as it is now, in values that need nothing else of this page. */
export function look(root: HTMLElement = document.body): Look {
  // The browser works out variables and both themes only in properties of an element.
  const probe = document.createElement('i');
  probe.hidden = true;
  root.append(probe);
  const drawn = getComputedStyle(probe);
  const styles = Object.fromEntries(
    tokens.map(([name, from, property]) => {
      probe.style.setProperty(property, from);
      const value = drawn.getPropertyValue(property);
      probe.style.removeProperty(property);
      return [name, value];
    }),
  ) as Record<TokenName, string>;
  probe.remove();
  return { theme: isDark() ? 'dark' : 'light', styles };
}

/** Tells of every change of the look until it is called off. */
export function watchLook(changed: (look: Look) => void): () => void {
  const tell = () => changed(look());
  const observer = new MutationObserver(tell);
  observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  const system = matchMedia('(prefers-color-scheme: dark)');
  system.addEventListener('change', tell);
  return () => {
    observer.disconnect();
    system.removeEventListener('change', tell);
  };
}

function isDark(): boolean {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}
