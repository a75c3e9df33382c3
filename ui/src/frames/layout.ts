// Which windows a session has and how they are arranged: plain data, and where it is kept.

export type Arrangement = 'tabs' | 'tiles';
export type FrameKind = 'app' | 'applet' | 'window' | 'widget';

export interface Pane {
  /** Grows with every window, so that the order of opening is the order of keys. */
  key: number;
  kind: FrameKind;
  id: string;
  /** What stands in the address of an applet. */
  params?: Record<string, string>;
  /** Beside the conversation, or within it. */
  place: 'beside' | 'chat';
  /** Its share of the height among tiles. */
  weight: number;
}

export interface Layout {
  arrangement: Arrangement;
  /** As they are shown, first to last. */
  panes: Pane[];
  /** The one in front, by key. */
  front: number;
  maximised: boolean;
  /** How much of the room beside the list of sessions the windows take, in percent. */
  share: number;
}

export const LEAST_SHARE = 25;
export const MOST_SHARE = 75;
const LEAST_WEIGHT = 0.25;
const MOST_WEIGHT = 4;
const MOST_PANES = 16;

export function empty(): Layout {
  return { arrangement: 'tabs', panes: [], front: 0, maximised: false, share: 50 };
}

export function opened(layout: Layout, kind: FrameKind, id: string, params?: Record<string, string>): Layout {
  if (kind !== 'window' && layout.panes.filter(isOurs).length >= MOST_PANES) return layout;
  const key = 1 + Math.max(0, ...layout.panes.map((it) => it.key));
  const pane: Pane = { key, kind, id, place: 'beside', weight: 1, ...(params ? { params } : {}) };
  return { ...layout, panes: [...layout.panes, pane], front: key };
}

/** Those the page itself has opened; of the others the server knows. */
function isOurs({ kind }: Pane): boolean {
  return kind !== 'window';
}

/** With a place for each of these windows of the session, and for no others. New ones come last, and to the front. */
export function seated(layout: Layout, windows: string[]): Layout {
  const stale = layout.panes.filter((it) => it.kind === 'window' && !windows.includes(it.id));
  const left = stale.reduce((so, { key }) => closed(so, key), layout);
  const known = new Set(left.panes.filter((it) => it.kind === 'window').map(({ id }) => id));
  return windows.filter((id) => !known.has(id)).reduce((so, id) => opened(so, 'window', id), left);
}

/** Another in the place of this one. */
export function replaced(layout: Layout, key: number, kind: FrameKind, id: string, params: Record<string, string>): Layout {
  const was = layout.panes.find((it) => it.key === key);
  if (!was) return opened(layout, kind, id, params);
  const next = 1 + Math.max(0, ...layout.panes.map((it) => it.key));
  const pane: Pane = { ...was, key: next, kind, id, params };
  return { ...layout, panes: layout.panes.map((it) => (it.key === key ? pane : it)), front: next };
}

/** The person went elsewhere in an applet. */
export function steered(layout: Layout, key: number, params: Record<string, string>): Layout {
  return { ...layout, panes: layout.panes.map((it) => (it.key === key ? { ...it, params } : it)) };
}

/** Without this window; the one after it, or else before it, comes to the front. */
export function closed(layout: Layout, key: number): Layout {
  const left = layout.panes.filter((it) => it.key !== key);
  return { ...layout, panes: left, ...fronted(layout, key, left) };
}

export function placed(layout: Layout, key: number, place: Pane['place']): Layout {
  const panes = layout.panes.map((it) => (it.key === key ? { ...it, place } : it));
  const moved = { ...layout, panes };
  return place === 'beside' ? { ...moved, front: key } : { ...moved, ...fronted(layout, key, panes) };
}

/** Who is in front once this one is no longer beside the conversation. */
function fronted(layout: Layout, key: number, left: Pane[]): Pick<Layout, 'front' | 'maximised'> {
  if (layout.front !== key) return { front: layout.front, maximised: layout.maximised };
  const before = beside(layout);
  const at = before.findIndex((it) => it.key === key);
  const still = left.filter((it) => it.place === 'beside');
  const next = still[Math.min(Math.max(at, 0), still.length - 1)];
  return { front: next?.key ?? 0, maximised: false };
}

/** Lets a window change places with those before it, or after it. */
export function moved(layout: Layout, key: number, to: number): Layout {
  const row = beside(layout);
  const from = row.findIndex((it) => it.key === key);
  const target = Math.min(Math.max(to, 0), row.length - 1);
  if (from < 0 || from === target) return layout;
  const [pane] = row.splice(from, 1);
  row.splice(target, 0, pane!);
  return { ...layout, panes: [...row, ...layout.panes.filter((it) => it.place === 'chat')] };
}

/** Gives a tile more height, and the next one as much less. */
export function weighed(layout: Layout, key: number, by: number): Layout {
  const row = beside(layout);
  const at = row.findIndex((it) => it.key === key);
  const [upper, lower] = [row[at], row[at + 1]];
  if (!upper || !lower) return layout;
  const sum = upper.weight + lower.weight;
  const most = Math.min(MOST_WEIGHT, sum - LEAST_WEIGHT);
  const weight = Math.min(Math.max(upper.weight + by, LEAST_WEIGHT), most);
  const weights = new Map([
    [upper.key, weight],
    [lower.key, sum - weight],
  ]);
  return { ...layout, panes: layout.panes.map((it) => ({ ...it, weight: weights.get(it.key) ?? it.weight })) };
}

export function shared(layout: Layout, share: number): Layout {
  return { ...layout, share: Math.min(MOST_SHARE, Math.max(LEAST_SHARE, Math.round(share))) };
}

export function beside(layout: Layout): Pane[] {
  return layout.panes.filter((it) => it.place === 'beside');
}

/** What an app's windows are called: by its title, and from the second on by number as well. */
export function titled(layout: Layout, pane: Pane, title: string): string {
  const same = layout.panes.filter((it) => it.id === pane.id && it.kind === pane.kind);
  const number = 1 + same.filter((it) => it.key < pane.key).length;
  return number > 1 ? `${title} ${number}` : title;
}

const SHELF = 'megaron.windows';
/** How many sessions are remembered; those looked at last. */
const SESSIONS = 50;

type Storage = Pick<globalThis.Storage, 'getItem' | 'setItem'>;

export function load(session: string, storage: Storage = localStorage): Layout {
  return read(records(storage).find(([name]) => name === session)?.[1]);
}

export function save(session: string, layout: Layout, storage: Storage = localStorage) {
  const others = records(storage).filter(([name]) => name !== session);
  const worthwhile = layout.panes.length > 0 ? [[session, layout] as const] : [];
  try {
    storage.setItem(SHELF, JSON.stringify([...worthwhile, ...others].slice(0, SESSIONS)));
  } catch {
    // A browser that keeps nothing still shows windows.
  }
}

function records(storage: Storage): [string, unknown][] {
  try {
    const kept: unknown = JSON.parse(storage.getItem(SHELF) ?? '[]');
    const isRecord = (it: unknown): it is [string, unknown] => Array.isArray(it) && typeof it[0] === 'string';
    return Array.isArray(kept) ? kept.filter(isRecord) : [];
  } catch {
    return [];
  }
}

/** What was kept, as far as it still makes sense. */
function read(kept: unknown): Layout {
  const record = (kept ?? {}) as Partial<Record<keyof Layout, unknown>>;
  const all = (Array.isArray(record.panes) ? record.panes : []).flatMap(readPane);
  const most = new Set(all.filter(isOurs).slice(0, MOST_PANES));
  const panes = all.filter((it) => !isOurs(it) || most.has(it));
  const known = new Map(panes.map((it) => [it.key, it]));
  const row = [...known.values()];
  const front = row.find((it) => it.key === record.front && it.place === 'beside') ?? row.find(isBeside);
  return shared(
    {
      arrangement: record.arrangement === 'tiles' ? 'tiles' : 'tabs',
      panes: row,
      front: front?.key ?? 0,
      maximised: record.maximised === true && front !== undefined,
      share: 50,
    },
    typeof record.share === 'number' && Number.isFinite(record.share) ? record.share : 50,
  );
}

function isBeside(pane: Pane): boolean {
  return pane.place === 'beside';
}

function readPane(kept: unknown): Pane[] {
  const { key, kind, id, place, weight, params } = (kept ?? {}) as Partial<Record<keyof Pane, unknown>>;
  if (typeof key !== 'number' || !Number.isSafeInteger(key) || key < 1) return [];
  if ((kind !== 'app' && kind !== 'applet' && kind !== 'window') || typeof id !== 'string' || id === '') return [];
  const sound = typeof weight === 'number' && weight >= LEAST_WEIGHT && weight <= MOST_WEIGHT;
  const pane: Pane = { key, kind, id, place: place === 'chat' ? 'chat' : 'beside', weight: sound ? weight : 1 };
  return [kind === 'applet' ? { ...pane, params: readParams(params) } : pane];
}

function readParams(kept: unknown): Record<string, string> {
  const entries = typeof kept === 'object' && kept !== null ? Object.entries(kept) : [];
  return Object.fromEntries(entries.filter((it): it is [string, string] => typeof it[1] === 'string'));
}
