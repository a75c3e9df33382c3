// What is told of the session on show, gathered, and taken in once for each frame that is drawn.
import type { EventFrame } from '../wire';

/** A hidden page draws nothing, so a timer stands in, in milliseconds. */
const HIDDEN = 200;

export class Intake {
  private gathered: EventFrame[] = [];
  private coming = false;

  constructor(private take: (frames: EventFrame[]) => void) {}

  push(frame: EventFrame) {
    this.gathered.push(frame);
    if (this.coming) return;
    this.coming = true;
    if (document.hidden) setTimeout(() => this.flush(), HIDDEN);
    else requestAnimationFrame(() => this.flush());
  }

  flush() {
    this.coming = false;
    const frames = this.gathered;
    this.gathered = [];
    if (frames.length > 0) this.take(frames);
  }
}
