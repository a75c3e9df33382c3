// Puts together what an app is lent as `window.yaar`, each part once: a copy that an app brings along finds it there and rests.
import type { Yaar } from '../../../packages/app-sdk';
import { AppLine } from './app';
import { capture } from './capture';
import { listenToConsole } from './console';
import { FileKeeper } from './keeper';
import { storage as standIn } from './local';
import { proxied } from './proxy';
import { StorageLine } from './storage';
import { Touch } from './touch';

/** What the server has told of the frame. */
export interface Told {
  /** It is a widget of a server. */
  widget?: boolean;
  /** Which app it shows, if it shows one. */
  app?: string;
  token?: string;
  readToken?: string;
  /** What tells this window from others of the same app, today and tomorrow. */
  place?: string;
}

/** What comes in here says whether it was for us. */
export type Hearing = (message: unknown) => boolean;

const LOCAL = 'apps/self/local-storage.json';

/**
 * @param post to the page around the frame
 * @param seen calls back when the frame is looked at again
 */
export function lend(told: Told, post: (message: unknown) => void, seen: (hear: () => void) => void): Hearing {
  const scope = window as unknown as Record<string, unknown> & { yaar?: Partial<Yaar> };
  const yaar = (scope.yaar ??= {});
  const storage = new StorageLine({
    base: location.pathname.match(/^\/f\/[^/]+\//)?.[0] ?? '/',
    token: told.token,
    readToken: told.readToken,
    fetch: window.fetch.bind(window),
  });
  const hearings: Hearing[] = [];
  const once = (guard: string, install: () => void) => {
    if (scope[guard]) return;
    scope[guard] = true;
    install();
  };
  once('__yaarStorageInstalled', () => (yaar.storage = storage));
  once('__yaarAppProtocolInstalled', () => {
    const instance = random();
    const later = (act: () => void, delay: number) => void setTimeout(act, delay);
    const keeper = new FileKeeper(storage, `apps/self/windows/${told.place ?? 'window'}.json`, instance, later);
    const touch = new Touch(post, () => performance.now());
    touch.listen(window);
    const app = new AppLine({ post, instance, keeper, later, touched: touch.lately });
    yaar.app = app;
    seen(() => void keeper.again());
    addEventListener('pagehide', () => keeper.leaving());
    hearings.push((message) => app.heard(message));
  });
  once('__yaarCaptureInstalled', () => hearings.push((message) => captured(message, post)));
  if (told.app !== undefined) {
    once('__yaarConsoleInstalled', () => listenToConsole(window, post));
    once('__yaarFetchProxyInstalled', () => (window.fetch = proxied(window.fetch.bind(window), storage)));
    keepLocally(storage);
  }
  return (message) => hearings.some((heard) => heard(message));
}

function captured(message: unknown, post: (message: unknown) => void): boolean {
  const { type, requestId } = (message ?? {}) as { type?: unknown; requestId?: unknown };
  if (type !== 'yaar:capture-request') return false;
  const tell = (imageData: string | null) => post({ type: 'yaar:capture-response', requestId, imageData });
  void capture(document).then(tell, () => tell(null));
  return true;
}

/** A frame without an origin has no `localStorage`. This one is fetched when it is first used, as most apps never do. */
function keepLocally(files: StorageLine) {
  let kept: Storage | undefined;
  let writing = false;
  const write = (items: () => Record<string, string>) => {
    if (writing) return;
    writing = true;
    setTimeout(() => {
      writing = false;
      files.save(LOCAL, JSON.stringify(items())).catch((error) => console.error(error));
    }, 100);
  };
  const open = () => {
    let latest = fetched(files);
    return standIn(latest, (items) => {
      latest = items;
      write(() => latest);
    });
  };
  const passing = standIn({}, () => {});
  Object.defineProperty(window, 'localStorage', { configurable: true, get: () => (kept ??= open()) });
  Object.defineProperty(window, 'sessionStorage', { configurable: true, value: passing });
}

/** At once, since whoever reads `localStorage` does not wait. Looks first whether it is there: browsers complain of what is not. */
function fetched(files: StorageLine): Record<string, string> {
  const ask = (address: string) => {
    const request = new XMLHttpRequest();
    request.open('GET', address, false);
    for (const [name, value] of Object.entries(files.headers())) request.setRequestHeader(name, value);
    request.send();
    return request.status === 200 ? (JSON.parse(request.responseText) as unknown) : undefined;
  };
  try {
    const there = ask(`${files.address('apps/self')}?list=true`) as { path: string }[] | undefined;
    const isThere = there?.some((it) => it.path.endsWith('/local-storage.json'));
    return ((isThere && ask(files.address(LOCAL))) || {}) as Record<string, string>;
  } catch {
    return {};
  }
}

/** `crypto.randomUUID` is not there on every address. */
function random(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
