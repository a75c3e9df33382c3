// What runs in an applet's frame before the applet: its API, its addresses, its storage, then its HTML.
import { storage } from '../../frames/sdk/local';
import { appletApi } from './api';
import { Params } from './params';
import { wrap } from './urls';

interface Config {
  slug: string;
  sessionId: string | null;
  html: string;
  storage: Record<string, string>;
}

interface Line {
  send(message: unknown): void;
  onMessage(hear: (message: unknown) => void): () => void;
  onError(hear: (error: string) => void): () => void;
}

type Heard = { type?: unknown; data?: Record<string, unknown>; params?: Record<string, string> } | null;

const scope = window as unknown as Record<string, unknown> & { __applet?: Config; megaron?: Line };
const config = scope.__applet!;
const line = scope.megaron!;
delete scope.__applet;

const base = location.pathname.replace(/[^/]*$/, '');
wrap(base);

const page = (message: unknown) => parent.postMessage(message, '*');
const params = new Params(location.search, (own, mode) => {
  mirror();
  page({ type: 'megaron:params', params: own, mode });
  line.send({ type: 'navigated', params: own });
});

/** The frame's own address says what the page's does: applets read either. */
function mirror() {
  const said = new URLSearchParams({ applet: config.slug, ...params.all() });
  history.replaceState(history.state, '', `${base}?${said}`);
}

const hearers = new Set<(data: Record<string, unknown>) => void>();
line.onMessage((message) => {
  const heard = message as Heard;
  if (heard?.type === 'state' && heard.data) for (const hear of hearers) guarded(() => hear(heard.data!));
  if (heard?.type === 'megaron:params' && heard.params) {
    params.came(heard.params);
    mirror();
    line.send({ type: 'navigated', params: params.own() });
  }
});
line.onError((error) => console.error(`Megaron: ${error}`));

/** One listener that fails does not silence the others. */
function guarded(act: () => void) {
  try {
    act();
  } catch (error) {
    reportError(error);
  }
}

const api = appletApi({
  slug: config.slug,
  sessionId: config.sessionId,
  params,
  send: (message) => line.send(message),
  listen(hear) {
    hearers.add(hear);
    return () => void hearers.delete(hear);
  },
  fetch: (...request) => window.fetch(...request),
  globals: scope,
});
Object.assign(scope, { appletAPI: api, setAppletState: api.setAppletState, expose: api.expose });

const kept = storage(config.storage, (items) => line.send({ type: 'store', items }));
const passing = storage({}, () => {});
Object.defineProperty(window, 'localStorage', { configurable: true, value: kept });
Object.defineProperty(window, 'sessionStorage', { configurable: true, value: passing });

// A link to the page's front door opens an applet there; the frame itself stays.
addEventListener('click', (event) => {
  const link = event.composedPath().find((it): it is HTMLAnchorElement => it instanceof HTMLAnchorElement && !!it.href);
  if (!link || event.defaultPrevented || event.button !== 0) return;
  const to = new URL(link.href, location.href);
  if (to.origin !== location.origin || to.pathname !== '/') return;
  event.preventDefault();
  page({ type: 'megaron:open', search: to.search });
});

const container = document.querySelector<HTMLElement>('.applet-content')!;
scope.appletContainer = container;
container.innerHTML = config.html;
