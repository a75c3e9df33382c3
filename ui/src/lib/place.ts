// How far into a session's log we have read; knows which frames are repeats.
import type { EventFrame } from './wire';

export class Place {
  /** The last stored event that was seen whole; a new subscription asks for what came after it. */
  seq = 0;
  private since = new Set<string>();

  /** Takes note of a frame and says whether it is new. */
  reach(frame: EventFrame): boolean {
    const { seq } = frame;
    // Ephemeral events are never replayed, so they cannot be repeats.
    const id = frame.event.ephemeral ? undefined : frame.event.id;
    if (seq !== undefined && seq <= this.seq) return false;

    const isNew = id === undefined || !this.since.has(id);
    if (seq !== undefined) {
      this.seq = seq;
      this.since.clear();
    } else if (id !== undefined) {
      this.since.add(id);
    }
    return isNew;
  }
}
