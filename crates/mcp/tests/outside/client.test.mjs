// The public conformance suite for clients, against an example that is the house's own client with a person beside it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { test } from 'node:test';

const { CLIENT_BIN, SUITE } = process.env;
assert.ok(CLIENT_BIN && SUITE, 'make test-mcp sets these');

const both = [
  'tools_call',
  'auth/metadata-default',
  'auth/metadata-var1',
  'auth/metadata-var2',
  'auth/metadata-var3',
  'auth/basic-cimd',
  'auth/scope-from-www-authenticate',
  'auth/scope-from-scopes-supported',
  'auth/scope-omitted-when-undefined',
  'auth/scope-step-up',
  'auth/scope-retry-limit',
  'auth/token-endpoint-auth-basic',
  'auth/token-endpoint-auth-post',
  'auth/token-endpoint-auth-none',
  'auth/pre-registration',
  'json-schema-2020-12-preservation',
];

const runs = [
  {
    name: '2025-11-25',
    args: ['--suite', 'all', '--spec-version', '2025-11-25'],
    passing: [...both, 'initialize', 'elicitation-sep1034-client-defaults', 'sse-retry'],
    failing: [],
  },
  {
    name: '2026-07-28',
    args: ['--suite', 'all', '--spec-version', '2026-07-28'],
    passing: [
      ...both,
      'request-metadata',
      'auth/resource-mismatch',
      'auth/offline-access-scope',
      'auth/offline-access-not-supported',
      'auth/authorization-server-migration',
      'auth/iss-supported',
      'auth/iss-not-advertised',
      'auth/iss-supported-missing',
      'auth/iss-wrong-issuer',
      'auth/iss-unexpected',
      'auth/iss-normalized',
      'auth/metadata-issuer-mismatch',
      'sep-2322-client-request-state',
      'http-standard-headers',
      'http-custom-headers',
      'http-invalid-tool-headers',
      'json-schema-ref-no-deref',
    ],
    failing: [],
  },
  {
    name: 'the ways to sign in of 2025-03-26',
    args: ['--suite', 'backcompat'],
    passing: ['auth/2025-03-26-oauth-metadata-backcompat', 'auth/2025-03-26-oauth-endpoint-fallback'],
    failing: [],
  },
  {
    name: 'no extension, as docs/mcp.md says',
    args: ['--suite', 'extensions'],
    passing: [],
    failing: [
      'auth/client-credentials-jwt',
      'auth/client-credentials-basic',
      'auth/enterprise-managed-authorization',
      'auth/dpop',
      'auth/dpop-nonce',
      'auth/wif-jwt-bearer',
    ],
  },
];

for (const { name, args, passing, failing } of runs) {
  test(`the client meets ${name}`, async () => {
    const found = await run(args);
    assert.deepEqual(found.passed.sort(), passing.sort(), found.log);
    assert.deepEqual(found.failed.sort(), failing.sort(), found.log);
  });
}

/** Runs the suite, and reads from its summary how each scenario came out. */
async function run(args) {
  const suite = resolve(SUITE, '@modelcontextprotocol/conformance/dist/index.js');
  const all = [suite, 'client', '--command', CLIENT_BIN, ...args];
  const child = spawn(process.execPath, all, { stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '', log = '';
  child.stdout.on('data', (text) => (out += text));
  child.stderr.on('data', (text) => (log += text));
  await once(child, 'close');
  const [, summary] = out.split('=== SUITE SUMMARY ===');
  assert.ok(summary, log + out);
  const named = (mark) => [...summary.matchAll(new RegExp(`^${mark} ([a-z0-9_/-]+):`, 'gm'))].map((found) => found[1]);
  return { passed: named('✓'), failed: named('✗'), log };
}
