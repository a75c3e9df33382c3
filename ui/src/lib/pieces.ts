// A sentence of the catalogue in pieces, where something other than text stands in the place of `{name}`; pure.

export interface Piece {
  text: string;
  /** What stands here instead of text. */
  slot: string;
}

export function pieces(sentence: string): Piece[] {
  const parts = sentence.split(/\{(\w+)\}/);
  const read = parts.map((part, at) => (at % 2 ? { text: '', slot: part } : { text: part, slot: '' }));
  return read.filter(({ text, slot }) => text || slot);
}
