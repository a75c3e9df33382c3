// In place of a browser's storage, which a frame without an origin has none of: the same, kept by the server.

/** How much fits, counted in characters. */
const MOST = 250_000;

/** @param keep is told of everything whenever something changes */
export function storage(kept: Record<string, string>, keep: (items: Record<string, string>) => void): Storage {
  const items = new Map(Object.entries(kept));
  const size = () => [...items].reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  const store: Storage = {
    get length() {
      return items.size;
    },
    key: (index) => [...items.keys()][index] ?? null,
    getItem: (name) => items.get(String(name)) ?? null,
    setItem(name, value) {
      const before = items.get(String(name));
      if (before === String(value)) return;
      items.set(String(name), String(value));
      if (size() > MOST) {
        if (before === undefined) items.delete(String(name));
        else items.set(String(name), before);
        throw new DOMException('no more than 250,000 characters can be kept', 'QuotaExceededError');
      }
      keep(Object.fromEntries(items));
    },
    removeItem(name) {
      if (items.delete(String(name))) keep(Object.fromEntries(items));
    },
    clear() {
      if (items.size === 0) return;
      items.clear();
      keep({});
    },
  };
  // `storage.name` and `storage['name']` are as good as the functions.
  return new Proxy(store, {
    get: (it, name) => (name in it || typeof name === 'symbol' ? (it as never)[name] : (items.get(name) ?? undefined)),
    set(it, name, value) {
      if (typeof name === 'string') it.setItem(name, String(value));
      return true;
    },
    deleteProperty(it, name) {
      if (typeof name === 'string') it.removeItem(name);
      return true;
    },
    has: (it, name) => name in it || (typeof name === 'string' && items.has(name)),
    ownKeys: () => [...items.keys()],
    getOwnPropertyDescriptor: (_, name) =>
      typeof name === 'string' && items.has(name)
        ? { value: items.get(name), writable: true, enumerable: true, configurable: true }
        : undefined,
  });
}
