// What the server has put into the document before any script of the app ran.
export const { yaar } = globalThis;
