const LINES = 5_000;

const [back, unstaged, staged, again, told, trouble, list, sheet, title, lines] = [
  ...['back', 'unstaged', 'staged', 'again', 'told', 'trouble', 'files', 'sheet', 'title', 'lines'],
].map((id) => document.getElementById(id));
/** What was asked for: `path`, `file` and whether `staged`. */
let wanted = {};
let files = [];
let asked = 0;

again.addEventListener('click', load);
unstaged.addEventListener('click', () => appletAPI.navigateAppletUrlParam('staged', ''));
staged.addEventListener('click', () => appletAPI.navigateAppletUrlParam('staged', 'true'));
document.addEventListener('visibilitychange', () => document.hidden || load());
appletAPI.onUrlParamsChange(({ path = '', file = '', staged = '' }) => {
  const before = wanted;
  wanted = { path, file, staged: ['true', '1', 'yes'].includes(staged) };
  if (before.path === path && before.staged === wanted.staged) show();
  else load();
});
appletAPI.onStateUpdate(({ open, staged, refresh }) => {
  if (typeof staged === 'boolean') appletAPI.navigateAppletUrlParam('staged', staged ? 'true' : '');
  if (typeof open === 'string') appletAPI.navigateAppletUrlParam('file', open);
  else if (refresh) load();
});

async function load() {
  const turn = ++asked;
  const { path, staged } = wanted;
  told.textContent = 'Looking… If you are asked for leave, answer it under Approvals.';
  sheet.setAttribute('aria-busy', 'true');
  try {
    const cwd = await absolute(path);
    const output = await git(cwd, 'diff', '--no-color', '--no-renames', '--numstat', '--patch', ...(staged ? ['--cached'] : []));
    if (turn !== asked) return;
    files = read(output);
    trouble.hidden = true;
    show();
  } catch (error) {
    if (turn !== asked) return;
    files = [];
    const missing = /not a git repository/i.test(error.message);
    trouble.textContent = missing ? 'This folder is no git repository.' : `The difference cannot be shown. ${error.message}`;
    trouble.hidden = false;
    sheet.hidden = true;
    told.textContent = '';
    list.replaceChildren();
    setAppletState({ ...wanted, files: [], error: trouble.textContent });
  } finally {
    if (turn === asked) sheet.removeAttribute('aria-busy');
  }
}

async function absolute(path) {
  if (path.startsWith('/')) return path;
  const { cwd } = await answer(await fetch('/api/files'));
  return path ? `${cwd}/${path}` : cwd;
}

async function git(cwd, ...args) {
  const headers = { 'Content-Type': 'application/json' };
  const body = JSON.stringify({ command: 'git', args, cwd });
  const { stdout, stderr, code } = await answer(await fetch('/api/shell', { method: 'POST', headers, body }));
  if (code !== 0) throw new Error(stderr.trim().split('\n')[0] || `git ended with ${code}`);
  return stdout;
}

async function answer(reply) {
  const told = await reply.json();
  if (!reply.ok) throw new Error(told.error);
  return told;
}

/** Git counts the lines of each file first, then shows each file, in the same order. */
function read(output) {
  const [counts, ...patches] = output.split(/^diff --git .*\n/m);
  const rows = counts.split('\n').filter(Boolean);
  return rows.map((row, at) => {
    const [added, removed, ...name] = row.split('\t');
    return { name: plain(name.join('\t')), added, removed, patch: patches[at] ?? '' };
  });
}

/** A name as it is: git writes unusual ones in quotes, with their bytes in octal. */
function plain(name) {
  if (!name.startsWith('"')) return name;
  const known = { n: 10, t: 9, r: 13, a: 7, b: 8, f: 12, v: 11 };
  const bytes = [];
  for (const [, octal, letter, other] of name.slice(1, -1).matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/g)) {
    if (octal) bytes.push(parseInt(octal, 8));
    else if (letter) bytes.push(known[letter] ?? letter.charCodeAt(0));
    else bytes.push(...new TextEncoder().encode(other));
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}

function show() {
  back.href = `/?applet=git-status&path=${encodeURIComponent(wanted.path)}`;
  staged.setAttribute('aria-pressed', wanted.staged);
  unstaged.setAttribute('aria-pressed', !wanted.staged);
  const file = files.find((it) => it.name === wanted.file) ?? (wanted.file ? undefined : files[0]);
  list.replaceChildren(...files.map((it) => entry(it, it === file)));
  sheet.hidden = !file;
  if (file) showFile(file);
  else told.textContent = files.length ? `${wanted.file} has no such changes.` : `Nothing is ${wanted.staged ? 'staged' : 'changed and not staged'}.`;
  const counted = files.map((it) => `${it.name} +${it.added} -${it.removed}`);
  setAppletState({ ...wanted, file: file?.name ?? null, files: counted, error: null });
}

function entry(file, current) {
  const link = make('a', { href: '#' }, make('span', { className: 'name', textContent: file.name }), ...counts(file));
  if (current) link.setAttribute('aria-current', 'true');
  link.addEventListener('click', (event) => {
    event.preventDefault();
    appletAPI.navigateAppletUrlParam('file', file.name);
  });
  return make('li', {}, link);
}

function counts({ added, removed }) {
  if (added === '-') return [make('span', { className: 'quiet', textContent: 'binary' })];
  return [make('span', { className: 'plus', textContent: `+${added}` }), make('span', { className: 'minus', textContent: `−${removed}` })];
}

function showFile(file) {
  title.textContent = file.name;
  const rows = numbered(file.patch);
  lines.replaceChildren(...rows.slice(0, LINES).map(row));
  if (rows.length > LINES) told.textContent = `The first ${LINES} of ${rows.length} lines`;
  else if (rows.length) told.textContent = `${file.added} lines added, ${file.removed} removed`;
  else told.textContent = file.added === '-' ? 'This is no text; it has no lines to compare.' : 'Only its mode or its being there has changed.';
}

/** The lines of a patch with the numbers that they have in the old file and in the new one. */
function numbered(patch) {
  const rows = [];
  let [old, now] = [0, 0];
  for (const line of patch.replace(/\n$/, '').split('\n')) {
    const hunk = line.match(/^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)/);
    if (hunk) {
      [old, now] = [Number(hunk[1]), Number(hunk[2])];
      rows.push({ kind: 'hunk', text: hunk[3].trim() || `line ${now}` });
    } else if (rows.length === 0) continue;
    else if (line.startsWith('+')) rows.push({ kind: 'added', now: now++, text: line });
    else if (line.startsWith('-')) rows.push({ kind: 'removed', old: old++, text: line });
    else if (line.startsWith('\\')) rows.push({ kind: 'quiet', text: line.slice(2) });
    else rows.push({ kind: 'same', old: old++, now: now++, text: line });
  }
  return rows;
}

function row({ kind, old = '', now = '', text }) {
  const number = (value) => make('td', { className: 'number', textContent: value });
  return make('tr', { className: kind }, number(old), number(now), make('td', { className: 'text', textContent: text }));
}

function make(name, properties, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}
