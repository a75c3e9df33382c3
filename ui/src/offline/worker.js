// Keeps the frame of the page at hand, so that it opens and says so when the server cannot be reached. Never touches what is said.
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
