// Tells what happens to a view, from within: what its policy kept from it, and what went wrong.
(() => {
  if (location.pathname !== '/view') return;
  const tell = (kind, text) => certify(JSON.stringify({ kind, text: String(text).slice(0, 500) }));
  addEventListener('securitypolicyviolation', (event) => {
    tell('blocked', `${event.effectiveDirective} ${event.blockedURI}`);
  });
  addEventListener('error', (event) => {
    if (event instanceof ErrorEvent) tell('broke', event.message);
  });
  addEventListener('unhandledrejection', (event) => tell('broke', event.reason?.message ?? event.reason));
  addEventListener('DOMContentLoaded', () => {
    if (!document.documentElement.lang) tell('unnamed', 'the language of the page: <html lang>');
  });
})();
