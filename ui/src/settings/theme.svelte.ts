// Light, dark or as the system has it: chosen once, in step in every tab. `public/theme.js` applies it before the first paint.
export const themes = ['system', 'light', 'dark'] as const;

export type ThemeName = (typeof themes)[number];

const KEY = 'megaron.theme';

export class Theme {
  chosen = $state<ThemeName>(kept());

  start() {
    addEventListener('storage', (event) => {
      if (event.key === KEY || event.key === null) this.wear(kept());
    });
  }

  choose(theme: ThemeName) {
    if (theme === 'system') localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, theme);
    this.wear(theme);
  }

  /** The one after the one in use. */
  turn(): ThemeName {
    const next = themes[(themes.indexOf(this.chosen) + 1) % themes.length]!;
    this.choose(next);
    return next;
  }

  private wear(theme: ThemeName) {
    this.chosen = theme;
    // Drawn by the same script that drew the first paint.
    dispatchEvent(new Event('megaron:theme'));
  }
}

function kept(): ThemeName {
  const said = localStorage.getItem(KEY);
  return themes.find((it) => it === said) ?? 'system';
}
