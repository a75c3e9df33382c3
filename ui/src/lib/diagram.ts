// Draws diagrams in a frame apart, whose policy lets them bring their styles, and shows them as pictures, in which nothing can run.
import type { Draw, Look } from '../diagram/main';
import { words } from './words';

let frame: Promise<Draw> | undefined;
let queue: Promise<unknown> = Promise.resolve();
interface Made {
  url: string;
  width: number;
  height: number;
}

const SHELVED = 60;
const shelf = new Map<string, Made>();
/** Pictures that are redrawn when the page changes its colours. */
const drawn = new Map<WeakRef<HTMLImageElement>, string>();

/** Throws, with the reason in its message, if this is no diagram. */
export async function draw(source: string): Promise<HTMLImageElement> {
  const picture = new Image();
  await paint(picture, source);
  return picture;
}

/** From now on the picture keeps to the colours of the page. */
export function onLook(picture: HTMLImageElement, source: string) {
  if (drawn.size === 0) watch();
  drawn.set(new WeakRef(picture), source);
}

/** Shows what has been drawn before at once, so that scrolling back moves nothing. */
async function paint(picture: HTMLImageElement, source: string) {
  const colours = look();
  const key = `${JSON.stringify(colours)} ${source}`;
  const known = shelf.get(key);
  if (known) return hang(picture, known);
  // One after the other: the drawing program keeps its settings to itself.
  const turn = queue.then(async () => {
    frame ??= open();
    const drawing = await frame;
    return drawing(source, colours);
  });
  queue = turn.catch(() => {});
  const { svg, width, height } = await turn;
  const made = { url: URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' })), width, height };
  hang(picture, made);
  await picture.decode();
  shelve(key, made);
}

function hang(picture: HTMLImageElement, { url, width, height }: Made) {
  picture.width = Math.round(width);
  picture.height = Math.round(height);
  picture.src = url;
}

function shelve(key: string, made: Made) {
  shelf.set(key, made);
  const [oldest] = shelf;
  if (shelf.size <= SHELVED || !oldest) return;
  shelf.delete(oldest[0]);
  // On show it stays: it has been read.
  URL.revokeObjectURL(oldest[1].url);
}

function open(): Promise<Draw> {
  const element = document.createElement('iframe');
  element.src = '/diagram.html';
  element.title = words.chat.diagrams;
  element.tabIndex = -1;
  element.setAttribute('aria-hidden', 'true');
  element.className = 'drawing-room';
  const ready = new Promise<Draw>((resolve, reject) => {
    const heard = ({ source, data }: MessageEvent) => {
      if (source !== element.contentWindow || data !== 'ready') return;
      removeEventListener('message', heard);
      resolve((element.contentWindow as Window & { draw: Draw }).draw);
    };
    addEventListener('message', heard);
    element.onerror = () => reject(new Error(words.chat.noDrawing));
  });
  document.body.append(element);
  return ready;
}

function look(): Look {
  const probe = document.createElement('span');
  document.body.append(probe);
  const colour = (token: string) => {
    probe.style.color = `var(${token})`;
    return getComputedStyle(probe).color;
  };
  const look = {
    paper: colour('--raised'),
    fill: colour('--paper-deep'),
    line: colour('--line-strong'),
    ink: colour('--ink'),
    soft: colour('--ink-soft'),
    wash: colour('--ember-wash'),
    ember: colour('--ember'),
    font: getComputedStyle(document.body).fontFamily,
  };
  probe.remove();
  return look;
}

function watch() {
  let shown = JSON.stringify(look());
  const again = () => {
    const now = JSON.stringify(look());
    if (now === shown) return;
    shown = now;
    for (const [reference, source] of drawn) {
      const picture = reference.deref();
      // What could be drawn once can be drawn again; if not, the old picture stays.
      if (picture?.isConnected) void paint(picture, source).catch(() => {});
      else if (!picture) drawn.delete(reference);
    }
  };
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', again);
  new MutationObserver(again).observe(document.documentElement, { attributes: true });
}
