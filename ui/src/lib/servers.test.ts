import { expect, test } from 'vitest';
import { blank, offered, settings, split, stateName } from './servers';
import type { ToolServer } from './wire';

/** As `GET /api/mcp/servers` answers. */
const recorded: { servers: ToolServer[] } = JSON.parse(`{"servers":[
  {"name":"files","kind":"stdio","place":"npx -y some-server","state":"ready","since":"2026-05-05T10:00:00Z","starts":1,
   "trusted":false,"configured":true,"protocol":"2025-11-25","title":"Some server",
   "tools":[{"name":"look","offeredAs":"files_look","description":"Looks.","enabled":true},
            {"name":"wipe","description":"Wipes.","enabled":false,"warning":"its schema cannot be read"}]},
  {"name":"far","kind":"http","place":"https://far.example/mcp","state":"needs-sign-in",
   "signInUrl":"https://far.example/authorize","since":"2026-05-05T10:00:00Z","starts":3,"trusted":false,
   "configured":false,"tools":[]}]}`);

test('a server tells its state and how many of its tools are on', () => {
  expect(recorded.servers.map((it) => [it.name, stateName(it.state), offered(it)])).toEqual([
    ['files', 'ready', '1 of 2 tools'],
    ['far', 'sign in needed', 'no tools'],
  ]);
});

test('a command is told as its words', () => {
  expect(split(`npx -y "a b" 'c "d"' e\\ f ""`)).toEqual(['npx', '-y', 'a b', 'c "d"', 'e f', '']);
  expect(split('  ')).toEqual([]);
  expect(split('say "hello')).toBeUndefined();
});

test('a new server is told as its settings', () => {
  const program = { ...blank, name: ' files ', command: 'npx -y some-server', secrets: 'TOKEN=a=b\n\n' };
  expect(settings(program).settings).toEqual({
    name: 'files',
    command: 'npx',
    args: ['-y', 'some-server'],
    env: { TOKEN: 'a=b' },
  });
  const address = { ...blank, kind: 'address' as const, name: 'far', url: 'https://far.example/mcp' };
  expect(settings(address)).toEqual({ settings: { name: 'far', url: 'https://far.example/mcp' }, problem: '' });
  expect(settings({ ...address, secrets: 'X-Key: abc' }).settings).toMatchObject({ headers: { 'X-Key': 'abc' } });
});

test('what is missing or wrong in a new server is said', () => {
  const problem = (change: object) => settings({ ...blank, name: 'a', command: 'b', ...change }).problem;
  expect([
    problem({ name: ' ' }),
    problem({ command: '' }),
    problem({ command: '"b' }),
    problem({ secrets: 'no sign' }),
    problem({ kind: 'address', url: 'ftp://far.example' }),
    problem({ kind: 'address', url: 'https://far.example', secrets: ': nameless' }),
  ]).toEqual([
    'Give it a name.',
    'Write the command that starts it.',
    'A quotation mark in the command is not closed.',
    'Write each variable on a line of its own, as NAME=value.',
    'The address must begin with https:// or http://.',
    'Write each header on a line of its own, as Name: value.',
  ]);
});
