// A Markdown document to write and to read, shared by a person and an agent.
import { marked } from './vendor/marked.js';
import { registration } from './protocol.js';
import { Text, counts, lineAt, occurrences, outline, startOf } from './text.js';

const { yaar, DOMPurify } = window;
const byId = (id) => document.getElementById(id);
const [area, reading, remark] = [byId('text'), byId('reading'), byId('remark')];
/** Beyond so many characters it is drawn only once the hand rests. */
const LONG = 40_000;
const text = new Text();
let due;
let byHand = false;

text.onChange((words) => {
  if (area.value !== text.value) put(text.value);
  byId('undo').disabled = !text.canUndo;
  byId('redo').disabled = !text.canRedo;
  yaar.app.stateChanged('text', 'outline', 'summary');
  if (byHand && words !== 'loading') tell();
  clearTimeout(due);
  due = setTimeout(draw, text.value.length > LONG ? 400 : 30);
});

/** Without losing the place where somebody is. */
function put(value) {
  const { scrollTop, selectionStart } = area;
  area.value = value;
  area.setSelectionRange(Math.min(selectionStart, value.length), Math.min(selectionStart, value.length));
  area.scrollTop = scrollTop;
}

function draw() {
  const { words, characters } = counts(text.value);
  byId('counts').textContent = [`${plural(words, 'word')} · ${plural(characters, 'character')}`, text.name]
    .filter(Boolean)
    .join(' · ');
  const { scrollTop } = reading;
  reading.replaceChildren(drawn(text.value));
  reading.scrollTop = scrollTop;
  drawOutline();
  if (!byId('finding').hidden) mark();
}

/** Whoever wrote the text, nothing in it runs, loads or styles anything. */
function drawn(value) {
  if (!value.trim()) {
    const nothing = document.createElement('p');
    nothing.className = 'nothing';
    nothing.textContent = 'Nothing is written here yet.';
    return nothing;
  }
  const html = marked.parse(value, { gfm: true, async: false });
  const fragment = DOMPurify.sanitize(html, {
    RETURN_DOM_FRAGMENT: true,
    FORBID_TAGS: ['style', 'form', 'textarea', 'select', 'button', 'video', 'audio', 'svg', 'math'],
    FORBID_ATTR: ['style', 'class', 'id', 'name'],
  });
  for (const picture of fragment.querySelectorAll('img'))
    if (!/^data:image\//.test(picture.getAttribute('src') ?? '')) picture.replaceWith(absent(picture));
  for (const link of fragment.querySelectorAll('a[href]')) {
    link.target = '_blank';
    link.rel = 'noopener noreferrer';
  }
  for (const box of fragment.querySelectorAll('input')) {
    if (box.type !== 'checkbox') box.remove();
    box.disabled = true;
    box.setAttribute('aria-label', box.checked ? 'Done' : 'To do');
  }
  for (const wide of fragment.querySelectorAll('pre, table')) wide.tabIndex = 0;
  return fragment;
}

/** A window may not load pictures from elsewhere. */
function absent(picture) {
  const note = document.createElement('span');
  note.className = 'absent';
  note.textContent = `Picture: ${picture.getAttribute('alt') || picture.getAttribute('src') || 'without a name'}`;
  return note;
}

function drawOutline() {
  const headings = outline(text.value);
  const shown = [...reading.querySelectorAll('h1, h2, h3, h4, h5, h6')];
  byId('outline').querySelector('p').hidden = headings.length > 0;
  byId('outline')
    .querySelector('ol')
    .replaceChildren(
      ...headings.map(({ level, title, line }, at) => {
        const item = document.createElement('li');
        item.className = `level-${level}`;
        const button = document.createElement('button');
        button.type = 'button';
        button.textContent = title || 'Without a title';
        button.addEventListener('click', () => {
          goTo(line);
          shown[at]?.scrollIntoView({ block: 'start' });
        });
        item.append(button);
        return item;
      }),
    );
}

function goTo(line) {
  const at = startOf(text.value, line);
  area.setSelectionRange(at, at);
  // A text area scrolls to its cursor by itself only while it is written in.
  area.scrollTop = (area.scrollHeight * (line - 2)) / Math.max(1, counts(text.value).lines);
  const heading = outline(text.value).findLastIndex((it) => it.line <= line);
  reading.querySelectorAll('h1, h2, h3, h4, h5, h6')[heading]?.scrollIntoView({ block: 'start' });
}

function setView(view) {
  document.body.dataset.view = view;
  for (const radio of document.querySelectorAll('[name=view]')) radio.checked = radio.value === view;
}

/** What was done by hand, told in one go once the hand rests. It informs and asks for nothing. */
let telling;
function tell() {
  clearTimeout(telling);
  telling = setTimeout(() => {
    const { words } = counts(text.value);
    yaar.app.sendInteraction(`The person changed the document, which has ${plural(words, 'word')} now.`, {
      inform: true,
    });
  }, 2500);
}

function guarded(act) {
  remark.textContent = '';
  byHand = true;
  try {
    act();
  } catch (error) {
    remark.textContent = `That did not work: ${error.message}.`;
  } finally {
    byHand = false;
  }
}

area.addEventListener('input', () => guarded(() => text.type(area.value, performance.now())));
area.addEventListener('select', () => yaar.app.stateChanged('selection'));
byId('undo').addEventListener('click', () => guarded(() => text.undo()));
byId('redo').addEventListener('click', () => guarded(() => text.redo()));
document.addEventListener('keydown', (event) => {
  if (!event.ctrlKey && !event.metaKey) return;
  const key = event.key.toLowerCase();
  const isUndo = key === 'z' && !event.shiftKey;
  const isRedo = key === 'y' || (key === 'z' && event.shiftKey);
  if (isUndo || isRedo) guarded(() => (isUndo ? text.canUndo && text.undo() : text.canRedo && text.redo()));
  else if (key === 'f') showFind(true);
  else return;
  event.preventDefault();
});
for (const radio of document.querySelectorAll('[name=view]'))
  radio.addEventListener('change', () => setView(radio.value));
byId('show-outline').addEventListener('click', () => {
  byId('outline').hidden = !byId('outline').hidden;
  byId('show-outline').setAttribute('aria-expanded', String(!byId('outline').hidden));
});
byId('show-find').addEventListener('click', () => showFind(byId('finding').hidden));
byId('enough').addEventListener('click', () => showFind(false));
byId('wanted').addEventListener('input', () => (mark(), step(0)));
byId('wanted').addEventListener('keydown', (event) => event.key === 'Escape' && showFind(false));
byId('finding').addEventListener('submit', (event) => (event.preventDefault(), step(1)));
byId('earlier').addEventListener('click', () => step(-1));
byId('open').addEventListener('click', () => byId('file').click());
byId('file').addEventListener('change', open);
byId('save').addEventListener('click', save);

function showFind(shown) {
  byId('finding').hidden = !shown;
  byId('show-find').setAttribute('aria-expanded', String(shown));
  mark();
  if (shown) byId('wanted').select();
  else (document.body.dataset.view === 'read' ? reading : area).focus();
}

let current = 0;
function step(by) {
  const all = occurrences(text.value, byId('wanted').value);
  if (all.length === 0) return;
  current = by === 0 ? 0 : (current + by + all.length) % all.length;
  const { start, end } = all[current];
  goTo(lineAt(text.value, start));
  area.setSelectionRange(start, end);
  byId('found').textContent = `${current + 1} of ${all.length}`;
}

/** Shows in the text as it reads what is looked for. */
function mark() {
  const wanted = byId('finding').hidden ? '' : byId('wanted').value;
  const count = occurrences(text.value, wanted).length;
  byId('found').textContent = wanted ? (count ? `${count} found` : 'Not found') : '';
  if (!window.Highlight) return;
  const ranges = [];
  const walker = document.createTreeWalker(reading, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node && wanted; node = walker.nextNode())
    for (const { start, end } of occurrences(node.data, wanted)) {
      const range = new Range();
      range.setStart(node, start);
      range.setEnd(node, end);
      ranges.push(range);
    }
  CSS.highlights.set('found', new Highlight(...ranges));
}

async function open() {
  const [file] = byId('file').files;
  if (!file) return;
  const content = (await file.text()).replaceAll('\r\n', '\n');
  text.name = file.name;
  guarded(() => text.set(content, `open ${file.name}`));
  byId('file').value = '';
}

function save() {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text.value], { type: 'text/markdown' }));
  link.download = text.name || 'document.md';
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function selection() {
  const { selectionStart: start, selectionEnd: end } = area;
  return {
    text: text.value.slice(start, end),
    firstLine: lineAt(text.value, start),
    lastLine: lineAt(text.value, end),
  };
}

function plural(count, word) {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

yaar.app.register({
  ...registration(text, { goTo, setView, selection }),
  restore: {
    save: () => ({ value: text.value, name: text.name, view: document.body.dataset.view }),
    load: (kept) => {
      text.load(kept);
      setView(kept.view ?? 'both');
    },
    failed: (error) => (remark.textContent = error ? `What you write here is not kept: ${error}.` : ''),
  },
});
draw();
