// A proxy that speaks TLS in front of a server, under a name of its own, as somebody would put one there.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect, createServer as listener } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { promisify } from 'node:util';

/** Whoever trusts it does so because they were told to. */
export async function certificate(name) {
  const folder = await mkdtemp(join(tmpdir(), 'megaron-tls-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const form = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', `/CN=${name}`];
  await promisify(execFile)('openssl', [...form, '-keyout', key, '-out', cert]);
  const read = { key: await readFile(key), cert: await readFile(cert) };
  await rm(folder, { recursive: true });
  return read;
}

/**
 * Passes on what it decrypts, to the address that `target` gives at that moment.
 * @param {{ key: Buffer, cert: Buffer }} tls
 * @param {() => string} target
 */
export async function proxy(tls, target) {
  /** @type {Set<import('node:net').Socket>} */
  const open = new Set();
  const server = createServer(tls, (outer) => {
    const { hostname, port } = new URL(target());
    const inner = connect(Number(port), hostname);
    for (const socket of [outer, inner]) {
      open.add(socket);
      // Either side may leave at any time; the other then leaves as well.
      socket.on('error', () => {});
      socket.on('close', () => {
        open.delete(socket);
        outer.destroy();
        inner.destroy();
      });
    }
    outer.pipe(inner).pipe(outer);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  const close = () => {
    for (const socket of open) socket.destroy();
    server.close();
  };
  return { port: address.port, close };
}

/** A port that nobody has just now. */
export function freePort() {
  const server = listener();
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
      server.close(() => resolve(port));
    });
  });
}
