// Widgets from the command line: one is opened in the page by `megaron widget`, and many are judged by `megaron certify`.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { binary, firstLines } from './server.mjs';
import { eventually, launch, visit } from './visit.mjs';

const peers = join(dirname(binary), '..', 'peers', 'node_modules', '@modelcontextprotocol');
const example = ['--', 'node', join(peers, 'server-basic-vanillajs', 'dist', 'index.js'), '--stdio'];
const hostile = ['node', join(import.meta.dirname, 'hostile-server.mjs')];
let home;

before(async () => (home = await mkdtemp(join(tmpdir(), 'megaron-certify-'))));
after(() => rm(home, { recursive: true, force: true }));

/** Runs a command to its end. */
async function run(...words) {
  const child = spawn(binary, [...words.slice(0, 1), '--data-dir', home, ...words.slice(1)], { stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, errors] = ['', ''];
  child.stdout.on('data', (text) => (out += text));
  child.stderr.on('data', (text) => (errors += text));
  const [code] = await once(child, 'close');
  return { code, out, errors };
}

test('a published server passes, and a browser was there to see it', async () => {
  const { code, out } = await run('certify', '--format', 'json', ...example);
  const { ok, checks } = JSON.parse(out);
  assert.deepEqual([code, ok], [0, true]);
  const outcome = Object.fromEntries(checks.map((it) => [it.check, it.outcome]));
  assert.deepEqual(outcome, {
    metadata: 'passed',
    address: 'passed',
    resource: 'passed',
    type: 'passed',
    weight: 'passed',
    domains: 'passed',
    handshake: 'passed',
    order: 'passed',
    messages: 'passed',
    policy: 'doubtful',
    scripts: 'passed',
    sizes: 'passed',
    accessibility: 'doubtful',
    teardown: 'passed',
  });
});

test('a server that is no good is told so, tool by tool', async () => {
  const { code, out } = await run('certify', '--format', 'json', ...hostile, '--tool', 'reaching');
  const failed = JSON.parse(out).checks.filter((it) => it.outcome === 'failed');
  assert.equal(code, 1);
  assert.deepEqual(failed.map((it) => it.check), ['policy']);
  assert.match(failed[0].detail, /connect-src https:\/\/x\.example/);
  const still = await run('certify', '--no-browser', '--format', 'junit', ...hostile);
  assert.equal(still.code, 1);
  assert.match(still.out, /<testcase classname="mistyped" name="resource"><failure message="wrong-mime: /);
  assert.match(still.out, /<testcase classname="trap" name="domains"><failure message="[^"]*https:\/\/a\.com; script-src \*/);
  assert.match(still.out, /name="handshake"><skipped message="--no-browser"\/>/);
});

test('what cannot be done is said, with a code of its own', async () => {
  const nobody = await run('certify', '--no-browser', 'node', join(home, 'nowhere.mjs'));
  assert.equal(nobody.code, 3);
  assert.match(nobody.errors, /^megaron: server cannot be used: /);
  const wrong = await run('certify', '--args', '[1]', ...hostile);
  assert.equal(wrong.code, 1);
  assert.match(wrong.errors, /--args takes an object in JSON/);
  const unknown = await run('widget', '--no-open', '--tool', 'unheard', ...hostile);
  assert.equal(unknown.code, 1);
  assert.match(unknown.errors, /`unheard` is no tool with a widget; those with one: /);
});

test('the widget of a tool is opened from the command line', async () => {
  const child = spawn(binary, ['widget', '--no-open', '--data-dir', home, ...example], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const browser = await launch();
  try {
    const [address] = await firstLines(child, 1);
    const context = await browser.newContext();
    const guest = await visit(context, address);
    // The page that logs in has no picture, which the browser looks for.
    guest.foresee(/404/);
    const widget = guest.log.getByRole('region', { name: 'Widget of Get time' });
    const time = widget.locator('iframe').contentFrame().locator('#server-time');
    await eventually(async () => assert.match((await time.textContent()) ?? '', /\d{4}-\d\d-\d\dT/));
    assert.deepEqual(guest.complaints, []);
  } finally {
    await browser.close();
    child.kill('SIGTERM');
  }
  assert.deepEqual(await ended, [0, null]);
});
