// A picture of a screen as it comes over the wire: the parts that have changed; pure.
import type { Rect } from './wire';

export interface Part extends Rect {
  bytes: Uint8Array<ArrayBuffer>;
}

export interface Picture {
  frame: number;
  parts: Part[];
}

/** Throws where it ends too early, as everything that reads beyond the end does. */
export function read(buffer: ArrayBuffer): Picture {
  const view = new DataView(buffer);
  const frame = view.getUint32(0);
  const parts: Part[] = [];
  let at = 6;
  for (let left = view.getUint16(4); left > 0; left -= 1) {
    const [x, y, w, h] = [0, 2, 4, 6].map((offset) => view.getUint16(at + offset)) as [number, number, number, number];
    const length = view.getUint32(at + 8);
    parts.push({ x, y, w, h, bytes: new Uint8Array(buffer, at + 12, length) });
    at += 12 + length;
  }
  return { frame, parts };
}

export function kind({ bytes }: Part): string {
  return bytes[0] === 0xff ? 'image/jpeg' : 'image/png';
}
