// What stands in the address of an applet, kept in step between the frame and the page around it.

export type Mode = 'replace' | 'push';
type Values = Record<string, string>;

/** Those that are not the applet's own to change. */
const NAMED = ['applet', 'session'];

export class Params {
  private values: Values;
  private hear: ((params: Values) => void) | undefined;
  private told = '';

  /** @param changed tells the page, and the frame's own address */
  constructor(
    search: string,
    private changed: (params: Values, mode: Mode) => void,
  ) {
    this.values = read(search);
  }

  all(): Values {
    return { ...this.values };
  }

  /** Without the session. */
  own(): Values {
    return Object.fromEntries(Object.entries(this.values).filter(([name]) => !NAMED.includes(name)));
  }

  /** An empty value stays when replaced, and goes when gone to. */
  set(key: string, value: string, mode: Mode) {
    if (NAMED.includes(key)) return;
    if (mode === 'push' && value === '') delete this.values[key];
    else this.values[key] = value;
    this.changed(this.own(), mode);
    this.tell();
  }

  /** The page went elsewhere: back, forward, or by a link. */
  came(params: Values) {
    const named = Object.entries(this.values).filter(([name]) => NAMED.includes(name));
    this.values = { ...Object.fromEntries(named), ...params };
    this.tell();
  }

  listen(hear: (params: Values) => void) {
    this.hear = hear;
    this.told = '';
    this.tell();
  }

  private tell() {
    const now = JSON.stringify(Object.entries(this.values).sort());
    if (!this.hear || now === this.told) return;
    this.told = now;
    this.hear(this.all());
  }
}

function read(search: string): Values {
  const values: Values = {};
  for (const [name, value] of new URLSearchParams(search)) if (name !== 'applet') values[name] = value;
  return values;
}
