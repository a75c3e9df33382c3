// One widget on show: how it is shown, what it wants of the page, and what it must be told.
import { look, watchLook } from '../lib/theme';
import type { DisplayMode, FrameNote, FrameWish } from '../lib/wire';
import { fitting, news, surroundings, type Box } from './stage';

/** A touch is told of so often at most, in milliseconds. */
const SOON = 300;
/** After so long it is looked once more whether there was one. */
const LATE = 200;

export class Showing {
  mode = $state<DisplayMode>('inline');
  height = $state(160);
  /** The widget itself, or the person, has had enough. */
  closed = $state(false);
  /** What went wrong in it, as the page saw it. */
  fault = $state.raw<{ verdict: string; detail: string }>();
  /** What it knows of its surroundings. */
  private told: Record<string, unknown>;
  private note: (note: FrameNote) => void = () => {};
  /** How the server is told that it goes; it tells the widget. */
  parting: () => Promise<unknown> = async () => {};
  private asked = 0;
  private drawing = 0;
  /** When it was last looked for a touch. */
  private touched = -Infinity;
  /** It tells its height itself, and better than anybody could measure it. */
  private tellsHeight = false;

  /** @param box how much room there is for it now */
  constructor(private box: () => Box) {
    this.told = this.now();
  }

  /** What the server is told with the wish for a frame. */
  get params(): Record<string, string> {
    const { locale, timeZone } = new Intl.DateTimeFormat().resolvedOptions();
    this.told = this.now();
    const { theme, ...rest } = this.told;
    const touch = matchMedia('(pointer: coarse)').matches;
    const hover = matchMedia('(hover: hover)').matches;
    const context = JSON.stringify({ ...rest, deviceCapabilities: { touch, hover } });
    return { theme: String(theme), locale: navigator.language || locale, timeZone, context };
  }

  /** A document is there that can be told something. */
  begin(note: (note: FrameNote) => void) {
    this.note = note;
    this.fault = undefined;
    this.changed();
  }

  /** Watches what is around it, until it is called off. */
  watch(): () => void {
    return watchLook(() => this.changed());
  }

  /** Something around it may be different. */
  changed() {
    const now = this.now();
    const context = news(this.told, now);
    this.told = now;
    if (context) this.note({ context });
  }

  /** It told its height, or that was measured. Drawn once for each picture, however often it is told. */
  tall(height: number, measured = false) {
    if (!Number.isFinite(height) || (measured && this.tellsHeight)) return;
    this.tellsHeight ||= !measured;
    this.asked = fitting(height);
    this.drawing ||= requestAnimationFrame(() => {
      this.drawing = 0;
      this.height = this.asked;
    });
  }

  /**
   * It said something: what a person has just touched may do more than what acts by itself.
   * @param focused whether it has the focus: who touched something else did not mean it
   */
  spoke(focused: () => boolean) {
    if (performance.now() - this.touched < SOON) return;
    this.touched = performance.now();
    // What it says about a touch may come before the browser lets us know of that.
    if (!this.touch(focused)) setTimeout(() => this.touch(focused), LATE);
  }

  private touch(focused: () => boolean): boolean {
    const touched = focused() && navigator.userActivation?.isActive;
    if (touched) this.note({ gesture: true });
    return touched;
  }

  broke(verdict: string, detail: string) {
    // The first is the cause, and the rest mostly what followed.
    this.fault ??= { verdict, detail };
    this.note({ verdict, detail });
  }

  /** It had only been away for a while. */
  mended() {
    if (this.fault?.verdict === 'crashed') this.fault = undefined;
  }

  show(mode: DisplayMode) {
    this.mode = mode;
  }

  wished(wish: FrameWish) {
    if (wish.kind === 'size') return this.resize(wish);
    if (wish.kind === 'close') return void this.close();
    const { id } = wish;
    if (wish.kind === 'open-link') return this.note({ done: id, ok: follow(wish.url) });
    if (wish.kind === 'download') return this.note({ done: id, ok: wish.files.every(save) });
    this.show(wish.mode);
    this.note({ done: id, ok: true, mode: this.mode });
  }

  /** Lets it put its things in order first, for as long as the server waits for that. */
  async close() {
    await this.part();
    this.mode = 'inline';
    this.closed = true;
  }

  /** It is about to be taken down, and may say a last word. */
  async part() {
    await this.parting();
  }

  reopen() {
    this.closed = false;
    this.fault = undefined;
    this.tellsHeight = false;
  }

  private resize({ width, height, aspectRatio }: { width?: number; height?: number; aspectRatio?: number }) {
    const ratio = aspectRatio && aspectRatio > 0 ? (width ?? this.box().width) / aspectRatio : undefined;
    const tall = height ?? ratio;
    if (tall !== undefined) this.tall(tall);
  }

  private now(): Record<string, unknown> {
    return surroundings(look(), this.mode, this.box());
  }
}

/** Opens an address of the web in a tab that knows nothing of us. */
function follow(url: string): boolean {
  if (!/^https?:\/\//i.test(url)) return false;
  const link = document.createElement('a');
  Object.assign(link, { href: url, target: '_blank', rel: 'noopener noreferrer' });
  link.click();
  return true;
}

function save({ name, mimeType, base64 }: { name: string; mimeType: string; base64: string }): boolean {
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  } catch {
    return false;
  }
  const address = URL.createObjectURL(new Blob([bytes], { type: mimeType }));
  const link = document.createElement('a');
  Object.assign(link, { href: address, download: name });
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
  return true;
}
