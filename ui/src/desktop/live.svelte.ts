// The live picture of one device on a canvas, and the hands that reach into it: the page's end of that socket.
import { fitted, Waiting } from './gestures';
import { kind, read, type Part } from './picture';
import type { Command, Rect } from './wire';

type Said =
  | { type: 'screen'; width: number; height: number; area: Rect }
  | { type: 'trouble'; error: string }
  | { type: 'done'; id: number; result: Result };

/** What a device answered. */
export interface Result {
  type: string;
  error?: string;
  text?: string | null;
}

interface Item {
  command: Command;
  settle: (result: Result) => void;
}

const RETRY = 2_000;
const LOST: Result = { type: 'error', error: '' };

export class Live {
  size = $state.raw<{ w: number; h: number }>();
  area = $state.raw<Rect>({ x: 0, y: 0, w: 0, h: 0 });
  /** How many pictures have been drawn. */
  drawn = $state(0);
  trouble = $state('');
  connected = $state(false);
  private socket: WebSocket | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private ended = false;
  private drawing = Promise.resolve();
  private waiting = new Waiting<Item>();
  private flying: (Item & { id: number }) | undefined;
  private count = 0;

  constructor(
    private device: string,
    private canvas: HTMLCanvasElement,
    private refused: (error: string) => void,
  ) {}

  start() {
    this.open();
    return () => this.end();
  }

  /** Asks the device for something that hands do; answers when it is done, in order. */
  act(command: Command, known: string[]): Promise<Result> {
    const all = fitted(command, known).map(
      (it) => new Promise<Result>((settle) => this.waiting.push({ command: it, settle })),
    );
    this.send();
    return all.at(-1) ?? Promise.resolve(LOST);
  }

  private open() {
    const address = new URL('/api/desktop/screen', location.href);
    address.protocol = address.protocol.replace('http', 'ws');
    address.searchParams.set('device', this.device);
    const socket = new WebSocket(address);
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => (this.connected = true);
    socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
      if (socket !== this.socket) return;
      if (typeof data === 'string') this.hear(JSON.parse(data) as Said);
      else this.drawing = this.drawing.then(() => this.draw(socket, data)).catch(() => socket.close());
    };
    socket.onclose = () => socket === this.socket && this.lost();
    this.socket = socket;
  }

  private lost() {
    this.connected = false;
    this.flying?.settle(LOST);
    this.flying = undefined;
    this.waiting.clear();
    if (!this.ended) this.timer = setTimeout(() => this.open(), RETRY);
  }

  private end() {
    this.ended = true;
    clearTimeout(this.timer);
    this.socket?.close();
    this.socket = undefined;
  }

  private hear(said: Said) {
    if (said.type === 'trouble') this.trouble = said.error;
    if (said.type === 'screen') {
      // What was drawn before is drawn before the canvas becomes another.
      this.drawing = this.drawing.then(() => {
        this.canvas.width = said.width;
        this.canvas.height = said.height;
        this.size = { w: said.width, h: said.height };
        this.area = said.area;
      });
    }
    if (said.type === 'done' && this.flying?.id === said.id) {
      const { settle } = this.flying;
      this.flying = undefined;
      if (said.result.type === 'error') this.refused(said.result.error ?? '');
      settle(said.result);
      this.send();
    }
  }

  private async draw(socket: WebSocket, data: ArrayBuffer) {
    const { frame, parts } = read(data);
    const bitmaps = await Promise.all(parts.map(bitmap));
    const context = this.canvas.getContext('2d');
    parts.forEach((part, at) => {
      const picture = bitmaps[at];
      if (!picture) return;
      context?.drawImage(picture, part.x, part.y);
      picture.close();
    });
    this.trouble = '';
    this.drawn += 1;
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ type: 'drawn', frame }));
  }

  private send() {
    if (this.flying || this.socket?.readyState !== WebSocket.OPEN) return;
    const next = this.waiting.next();
    if (!next) return;
    this.count += 1;
    this.flying = { ...next, id: this.count };
    this.socket.send(JSON.stringify({ type: 'input', id: this.count, command: next.command }));
  }
}

function bitmap(part: Part): Promise<ImageBitmap> {
  return createImageBitmap(new Blob([part.bytes], { type: kind(part) }));
}
