// Keeps the frame of the page at hand, so that it opens and says so when the server cannot be reached, and shows what the
// server sends while the page is closed. Never touches what is said.
// The build puts a version and the list of files in place of the two words below.
const VERSION = '__VERSION__';
const FILES = __FILES__;
const NAME = `megaron ${VERSION}`;

self.addEventListener('install', (event) => {
  // What goes to the server anyway need not pass by here.
  const past = ['/api/*', '/v1/*', '/mcp', '/login', '/ws', '/caco/*', '/docs'];
  event.addRoutes?.(past.map((pathname) => ({ condition: { urlPattern: { pathname } }, source: 'network' })))?.catch(
    // A browser that does not take them asks below, and is told the same.
    () => undefined,
  );
  event.waitUntil(keep().then(() => self.skipWaiting()));
});

self.addEventListener('activate', (event) => {
  event.waitUntil(tidy().then(() => self.clients.claim()));
});

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== 'GET' || origin !== location.origin) return;
  if (request.mode === 'navigate' && pathname === '/') event.respondWith(fresh(request));
  else if (/^\/(assets|icons)\//.test(pathname)) event.respondWith(kept(request));
  else if (pathname === '/theme.js') event.respondWith(fresh(request));
});

async function keep() {
  const cache = await caches.open(NAME);
  // All or nothing: a frame with a hole would be worse than none.
  await cache.addAll(FILES.map((file) => new Request(file, { cache: 'no-cache' })));
}

/** The one before stays, as a page that is still open may need a part it has not loaded yet. */
async function tidy() {
  const names = (await caches.keys()).filter((it) => it.startsWith('megaron '));
  const others = names.filter((it) => it !== NAME);
  await Promise.all(others.slice(0, -1).map((it) => caches.delete(it)));
}

/** From the server, and only where there is none from what was kept. */
async function fresh(request) {
  try {
    return await fetch(request);
  } catch (error) {
    const path = new URL(request.url).pathname;
    const before = await caches.match(path);
    if (before) return before;
    throw error;
  }
}

/** Files with a hash in their name never change. */
async function kept(request) {
  const before = await caches.match(request, { ignoreVary: true });
  if (before) return before;
  const answer = await fetch(request);
  if (answer.ok) {
    const cache = await caches.open(NAME);
    await cache.put(request, answer.clone());
  }
  return answer;
}

self.addEventListener('push', (event) => event.waitUntil(show(event.data)));

self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data ?? {}));
});

// The browser has made a new address for itself: the server learns it, and finds the old one gone.
self.addEventListener('pushsubscriptionchange', (event) => event.waitUntil(renew(event)));

/** Whatever comes is shown: a browser takes its leave back from those who keep messages to themselves. */
async function show(data) {
  let told = {};
  try {
    told = data?.json() ?? {};
  } catch {
    // Of another make than ours; that something came is all there is to say.
  }
  const { title = 'Megaron', body = '', sessionId = '', kind = '' } = told;
  await self.registration.showNotification(String(title), {
    body: String(body),
    // A newer one about the same session takes the place of the older one.
    tag: sessionId || 'megaron',
    renotify: true,
    icon: '/icons/hearth-192.png',
    data: { sessionId, kind },
  });
}

/** Shows the session in a page that is open, or in a new one. */
async function open({ sessionId = '', kind = '' }) {
  const pages = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const ours = pages.filter((it) => new URL(it.url).pathname === '/');
  const page = ours.find((it) => it.visibilityState === 'visible') ?? ours[0];
  if (page) {
    if (sessionId) page.postMessage({ type: 'megaron.notice', sessionId });
    // Some browsers allow it only at times; the page shows the right thing all the same.
    await page.focus().catch(() => undefined);
    return;
  }
  const place = kind === 'test' ? '/?view=devices' : sessionId ? `/?session=${encodeURIComponent(sessionId)}` : '/';
  await self.clients.openWindow(place);
}

async function renew({ oldSubscription, newSubscription }) {
  const options = oldSubscription?.options;
  const subscription = newSubscription ?? (options && (await self.registration.pushManager.subscribe(options)));
  if (!subscription) return;
  await fetch('/api/push/subscriptions', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(subscription),
  });
}
