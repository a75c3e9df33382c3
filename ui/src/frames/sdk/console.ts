// Passes on what an app writes to its console, within limits, so that its author sees it from outside.

const LEVELS = ['log', 'info', 'warn', 'error', 'debug'] as const;
const CHARS = 2000;
/** In a second. */
const MOST = 10;

/** The address of a frame is a key to it, and no business of whoever reads this. */
const TICKET = /\bhttps?:\/\/[^\s/]+\/f\/[^\s/]+\/?/g;

export function listenToConsole(scope: Window & typeof globalThis, post: (message: unknown) => void) {
  let second = 0;
  let told = 0;
  const tell = (level: string, args: unknown[]) => {
    const timestamp = Date.now();
    if (Math.floor(timestamp / 1000) !== second) {
      second = Math.floor(timestamp / 1000);
      told = 0;
    }
    told += 1;
    if (told <= MOST) post({ type: 'yaar:console', level, args: args.map(written), timestamp });
  };
  for (const level of LEVELS) {
    const native = scope.console[level].bind(scope.console);
    scope.console[level] = (...args: unknown[]) => {
      native(...args);
      tell(level, args);
    };
  }
  scope.addEventListener('error', (event) => tell('error', [placed(event)]));
  scope.addEventListener('unhandledrejection', (event) => tell('error', [event.reason]));
}

/** What went wrong and where, as far as a browser says it. */
function placed({ message, filename, lineno, colno }: ErrorEvent): string {
  const file = filename?.replace(TICKET, '') || 'document';
  return filename ? `${message} (${file}:${lineno}:${colno})` : message;
}

export function written(value: unknown): string {
  let text: string | undefined;
  try {
    text = typeof value === 'object' && !(value instanceof Error) ? JSON.stringify(value) : String(value);
  } catch {
    text = Object.prototype.toString.call(value);
  }
  return (text ?? String(value)).slice(0, 2 * CHARS).replace(TICKET, '').slice(0, CHARS);
}
