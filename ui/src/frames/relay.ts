// Carries what frames and the server say to each other over the page's one socket; understands none of it.
import type { FrameNote, FrameWish, FrameWord } from '../lib/wire';

export interface Listening {
  told(message: unknown): void;
  complained(error: string): void;
  /** The server has let the frame go; another must be asked for. */
  gone(): void;
  /** It wants something of the page around it. */
  wished?(wish: FrameWish): void;
}

interface Held {
  listener: Listening;
  held: boolean;
  /** Said before the server knew that we hold it. */
  waiting: string[];
}

const WAITING = 200;

export class Relay {
  private frames = new Map<string, Held>();

  /** @param send passes JSON to the server and says whether it could. */
  constructor(private send: (text: string) => boolean) {}

  hold(frameId: string, listener: Listening) {
    this.frames.set(frameId, { listener, held: false, waiting: [] });
    this.ask(frameId);
  }

  drop(frameId: string) {
    this.frames.delete(frameId);
  }

  /** There is a new connection, which holds nothing yet. */
  again() {
    for (const [frameId, frame] of this.frames) {
      frame.held = false;
      this.ask(frameId);
    }
  }

  /** @param text a message as JSON */
  pass(frameId: string, text: string) {
    const frame = this.frames.get(frameId);
    if (!frame) return;
    this.put(frame, `{"type":"frameMessage","frameId":${JSON.stringify(frameId)},"message":${text}}`);
  }

  /** Tells the server of something around the frame. */
  note(frameId: string, note: FrameNote) {
    const frame = this.frames.get(frameId);
    if (frame) this.put(frame, JSON.stringify({ type: 'frameNote', frameId, note }));
  }

  private put(frame: Held, line: string) {
    if (frame.held && this.send(line)) return;
    if (frame.waiting.length < WAITING) frame.waiting.push(line);
    else frame.listener.complained('the server cannot be reached, and no more messages fit in between');
  }

  heard(word: FrameWord) {
    const frame = this.frames.get(word.frameId);
    if (!frame) return;
    if (word.type === 'frameMessage') frame.listener.told(word.message);
    if (word.type === 'frameWish') frame.listener.wished?.(word.wish);
    if (word.type === 'frameError') frame.listener.complained(word.error);
    // Something was lost on the way; holding it again makes the server tell everything anew.
    if (word.type === 'frameLost') this.ask(word.frameId);
    if (word.type === 'frameHeld') {
      frame.held = true;
      for (const line of frame.waiting.splice(0)) this.send(line);
    }
    if (word.type === 'frameGone') {
      this.frames.delete(word.frameId);
      frame.listener.gone();
    }
  }

  private ask(frameId: string) {
    this.send(JSON.stringify({ type: 'holdFrame', frameId }));
  }
}
