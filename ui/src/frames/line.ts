// One frame's line to the page: knows our documents by their word, keeps them within limits, and passes messages on.
import { Allowance, MESSAGE_BYTES, written } from './limits';
import type { Look } from './look';

/** What the frame's surroundings do for it. */
export interface Ends {
  /** To the document in the frame. */
  post(message: unknown): void;
  /** To the server, as JSON. */
  pass(text: string): void;
  /** A document of ours is there, and knows nothing yet. */
  greeted(): void;
  /** The document told its height. */
  tall(height: number): void;
  state(state: LineState): void;
  now(): number;
  /** What stands in its address is something else now. */
  steered?(params: Record<string, string>, mode: 'push' | 'replace'): void;
  /** It leads to a place in the page. @param away whether the document itself has gone there */
  leads?(search: string, away: boolean): void;
  /** Something went wrong within the document. */
  broke?(verdict: string, detail: string): void;
  /** The document has stopped answering, or answers again. */
  numb?(numb: boolean): void;
  /** What apps say to whoever asks them something. */
  app?: AppEnd | undefined;
}

export interface AppEnd {
  /** Whether this was asked for. */
  awaits(message: unknown): boolean;
  heard(message: unknown): void;
  /** There is nobody any more who could be asked. */
  lost(): void;
}

/** Our own script says so in every frame; only windows are in anybody's hands. */
const TOUCHES: ReadonlySet<string> = new Set(['yaar:app-touched', 'yaar:app-hand-back']);

/** So often it may be asked in vain whether it is still there. */
export const IN_VAIN = 3;

/** So much of what went wrong is told, in letters. */
const FAULT = 300;

/** Before its word; with it; after it went elsewhere; after it was put out. */
export type LineState = 'loading' | 'ready' | 'strayed' | 'flooding';

export class Line {
  private state: LineState = 'loading';
  /** Whether the document that speaks has given the word. */
  private known = false;
  /** Whether the word was given since a document was last there whole. */
  private fresh = false;
  private allowance: Allowance;
  /** How often it was asked in vain whether it is still there. */
  private vain = 0;

  constructor(
    private nonce: string,
    private ends: Ends,
    private look: () => Look,
    private visible: () => boolean,
  ) {
    this.allowance = new Allowance(ends.now());
  }

  /** Something came from the frame itself; whoever calls has made sure of that. */
  heard(message: unknown) {
    if (this.state === 'flooding') return;
    if (this.vain > IN_VAIN) this.ends.numb?.(false);
    this.vain = 0;
    // An answer costs nothing: whoever asked was counted.
    const asked = this.known && (this.ends.app?.awaits(message) ?? false);
    const verdict = asked ? 'fine' : this.allowance.spend(this.ends.now());
    if (verdict === 'flood') return this.become('flooding');
    if (verdict === 'too fast') this.complain('messages come too fast; those that came meanwhile were dropped');
    if (verdict !== 'fine') return;
    const kind = typeOf(message);
    if (kind === 'megaron:hello') return this.hello(message as { nonce?: unknown });
    if (kind === 'megaron:open') return this.leads(message as { search?: unknown });
    if (this.state !== 'ready') return;
    if (kind === 'megaron:leaving') this.known = false;
    if (kind === 'megaron:size') return this.size((message as { height?: unknown }).height);
    if (kind === 'megaron:fault') return this.broke(message as { verdict?: unknown; detail?: unknown });
    if (kind === 'megaron:params') return this.steered(message as { params?: unknown; mode?: unknown });
    if (kind.startsWith('megaron:')) return;
    // Between one document and the next nobody is known.
    if (!this.known) return;
    if (kind.startsWith('yaar:') && this.ends.app) return this.ends.app.heard(message);
    if (TOUCHES.has(kind)) return;
    const text = written(message);
    if (!('error' in text)) return this.ends.pass(text.text);
    this.complain(text.error);
    this.refuse(message, text.error);
  }

  /** Whoever asks something in the way of widgets waits for an answer. */
  private refuse(message: unknown, error: string) {
    const { jsonrpc, id, method } = Object(message) as { jsonrpc?: unknown; id?: unknown; method?: unknown };
    if (jsonrpc !== '2.0' || typeof method !== 'string' || !['string', 'number'].includes(typeof id)) return;
    const data = { limit: 'messageBytes', max: MESSAGE_BYTES };
    this.ends.post({ jsonrpc, id, error: { code: -32000, message: error, data } });
  }

  /** Asks whether anybody is still there: a document that broke down cannot say so. */
  beat() {
    if (this.state !== 'ready' || !this.known) return;
    this.vain += 1;
    if (this.vain === IN_VAIN + 1) this.ends.numb?.(true);
    this.ends.post({ type: 'megaron:ping' });
  }

  /** A document is there whole. One of ours has given its word by now. */
  loaded() {
    if (this.state === 'flooding') return;
    if (!this.fresh) {
      this.known = false;
      this.become('strayed');
    }
    this.fresh = false;
  }

  /** From the server, for the document. */
  told(message: unknown) {
    // What the page says of itself bears its name, and nobody else's words may.
    if (this.state === 'ready' && !typeOf(message).startsWith('megaron:')) this.ends.post(message);
  }

  complain(error: string) {
    if (this.state === 'ready') this.ends.post({ type: 'megaron:error', error });
  }

  /** From the page itself, for the app. */
  ask(message: unknown) {
    if (this.state === 'ready') this.ends.post(message);
  }

  restyle() {
    if (this.state === 'ready') this.ends.post({ type: 'megaron:theme', theme: this.look() });
  }

  reveal() {
    if (this.state === 'ready') this.ends.post({ type: 'megaron:visible', visible: this.visible() });
  }

  private hello({ nonce }: { nonce?: unknown }) {
    if (nonce !== this.nonce) return;
    this.known = this.fresh = true;
    this.become('ready');
    this.ends.post({ type: 'megaron:welcome', theme: this.look(), visible: this.visible() });
    this.ends.greeted();
  }

  private steered({ params, mode }: { params?: unknown; mode?: unknown }) {
    if (!this.known || typeof params !== 'object' || params === null) return;
    const texts = Object.entries(params).filter((it): it is [string, string] => typeof it[1] === 'string');
    this.ends.steered?.(Object.fromEntries(texts), mode === 'push' ? 'push' : 'replace');
  }

  private leads({ search }: { search?: unknown }) {
    if (typeof search === 'string') this.ends.leads?.(search, !this.known);
  }

  /** The person went elsewhere in the page. */
  steer(params: Record<string, string>) {
    if (this.state === 'ready') this.ends.post({ type: 'megaron:params', params });
  }

  private broke({ verdict, detail }: { verdict?: unknown; detail?: unknown }) {
    if (!this.known || typeof verdict !== 'string' || typeof detail !== 'string') return;
    this.ends.broke?.(verdict, detail.slice(0, FAULT));
  }

  private size(height: unknown) {
    if (typeof height === 'number' && Number.isFinite(height)) this.ends.tall(height);
  }

  private become(state: LineState) {
    if (state === this.state) return;
    this.state = state;
    this.ends.state(state);
    if (state === 'strayed' || state === 'flooding') this.ends.app?.lost();
  }
}

function typeOf(message: unknown): string {
  const type = typeof message === 'object' && message !== null ? (message as { type?: unknown }).type : undefined;
  return typeof type === 'string' ? type : '';
}
