// What kind of picture some bytes are, and how it is looked at. Draws nothing.

export const LEAST = 0.05;
export const MOST = 20;

const KINDS = [
  ['image/png', (it) => begins(it, 0, '\x89PNG\r\n')],
  ['image/jpeg', (it) => begins(it, 0, '\xff\xd8\xff')],
  ['image/gif', (it) => begins(it, 0, 'GIF8')],
  ['image/webp', (it) => begins(it, 0, 'RIFF') && begins(it, 8, 'WEBP')],
  ['image/avif', (it) => begins(it, 4, 'ftypavif') || begins(it, 4, 'ftypavis')],
  ['image/bmp', (it) => begins(it, 0, 'BM')],
  ['image/x-icon', (it) => begins(it, 0, '\0\0\x01\0')],
  [
    'image/svg+xml',
    (it) =>
      /^\s*(<\?xml[\s\S]*?\?>\s*)?(<!--[\s\S]*?-->\s*|<!DOCTYPE[^>]*>\s*)*<svg[\s>]/i.test(
        new TextDecoder().decode(it.subarray(0, 4096)),
      ),
  ],
];

/** By what is in it, whatever it is called. @param {Uint8Array} bytes */
export function kindOf(bytes) {
  const found = KINDS.find(([, test]) => /** @type {(it: Uint8Array) => boolean} */ (test)(bytes));
  if (!found)
    throw new Error('this is no picture that can be shown: expected PNG, JPEG, GIF, WebP, AVIF, BMP, ICO or SVG');
  return String(found[0]);
}

/** @param {Uint8Array} bytes @param {number} at @param {string} text */
function begins(bytes, at, text) {
  return [...text].every((letter, index) => bytes[at + index] === letter.charCodeAt(0));
}

/** @param {string} base64 */
export function decoded(base64) {
  const plain = base64.replace(/^data:[^,]*;base64,/, '').replace(/\s/g, '');
  try {
    return Uint8Array.from(atob(plain), (it) => it.charCodeAt(0));
  } catch {
    throw new Error('the content is not base64');
  }
}

/**
 * The zoom that shows all of it, never larger than it is.
 * @param {{ width: number, height: number }} picture @param {{ width: number, height: number }} room @param {number} rotation
 */
export function fitting({ width, height }, room, rotation) {
  const [across, down] = rotation % 180 ? [height, width] : [width, height];
  return Math.max(LEAST, Math.min(1, room.width / across, room.height / down));
}

/** @param {number} zoom */
export const bounded = (zoom) => Math.max(LEAST, Math.min(MOST, zoom));

/** A whole number of quarter turns, from 0 to 270. @param {number} degrees */
export const turned = (degrees) => (((Math.round(degrees / 90) * 90) % 360) + 360) % 360;
