// Whether a browser shows a window from one address in a page from another; pure.

/** A page that came encrypted may show nothing that does not, unless it comes from the same machine. */
export function isMixed(page: string, frame: string): boolean {
  const [outer, inner] = [new URL(page), new URL(frame)];
  const isNear = /^(127(\.\d+){3}|(.+\.)?localhost)$/.test(inner.hostname);
  return outer.protocol === 'https:' && inner.protocol === 'http:' && !isNear;
}
