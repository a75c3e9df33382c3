// What every document in a frame is lent: a line to the page around it, and the page's look. A classic script, before all others.
import { lend, type Told } from './yaar';

interface Theme {
  scheme: 'light' | 'dark';
  tokens: Record<string, string>;
}

interface Megaron {
  /** Passes plain data to whoever is behind this frame. */
  send(message: unknown): void;
  /** Calls back with what they say; returns how to stop. */
  onMessage(hear: (message: unknown) => void): () => void;
  /** Calls back with what was wrong with something sent. */
  onError(hear: (error: string) => void): () => void;
  onTheme(hear: (theme: Theme) => void): () => void;
  onVisible(hear: (visible: boolean) => void): () => void;
  readonly theme: Theme;
  readonly size: { width: number; height: number };
  readonly visible: boolean;
}

(() => {
  const scope = window as unknown as { __megaron?: Told & { nonce: string }; megaron?: Megaron };
  const told = scope.__megaron;
  const nonce = told?.nonce;
  delete scope.__megaron;
  if (told === undefined || nonce === undefined || scope.megaron) return;

  const WAITING = 200;
  const { parent } = window;
  // Other frames of the page can write to a widget as well, and it need not know that.
  if (told.widget) {
    const guard = (event: MessageEvent) => {
      const asked = event.source === parent && event.data?.type === 'megaron:ping';
      if (asked) parent.postMessage({ type: 'megaron:pong' }, '*');
      if (asked || (event.source !== parent && event.source !== window)) event.stopImmediatePropagation();
    };
    addEventListener('message', guard, true);
    watch();
  }
  const post = (message: unknown) => parent.postMessage(message, '*');

  /** Tells what went wrong, so that nobody wonders at an empty place. Few of it: one fault often leads to many. */
  function watch() {
    let left = 8;
    const fault = (verdict: string, detail: unknown) => {
      left -= 1;
      if (left >= 0) parent.postMessage({ type: 'megaron:fault', verdict, detail: String(detail) }, '*');
    };
    addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI, disposition }) => {
      // Many libraries only try whether they may make code of text, and do without.
      if (disposition === 'enforce' && blockedURI !== 'eval') fault('csp-blocked', `${effectiveDirective} ${blockedURI}`);
    });
    addEventListener('error', (event) => event instanceof ErrorEvent && fault('script-error', event.message));
    addEventListener('unhandledrejection', ({ reason }) => fault('script-error', reason?.message ?? reason));
  }

  const hearers = {
    message: new Set<(message: unknown) => void>(),
    error: new Set<(error: string) => void>(),
    theme: new Set<(theme: Theme) => void>(),
    visible: new Set<(visible: boolean) => void>(),
  };
  /** Sent before the page had answered. */
  const waiting: unknown[] = [];
  /** Heard before anybody listened. */
  const early: unknown[] = [];
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  let theme: Theme = { scheme: dark ? 'dark' : 'light', tokens: {} };
  let visible = true;
  let welcomed = false;

  function on<T>(set: Set<(value: T) => void>, hear: (value: T) => void) {
    set.add(hear);
    return () => void set.delete(hear);
  }

  function tell<T>(set: Set<(value: T) => void>, value: T) {
    for (const hear of set) hear(value);
  }

  function wear(next: Theme) {
    theme = next;
    const { style } = document.documentElement;
    style.setProperty('color-scheme', theme.scheme);
    for (const [name, value] of Object.entries(theme.tokens)) style.setProperty(name, value);
    tell(hearers.theme, theme);
  }

  const megaron: Megaron = Object.freeze({
    send(message: unknown) {
      if (welcomed) post(message);
      else if (waiting.length < WAITING) waiting.push(message);
    },
    onMessage(hear: (message: unknown) => void) {
      const stop = on(hearers.message, hear);
      for (const message of early.splice(0)) hear(message);
      return stop;
    },
    onError: (hear: (error: string) => void) => on(hearers.error, hear),
    onTheme: (hear: (theme: Theme) => void) => on(hearers.theme, hear),
    onVisible: (hear: (visible: boolean) => void) => on(hearers.visible, hear),
    get theme() {
      return theme;
    },
    get size() {
      return { width: innerWidth, height: innerHeight };
    },
    get visible() {
      return visible;
    },
  });

  scope.megaron = megaron;
  const heardByApp = lend(told, megaron.send, (hear) => void megaron.onVisible((seen) => seen && hear()));

  addEventListener('message', (event) => {
    // Another frame of the same page can write to us as well.
    if (event.source !== parent || parent === window) return;
    const message = event.data as { type?: unknown; theme?: Theme; visible?: boolean; error?: string } | null;
    switch (message?.type) {
      case 'megaron:welcome':
        welcomed = true;
        visible = message.visible ?? true;
        if (message.theme) wear(message.theme);
        for (const each of waiting.splice(0)) post(each);
        break;
      case 'megaron:theme':
        if (message.theme) wear(message.theme);
        break;
      case 'megaron:visible':
        visible = message.visible ?? true;
        tell(hearers.visible, visible);
        break;
      case 'megaron:error':
        tell(hearers.error, String(message.error));
        break;
      default:
        // The files of the app have changed; applets see to it themselves.
        if (told.app !== undefined && message?.type === 'reload') return location.reload();
        if (heardByApp(message)) break;
        if (hearers.message.size > 0) tell(hearers.message, message);
        else if (early.length < WAITING) early.push(message);
    }
  });

  addEventListener('pagehide', () => post({ type: 'megaron:leaving' }));

  let tall = -1;
  const measure = () => {
    const height = Math.ceil(document.documentElement.getBoundingClientRect().height);
    if (height === tall) return;
    tall = height;
    post({ type: 'megaron:size', height });
  };
  new ResizeObserver(measure).observe(document.documentElement);

  post({ type: 'megaron:hello', nonce });
})();
