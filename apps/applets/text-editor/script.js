const STATE_CHARACTERS = 20_000;
const LOOK_EVERY = 2_000;

const [folder, name, mark, find, save, notice, told, choices, numbers, text, status] = [
  ...['folder', 'name', 'mark', 'find', 'save', 'notice', 'told', 'choices', 'numbers', 'text', 'status'],
].map((id) => document.getElementById(id));
let path = '';
/** What is in the file, as far as we know, and the tag it had then; no tag means no file yet. */
let kept = { text: '', tag: null, crlf: false };
let saving = false;
let error = null;
let asked = 0;
let telling;

appletAPI.onUrlParamsChange((params) => {
  if (!params.path) return refuse('No file was named. Choose one under Files.');
  if (params.path !== path) load(params.path, Number(params.line) || 1);
});
appletAPI.onStateUpdate(({ open, goToLine, replaceText }) => {
  if (typeof open === 'string') appletAPI.navigateAppletUrlParam('path', open);
  if (typeof replaceText === 'string' && !text.disabled) {
    text.value = replaceText;
    changed();
    tell('The agent put new text here. Nothing is saved until you save it.');
  }
  if (Number(goToLine) > 0) goTo(Number(goToLine));
});
text.addEventListener('input', changed);
text.addEventListener('scroll', () => (numbers.scrollTop = text.scrollTop));
document.addEventListener('selectionchange', tellState);
save.addEventListener('click', () => put(kept.tag));
addEventListener('keydown', (event) => {
  if (!(event.ctrlKey || event.metaKey)) return;
  const act = { s: () => save.disabled || put(kept.tag), f: () => find.select() }[event.key.toLowerCase()];
  if (!act) return;
  event.preventDefault();
  act();
});
find.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') text.focus();
  if (event.key !== 'Enter') return;
  // Else the text, which has the focus by then, would get a new line.
  event.preventDefault();
  next(event.shiftKey);
});
setInterval(() => document.hidden || look(), LOOK_EVERY);

async function load(wanted, line) {
  const turn = ++asked;
  path = wanted;
  const parts = path.split('/');
  name.textContent = parts.pop();
  folder.textContent = parts.join('/') || 'Files';
  folder.href = `/?applet=file-browser&path=${encodeURIComponent(parts.join('/') || '.')}`;
  text.disabled = true;
  tell('Reading…');
  try {
    const reply = await fetch(file());
    if (turn !== asked) return;
    if (reply.status !== 404 && !reply.ok) throw new Error((await reply.json()).error);
    const content = reply.ok ? decoded(await reply.arrayBuffer()) : '';
    if (turn !== asked) return;
    kept = { text: content.replaceAll('\r\n', '\n'), tag: reply.headers.get('ETag'), crlf: content.includes('\r\n') };
    text.value = kept.text;
    text.disabled = false;
    forget();
    tell(reply.ok ? '' : 'There is no such file yet. It is made when you save.');
    changed();
    goTo(line);
  } catch (problem) {
    if (turn === asked) refuse(`This file cannot be edited. ${problem.message}`);
  }
}

function file() {
  return `/api/file?path=${encodeURIComponent(path)}`;
}

function unsaved() {
  return text.value !== kept.text;
}

function decoded(bytes) {
  try {
    const content = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    if (!content.includes('\0')) return content;
  } catch {
    // Said below.
  }
  throw new Error('It is not text.');
}

/** Writes the file, unless it is no longer what it was when it had this tag. */
async function put(tag) {
  if (saving) return;
  saving = true;
  const [written, to] = [text.value, path];
  tell('Saving… If you are asked for leave, answer it under Approvals.');
  try {
    const body = kept.crlf ? written.replaceAll('\n', '\r\n') : written;
    const headers = { 'Content-Type': 'text/plain', ...(tag ? { 'If-Match': tag } : {}) };
    const reply = await fetch(`/api/files/${encodeURIComponent(to)}`, { method: 'PUT', headers, body });
    if (to !== path) return;
    if (reply.status === 412) return conflict();
    if (!reply.ok) throw new Error((await reply.json()).error);
    kept = { ...kept, text: written, tag: reply.headers.get('ETag') };
    forget();
    tell('Saved.');
  } catch (problem) {
    warn(`It was not saved. ${problem.message}`);
    tell('');
  } finally {
    saving = false;
    changed();
  }
}

/** Whether somebody else wrote the file: theirs is shown, unless that would lose something. */
async function look() {
  if (text.disabled || saving || !notice.hidden) return;
  const turn = asked;
  const reply = await fetch(file(), { method: 'HEAD' }).catch(() => null);
  if (!reply?.ok || turn !== asked || saving || reply.headers.get('ETag') === kept.tag) return;
  if (unsaved()) return conflict();
  await load(path, here());
  tell('The file was changed elsewhere; this is how it is now.');
}

function conflict() {
  tell('');
  warn('This file was changed elsewhere since you opened it.', [
    ['Show theirs', () => load(path, here())],
    ['Keep mine', () => put(null)],
  ]);
}

function changed() {
  const lines = text.value.split('\n').length;
  if (numbers.dataset.lines !== String(lines)) {
    numbers.dataset.lines = lines;
    numbers.textContent = Array.from({ length: lines }, (_, at) => at + 1).join('\n');
  }
  mark.hidden = !unsaved();
  save.disabled = text.disabled || (!unsaved() && kept.tag !== null);
  tellState();
}

function goTo(line) {
  const lines = text.value.split('\n');
  const at = Math.min(line, lines.length) - 1;
  const start = lines.slice(0, at).reduce((sum, it) => sum + it.length + 1, 0);
  text.setSelectionRange(start, start);
  const height = parseFloat(getComputedStyle(text).lineHeight);
  text.scrollTop = Math.max(0, at * height - text.clientHeight / 3);
  tellState();
}

function here() {
  return text.value.slice(0, text.selectionStart).split('\n').length;
}

function next(backwards) {
  const [all, words] = [text.value.toLowerCase(), find.value.toLowerCase()];
  if (!words) return;
  const from = backwards ? text.selectionStart - 1 : text.selectionEnd;
  const found = backwards ? (from < 0 ? -1 : all.lastIndexOf(words, from)) : all.indexOf(words, from);
  const at = found >= 0 ? found : backwards ? all.lastIndexOf(words) : all.indexOf(words);
  if (at < 0) return tell(`“${find.value}” is not in this file.`);
  goTo(text.value.slice(0, at).split('\n').length);
  text.focus();
  text.setSelectionRange(at, at + words.length);
  tell(`Line ${here()}`);
}

function refuse(problem) {
  text.value = '';
  text.disabled = true;
  kept = { text: '', tag: null, crlf: false };
  changed();
  tell('');
  warn(problem);
}

function warn(problem, ways = []) {
  error = problem;
  told.textContent = problem;
  choices.replaceChildren(
    ...ways.map(([label, act]) => {
      const button = Object.assign(document.createElement('button'), { type: 'button', textContent: label });
      button.addEventListener('click', act);
      return button;
    }),
  );
  notice.hidden = false;
  tellState();
}

function forget() {
  error = null;
  notice.hidden = true;
}

function tell(words) {
  status.textContent = words;
}

/** Not at every key: a moment of quiet is soon enough for whoever reads it. */
function tellState() {
  clearTimeout(telling);
  telling = setTimeout(() => {
    const selected = text.value.slice(text.selectionStart, text.selectionEnd);
    const cut = (words) => words.slice(0, STATE_CHARACTERS);
    setAppletState({ path, unsaved: unsaved(), line: here(), selected: cut(selected), text: cut(text.value), error });
  }, 200);
}
