// The public conformance suite: against the server with the suite's own fixtures, and against the real program.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';

const { CONFORMANCE_BIN, MEGARON_BIN, SUITE } = process.env;
assert.ok(CONFORMANCE_BIN && MEGARON_BIN && SUITE, 'make test-mcp sets these');

/** Each asks the client for something, which this server never does: see docs/mcp.md. */
const asking = {
  '2025-11-25': [
    'tools-call-sampling',
    'tools-call-elicitation',
    'elicitation-sep1034-defaults',
    'elicitation-sep1330-enums',
  ],
  '2026-07-28': [
    'input-required-result-basic-elicitation',
    'input-required-result-basic-sampling',
    'input-required-result-basic-list-roots',
    'input-required-result-request-state',
    'input-required-result-multiple-input-requests',
    'input-required-result-multi-round',
    'input-required-result-non-tool-request',
    'input-required-result-result-type',
    'input-required-result-tampered-state',
    'input-required-result-capability-check',
  ],
};

const both = [
  'completion-complete',
  'tools-list',
  'tools-call-simple-text',
  'tools-call-image',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-mixed-content',
  'tools-call-error',
  'tools-call-with-progress',
  'json-schema-2020-12',
  'server-sse-multiple-streams',
  'resources-list',
  'resources-read-text',
  'resources-read-binary',
  'resources-templates-read',
  'prompts-list',
  'prompts-get-simple',
  'prompts-get-with-args',
  'prompts-get-embedded-resource',
  'prompts-get-with-image',
  'dns-rebinding-protection',
];

const passing = {
  '2025-11-25': [
    ...both,
    'server-initialize',
    'server-session-lifecycle',
    'logging-set-level',
    'ping',
    'tools-call-with-logging',
    'server-sse-polling',
    'resources-subscribe',
    'resources-unsubscribe',
  ],
  '2026-07-28': [
    ...both,
    'server-stateless',
    'sep-2164-resource-not-found',
    'caching',
    'http-header-validation',
    'http-custom-header-server-validation',
    'input-required-result-missing-input-response',
    'input-required-result-unsupported-methods',
    'input-required-result-ignore-extra-params',
    'input-required-result-validate-input',
  ],
};

/** What needs no fixtures. */
const plain = {
  '2025-11-25': [
    'server-initialize',
    'server-session-lifecycle',
    'logging-set-level',
    'ping',
    'completion-complete',
    'tools-list',
    'server-sse-multiple-streams',
    'resources-list',
    'prompts-list',
    'dns-rebinding-protection',
  ],
  '2026-07-28': [
    'completion-complete',
    'tools-list',
    'server-sse-multiple-streams',
    'resources-list',
    'sep-2164-resource-not-found',
    'prompts-list',
    'dns-rebinding-protection',
    'caching',
    'http-header-validation',
  ],
};

describe('the server with the fixtures of the suite', () => {
  let server;
  before(async () => (server = await start(CONFORMANCE_BIN, [])));
  after(() => server.end());
  for (const [version, failing] of Object.entries(asking)) {
    test(`meets ${version} in everything that it offers`, async () => {
      const found = await run(['--suite', 'all', '--spec-version', version], server.url);
      assert.deepEqual(sorted(found.passed), sorted(passing[version]));
      assert.deepEqual(sorted(found.failed), sorted(failing));
    });
  }
});

describe('the program itself', () => {
  let server, home;
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'megaron-conformance-'));
    await mkdir(join(home, 'work'));
    const places = ['--data-dir', join(home, 'data'), '--workspace', join(home, 'work')];
    const options = ['--listen', '127.0.0.1:0', '--no-open', '--trust-loopback'];
    server = await start(MEGARON_BIN, ['serve', ...options, ...places]);
  });
  after(async () => {
    await server.end();
    await rm(home, { recursive: true, force: true });
  });
  for (const [version, scenarios] of Object.entries(plain)) {
    test(`meets ${version} where no fixtures are needed`, async () => {
      const found = await run(['--suite', 'all', '--spec-version', version], server.url);
      assert.deepEqual(scenarios.filter((name) => !found.passed.includes(name)), []);
    });
  }
});

/** Starts a server and finds out where it is. */
async function start(program, args) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const end = async () => {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  return { url: `${line.match(/http:\S+/)[0]}/mcp`, end };
}

/** Runs the suite, and reads from its summary how each scenario came out. */
async function run(args, url) {
  const suite = resolve(SUITE, '@modelcontextprotocol/conformance/dist/index.js');
  const child = spawn(process.execPath, [suite, 'server', '--url', url, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.on('data', (text) => (out += text));
  await once(child, 'exit');
  const [, summary] = out.split('=== SUMMARY ===');
  assert.ok(summary, out);
  const named = (mark) => [...summary.matchAll(new RegExp(`^${mark} ([a-z0-9-]+):`, 'gm'))].map((found) => found[1]);
  return { passed: named('✓'), failed: named('✗') };
}

function sorted(names) {
  return [...names].sort();
}
