// Lets the browser keep the frame of the page, and tells when the one that is open has become old.

/** Only where browsers allow it: https, or this machine. */
export function keepFrame(outdated: () => void) {
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  const { serviceWorker } = navigator;
  serviceWorker.addEventListener('controllerchange', async () => {
    if (await isOld()) outdated();
  });
  // Without it the page works as well; it only does not open without the server.
  serviceWorker.register('/worker.js', { updateViaCache: 'none' }).catch(() => undefined);
}

/** The server may have been replaced while it was away. */
export async function lookForNewer() {
  if (!('serviceWorker' in navigator)) return;
  // Nothing is lost if it cannot be asked now: the next visit asks again.
  await navigator.serviceWorker
    .getRegistration()
    .then((it) => it?.update())
    .catch(() => undefined);
}

/** Whether the server has other scripts by now than those that run here. */
async function isOld(): Promise<boolean> {
  const answer = await fetch('/').catch(() => undefined);
  if (!answer?.ok) return false;
  const text = await answer.text();
  const running = [...document.querySelectorAll<HTMLScriptElement>('script[type=module][src]')];
  return running.some((it) => !text.includes(new URL(it.src).pathname));
}
