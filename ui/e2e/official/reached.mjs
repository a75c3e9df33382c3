// Starts a published server that is reached by an address.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** It would listen to everybody, on a port that somebody may have: here it takes one that is free, and says which. */
const nearby = `
  import { Server } from 'node:net';
  const { listen } = Server.prototype;
  Server.prototype.listen = function (port, told) {
    return listen.call(this, 0, '127.0.0.1', () => {
      console.log(this.address().port);
      told?.();
    });
  };
`;

/** @param {string} program */
export async function overHttp(program) {
  const preload = `data:text/javascript,${encodeURIComponent(nearby)}`;
  const child = spawn('node', ['--import', preload, program], { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const port of createInterface({ input: child.stdout }))
    return { url: `http://127.0.0.1:${port}/mcp`, end: () => child.kill() };
  throw new Error(`${program} ended before it listened`);
}
