// The part of the page's address that names an applet and where the person is in it.

export interface AppletPlace {
  slug: string;
  params: Record<string, string>;
}

/** Those that are the page's own. */
const NAMED = ['applet', 'session', 'view', 'app'];

export function appletIn(search: string): AppletPlace | undefined {
  const said = new URLSearchParams(search);
  const slug = said.get('applet');
  if (!slug) return undefined;
  return { slug, params: Object.fromEntries([...said].filter(([name]) => !NAMED.includes(name))) };
}

/** The same address, with this applet instead of any other. */
export function withApplet(search: string, place: AppletPlace | undefined): string {
  const said = new URLSearchParams();
  for (const [name, value] of new URLSearchParams(search)) if (name === 'session' || name === 'view') said.set(name, value);
  if (place) said.set('applet', place.slug);
  for (const [name, value] of Object.entries(place?.params ?? {})) if (!NAMED.includes(name)) said.set(name, value);
  return said.size > 0 ? `/?${said}` : '/';
}

/** What a link of this page leads to, if that is an applet and it was simply clicked. */
export function followed(event: MouseEvent): AppletPlace | undefined {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return undefined;
  const link = (event.target as Element | null)?.closest?.<HTMLAnchorElement>('a[href]');
  if (!link || link.origin !== location.origin || link.pathname !== '/') return undefined;
  return appletIn(link.search);
}

/** How agents are told where the person is: the applet, then what stands in its address. */
export function asContext({ slug, params }: AppletPlace): string[] {
  return [slug, ...Object.entries(params).map(([name, value]) => `${name}=${value}`)];
}
