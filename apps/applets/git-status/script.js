const PARTS = [
  ['conflicts', 'In conflict'],
  ['staged', 'Staged'],
  ['unstaged', 'Not staged'],
  ['untracked', 'Untracked'],
];
const DEEDS = { M: 'modified', A: 'added', D: 'deleted', R: 'renamed', C: 'copied', T: 'type changed', U: 'in conflict', '?': 'untracked' };

const [branch, where, again, told, trouble, parts] = ['branch', 'where', 'again', 'told', 'trouble', 'parts'].map((id) =>
  document.getElementById(id),
);
let folder = null;
let asked = 0;

again.addEventListener('click', () => load(folder));
document.addEventListener('visibilitychange', () => document.hidden || load(folder));
appletAPI.onUrlParamsChange(({ path }) => (path ?? '') !== folder && load(path ?? ''));
appletAPI.onStateUpdate(({ open, refresh }) => {
  if (typeof open === 'string') appletAPI.navigateAppletUrlParam('path', open);
  else if (refresh) load(folder);
});

async function load(path) {
  const turn = ++asked;
  folder = path;
  told.textContent = 'Looking… If you are asked for leave, answer it under Approvals.';
  parts.setAttribute('aria-busy', 'true');
  try {
    const cwd = await absolute(path);
    const [status, root] = await Promise.all([
      git(cwd, 'status', '--porcelain=v2', '--branch'),
      git(cwd, 'rev-parse', '--show-toplevel'),
    ]);
    if (turn !== asked) return;
    trouble.hidden = true;
    show({ root: root.trim(), path, ...read(status) });
  } catch (error) {
    if (turn !== asked) return;
    const missing = /not a git repository/.test(error.message);
    trouble.textContent = missing ? 'This folder is no git repository.' : `The status cannot be shown. ${error.message}`;
    trouble.hidden = false;
    branch.textContent = 'Git';
    where.textContent = path || 'Workspace';
    told.textContent = '';
    parts.replaceChildren();
    setAppletState({ path, branch: null, error: trouble.textContent });
  } finally {
    if (turn === asked) parts.removeAttribute('aria-busy');
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
  if (code !== 0) throw new Error(stderr.trim() || `git ended with ${code}`);
  return stdout;
}

async function answer(reply) {
  const told = await reply.json();
  if (!reply.ok) throw new Error(told.error);
  return told;
}

/** From the lines of `git status --porcelain=v2 --branch`. */
function read(status) {
  const found = { branch: null, upstream: null, ahead: 0, behind: 0, staged: [], unstaged: [], untracked: [], conflicts: [] };
  for (const line of status.split('\n')) {
    const words = line.split(' ');
    if (line.startsWith('# branch.head ')) found.branch = words[2] === '(detached)' ? null : words.slice(2).join(' ');
    else if (line.startsWith('# branch.upstream ')) found.upstream = words[2];
    else if (line.startsWith('# branch.ab ')) [found.ahead, found.behind] = [Number(words[2]), -Number(words[3])];
    else if (words[0] === '?') found.untracked.push({ deed: '?', file: plain(line.slice(2)) });
    else if (words[0] === 'u') found.conflicts.push({ deed: 'U', file: plain(words.slice(10).join(' ')) });
    else if (words[0] === '1' || words[0] === '2') {
      const names = words.slice(words[0] === '1' ? 8 : 9).join(' ').split('\t');
      const [staged, unstaged] = words[1];
      const [file, from] = names.map(plain);
      if (staged !== '.') found.staged.push({ deed: staged, file, from });
      if (unstaged !== '.') found.unstaged.push({ deed: unstaged, file });
    }
  }
  return found;
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

function show(status) {
  branch.textContent = status.branch ?? 'No branch';
  where.textContent = [status.root, ...distance(status)].join(' · ');
  const total = PARTS.reduce((sum, [key]) => sum + status[key].length, 0);
  told.textContent = total === 0 ? 'Nothing has changed since the last commit.' : total === 1 ? 'One change' : `${total} changes`;
  parts.replaceChildren(...PARTS.filter(([key]) => status[key].length).map(([key, title]) => part(status, key, title)));
  const lines = Object.fromEntries(PARTS.map(([key]) => [key, status[key].map(({ deed, file }) => `${deed} ${file}`)]));
  const { path, ahead, behind } = status;
  setAppletState({ path, branch: status.branch, ahead, behind, ...lines, error: null });
}

function distance({ upstream, ahead, behind }) {
  if (!upstream) return [];
  if (!ahead && !behind) return [`level with ${upstream}`];
  const parts = [ahead && `${ahead} ahead of`, behind && `${behind} behind`].filter(Boolean);
  return [`${parts.join(' and ')} ${upstream}`];
}

function part(status, key, title) {
  const list = make('ul', {}, ...status[key].map((change) => row(status.root, key, change)));
  const heading = make('h2', {}, title, make('span', { className: 'number', textContent: status[key].length }));
  return make('section', {}, heading, list);
}

function row(root, key, { deed, file, from }) {
  const staged = key === 'staged' ? '&staged=true' : '';
  const to = `/?applet=git-diff&path=${encodeURIComponent(root)}&file=${encodeURIComponent(file)}${staged}`;
  const untracked = `/?applet=text-editor&path=${encodeURIComponent(`${root}/${file}`)}`;
  const mark = make('span', { className: `mark ${DEEDS[deed] ?? ''}`, textContent: deed, title: DEEDS[deed] ?? '', ariaHidden: 'true' });
  const spoken = make('span', { className: 'spoken', textContent: `${DEEDS[deed] ?? deed}: ` });
  const name = make('span', { className: 'name', textContent: from ? `${from} → ${file}` : file });
  // A folder that git does not know is one line, and there is nothing in it to compare.
  if (file.endsWith('/')) return make('li', {}, make('span', { className: 'row' }, mark, spoken, name));
  return make('li', {}, make('a', { className: 'row', href: key === 'untracked' ? untracked : to }, mark, spoken, name));
}

function make(name, properties, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}
