// Where in the page one is, as the address tells it; pure.
export const views = ['chat', 'approvals', 'schedules', 'desktop', 'apps', 'devices', 'tools', 'models', 'settings'] as const;

export type View = (typeof views)[number];

export interface Spot {
  sessionId: string;
  view: View;
}

export function read(search: string): Spot {
  const said = new URLSearchParams(search);
  const view = views.find((it) => it === said.get('view')) ?? 'chat';
  return { sessionId: said.get('session') ?? '', view };
}

/** The address of a session or a view. What else the search says belongs to others, and stays. */
export function address(sessionId: string, view: View, search = ''): string {
  const said = new URLSearchParams(search);
  said.delete('session');
  said.delete('view');
  const rest = [...said];
  const all = new URLSearchParams();
  if (sessionId) all.set('session', sessionId);
  if (view !== 'chat') all.set('view', view);
  for (const [name, value] of rest) all.append(name, value);
  return all.size > 0 ? `/?${all}` : '/';
}

/** A click with a modifier is the browser's: new tab, new window, save. */
export function isOurs(event: MouseEvent): boolean {
  return !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || event.button > 0);
}
