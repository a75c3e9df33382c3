// Starts and ends a real server for a test, on data of its own.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

export const binary = process.env.MEGARON_BIN ?? resolve(import.meta.dirname, '../../target/debug/megaron');

const diary = process.env.MEGARON_DIARY ?? join(dirname(binary), 'examples', 'diary');

/** A server that can be killed and started again where it was. */
export class Server {
  /** @type {import('node:child_process').ChildProcess | undefined} */
  process;
  url = '';
  login = '';
  log = '';
  /** @type {Record<string, string>} */
  surroundings = {};

  /** @param {string} home */
  constructor(home) {
    this.home = home;
    this.workspace = join(home, 'workspace');
  }

  /**
   * @param {string} config what `config.toml` says
   * @param {(server: Server) => Promise<unknown>} prepare what is to be done before it starts
   * @param {string} listen where it listens
   * @param {string} sandbox where the content of frames is served
   * @param {Record<string, string>} surroundings variables of its environment
   */
  static async fresh(
    config = '',
    prepare = async () => {},
    listen = '127.0.0.1:0',
    sandbox = '127.0.0.1:0',
    surroundings = {},
  ) {
    const server = new Server(await mkdtemp(join(tmpdir(), 'megaron-e2e-')));
    server.surroundings = surroundings;
    await mkdir(join(server.home, 'data'), { mode: 0o700 });
    await writeFile(join(server.home, 'data', 'config.toml'), config);
    await mkdir(join(server.workspace, 'notes'), { recursive: true });
    await writeFile(join(server.workspace, 'guests.txt'), 'Nestor\nTelemachus\n');
    await prepare(server);
    await server.start(listen, sandbox);
    return server;
  }

  /**
   * @param {string} listen
   * @param {string} sandbox where the content of frames is served
   */
  async start(listen, sandbox = '127.0.0.1:0') {
    const options = ['serve', '--listen', listen, '--sandbox-listen', sandbox];
    const folders = ['--data-dir', join(this.home, 'data'), '--workspace', this.workspace, '--no-open'];
    // Without a display of its own it has none, whoever starts the tests.
    const env = { ...process.env, DISPLAY: '', ...this.surroundings };
    const child = spawn(binary, [...options, ...folders], { stdio: ['ignore', 'pipe', 'pipe'], env });
    this.process = child;
    child.stderr.on('data', (text) => (this.log += text));
    const [address, login] = await firstLines(child, 2).catch((error) => {
      throw new Error(`the server did not start: ${error.message}\n${this.log}`);
    });
    this.url = webAddress(address);
    this.login = webAddress(login);
  }

  /**
   * Writes a session of so many facts, in numbered turns; only before the server is started.
   * @param {number} facts
   */
  async remember(facts) {
    const { stdout } = await promisify(execFile)(diary, [join(this.home, 'data'), String(facts)]);
    const [sessionId, turns] = stdout.trim().split(' ');
    return { sessionId, turns: Number(turns) };
  }

  /**
   * What a command of the terminal prints.
   * @param {string[]} words
   */
  async command(...words) {
    const { stdout } = await promisify(execFile)(binary, [...words, '--data-dir', join(this.home, 'data')]);
    return stdout;
  }

  /** As a power cut would end it. */
  async kill() {
    const child = this.process;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  /** Where it was; somebody else may have borrowed its port for a moment. */
  async restart(sandbox = '127.0.0.1:0') {
    const { host } = new URL(this.url);
    for (let attempts = 0; ; attempts += 1) {
      try {
        return await this.start(host, sandbox);
      } catch (error) {
        if (attempts === 20 || !/in use/i.test(String(error))) throw error;
        await new Promise((resolve) => setTimeout(resolve, 250));
      }
    }
  }

  async end() {
    await this.kill();
    await rm(this.home, { recursive: true, force: true });
  }
}

/**
 * What a program says first, unless it ends before that.
 * @param {import('node:child_process').ChildProcess} child
 * @param {number} count
 * @returns {Promise<string[]>}
 */
export function firstLines(child, count) {
  return new Promise((accept, reject) => {
    /** @type {string[]} */
    const lines = [];
    createInterface({ input: /** @type {import('node:stream').Readable} */ (child.stdout) }).on('line', (line) => {
      if (lines.push(line) === count) accept(lines);
    });
    child.on('error', reject);
    // Only then has all been heard that it had to say.
    child.on('close', (code) => reject(new Error(`it ended with ${code}`)));
  });
}

/** @param {string | undefined} line */
function webAddress(line) {
  const found = line?.match(/https?:\/\/\S+/);
  if (!found) throw new Error(`no address in: ${line}`);
  return found[0];
}
