// A display that nobody sees, with a terminal on it, for tests of the desktop.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export class Display {
  /** @type {import('node:child_process').ChildProcess[]} */
  #children = [];
  /** What a program must be told to find it. */
  name = '';

  /** @param {string} size */
  static async open(size = '1024x640x24') {
    const display = new Display();
    const options = ['-displayfd', '1', '-screen', '0', size, '-nolisten', 'tcp', '-noreset'];
    const server = spawn('Xvfb', options, { stdio: ['ignore', 'pipe', 'ignore'] });
    display.#children.push(server);
    const lines = createInterface({ input: server.stdout });
    const [number] = await Promise.race([
      once(lines, 'line'),
      once(server, 'error').then(([error]) => Promise.reject(new Error(`this test needs Xvfb, \`make display\`: ${error}`))),
    ]);
    display.name = `:${number.trim()}`;
    return display;
  }

  /**
   * A terminal that runs this.
   * @param {string} script
   * @param {string[]} options of xterm
   */
  terminal(script, ...options) {
    const args = ['-display', this.name, '-u8', '-bw', '0', '-fa', 'Monospace', '-fs', '12', ...options];
    const child = spawn('xterm', [...args, '-e', 'sh', '-c', script], { stdio: 'ignore' });
    this.#children.push(child);
    return child;
  }

  async close() {
    for (const child of this.#children.reverse()) {
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) continue;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
  }
}
