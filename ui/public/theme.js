// Puts on the chosen theme before anything is painted; runs on every page, and again whenever the choice changes.
(() => {
  const paper = { light: '#fbf9f5', dark: '#161412' };
  const system = matchMedia('(prefers-color-scheme: dark)');

  function wear() {
    const said = localStorage.getItem('megaron.theme');
    const chosen = said === 'light' || said === 'dark' ? said : '';
    if (chosen) document.documentElement.dataset.theme = chosen;
    else delete document.documentElement.dataset.theme;
    const seen = chosen || (system.matches ? 'dark' : 'light');
    document.querySelector('meta[name=theme-color]')?.setAttribute('content', paper[seen]);
  }

  wear();
  system.addEventListener('change', wear);
  addEventListener('storage', wear);
  addEventListener('megaron:theme', wear);
})();
