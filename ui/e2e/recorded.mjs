// What servers with more tools than ours answer: one question of every kind, grants, and servers of tools.

const long = Array.from(
  { length: 48 },
  (_, at) => `${at % 6 === 1 ? '-' : at % 6 === 2 ? '+' : ' '}line ${at + 1} of the list of guests`,
);
const count = (sign) => long.filter((line) => line.startsWith(sign)).length;
const [gone, come] = [count('-'), count('+')];
const same = long.length - gone - come;

export const diff = [
  '--- a/notes/guests.md',
  '+++ b/notes/guests.md',
  '@@ -1,4 +1,5 @@ Guests',
  ' # Guests',
  ' ',
  '-- Nestor, with two horses',
  '+- Nestor, with three horses',
  '+- Menelaus, who comes late',
  ' - Telemachus',
  '',
].join('\n');

const longDiff = ['--- a/a.md', '+++ b/a.md', `@@ -1,${same + gone} +1,${same + come} @@`, ...long].join('\n');

const hours = (count) => new Date(Date.now() + count * 3_600_000).toISOString();
const asked = (number, sessionId, more) => ({
  id: `00000000-0000-4000-8000-00000000000${number}`,
  sessionId,
  sessionName: 'Prepare the feast',
  kind: 'approval',
  caller: 'model',
  askedAt: hours(-0.1),
  expiresAt: hours(23.8),
  ...more,
});

/** One of every kind, all in this session. */
export const approvals = (sessionId) => [
  asked(1, sessionId, {
    tool: 'shell',
    title: 'Running git push',
    why: 'it runs a program that is not locked in',
    risk: 'runs',
    detail: { type: 'command', command: 'git push origin main --follow-tags', cwd: '/home/me/feast', sandboxed: false },
    patterns: ['git push origin main --follow-tags', 'git *'],
  }),
  asked(2, sessionId, {
    tool: 'shell',
    title: 'Running make test',
    why: 'it runs a program',
    risk: 'runs_boxed',
    detail: { type: 'command', command: 'make test', cwd: '/home/me/feast', sandboxed: true },
    patterns: ['make test', 'make *'],
  }),
  asked(3, sessionId, {
    tool: 'edit_file',
    title: 'Editing notes/guests.md',
    why: 'it changes files',
    risk: 'edits',
    detail: { type: 'change', path: 'notes/guests.md', diff },
    patterns: ['notes/guests.md', 'notes/*'],
  }),
  asked(4, sessionId, {
    tool: 'edit_file',
    title: 'Editing a.md',
    why: 'it changes files',
    risk: 'edits',
    detail: { type: 'change', path: 'a.md', diff: longDiff },
    patterns: ['a.md'],
  }),
  asked(5, sessionId, {
    tool: 'web_fetch',
    title: 'Reading weather.example.org',
    why: 'it reaches out of this machine',
    risk: 'reaches',
    caller: 'agent:Scout',
    detail: { type: 'address', url: 'https://weather.example.org/pylos?days=3' },
    patterns: ['weather.example.org', '*.example.org'],
    expiresAt: hours(0.1),
  }),
  asked(6, sessionId, {
    kind: 'question',
    tool: 'ask_person',
    title: 'Asking: Which wine shall be served?',
    text: 'Which wine shall be served? There is enough of both for everybody.',
    choices: ['Red', 'White', 'Both, and let them choose'],
    free: true,
  }),
  asked(7, sessionId, {
    kind: 'form',
    tool: 'book_table',
    title: 'Booking a table',
    caller: 'widget:tables',
    text: 'Please say for whom the table is.',
    schema: {
      type: 'object',
      properties: {
        name: { type: 'string', title: 'Name', description: 'As it shall be called out' },
        guests: { type: 'integer', title: 'Guests', minimum: 1, maximum: 20, default: 2 },
        seat: { type: 'string', title: 'Seat', enum: ['hall', 'porch'], enumNames: ['In the hall', 'On the porch'] },
        quiet: { type: 'boolean', title: 'A quiet corner, please' },
      },
      required: ['name', 'seat'],
    },
  }),
  asked(8, sessionId, {
    kind: 'link',
    tool: 'calendar_list',
    title: 'Signing in to the calendar',
    text: 'The calendar wants you to sign in.',
    url: 'https://accounts.example.com/authorize?client=megaron',
  }),
];

export const grants = (sessionId) => [
  { id: 'g1', tool: 'shell', caller: 'model', pattern: 'git *', sessionId, grantedAt: hours(-2), expiresAt: hours(48) },
  { id: 'g2', tool: 'write_file', caller: 'model', grantedAt: hours(-1) },
];

const since = '2026-05-05T10:00:00Z';
export const servers = () => [
  {
    ...{
      name: 'files',
      kind: 'stdio',
      place: 'npx -y @example/files --root ~/feast',
      state: 'ready',
      since,
      starts: 1,
    },
    ...{ trusted: false, configured: true, protocol: '2025-11-25', title: 'Files' },
    tools: [
      { name: 'look', offeredAs: 'files_look', description: 'Looks at a file and says what is in it.', enabled: true },
      { name: 'wipe', description: 'Wipes a file.', enabled: false, warning: 'its schema cannot be read' },
    ],
  },
  {
    ...{
      name: 'calendar',
      kind: 'http',
      place: 'https://calendar.example.com/mcp',
      state: 'needs-sign-in',
      since,
      starts: 1,
    },
    ...{
      signInUrl: 'https://accounts.example.com/authorize?client=megaron',
      trusted: false,
      configured: false,
      tools: [],
    },
  },
  {
    ...{ name: 'weather', kind: 'stdio', place: 'weather-server', state: 'failed', since, starts: 4, trusted: false },
    ...{ reason: 'the program `weather-server` was not found', retryAt: hours(0.01), configured: false, tools: [] },
  },
];
