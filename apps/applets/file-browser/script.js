const PICTURES = ['png', 'jpg', 'jpeg', 'gif', 'webp', 'svg', 'ico'];
const SORTS = {
  name: () => 0,
  kind: (a, b) => kind(a.name).localeCompare(kind(b.name)),
  size: (a, b) => b.size - a.size,
};
const STATE_ENTRIES = 200;
const VIEWERS = { 'image-viewer': 'Pictures', 'text-editor': 'Editor' };

const [crumbs, search, sort, count, trouble, list] = ['crumbs', 'search', 'sort', 'count', 'trouble', 'list'].map((id) =>
  document.getElementById(id),
);
let folder = '.';
let files = [];
let asked = 0;
/** What is on show, as it was told. */
let known = '';
/** The file that was clicked, by its path. */
let chosen = '';

sort.value = localStorage.getItem('sort') ?? 'name';
sort.addEventListener('change', () => {
  localStorage.setItem('sort', sort.value);
  show();
});
search.addEventListener('input', show);
appletAPI.onUrlParamsChange(({ path }) => load(path || '.'));
appletAPI.onStateUpdate(({ open }) => {
  if (typeof open === 'string') appletAPI.navigateAppletUrlParam('path', open);
});
document.addEventListener('focusin', (event) => event.target.closest('.with') || closeMenu());
document.addEventListener('pointerdown', (event) => event.target.closest('.with') || closeMenu());
document.addEventListener('visibilitychange', () => document.hidden || load(folder));

async function load(path) {
  const turn = ++asked;
  if (path !== folder) search.value = '';
  folder = path;
  list.setAttribute('aria-busy', 'true');
  count.textContent = 'Reading…';
  try {
    const reply = await fetch(`/api/files?path=${encodeURIComponent(path)}`);
    const told = await reply.json();
    if (turn !== asked) return;
    if (!reply.ok) throw new Error(reply.status === 500 ? 'There is no such folder.' : told.error);
    const before = known;
    known = JSON.stringify(told);
    folder = told.path;
    files = told.files;
    complain(null);
    // What is the same stays where it is, under whatever points at it.
    if (known !== before) show();
    else count.textContent = said(list.childElementCount);
  } catch (error) {
    if (turn !== asked) return;
    files = [];
    known = '';
    list.replaceChildren();
    showCrumbs();
    count.textContent = '';
    complain(`“${path}” cannot be shown. ${error.message}`);
    setAppletState({ path, entries: [], search: '', error: error.message });
  } finally {
    if (turn === asked) list.removeAttribute('aria-busy');
  }
}

function show() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = files.filter((it) => words.every((word) => it.name.toLowerCase().includes(word)));
  const order = SORTS[sort.value] ?? SORTS.name;
  const folders = (it) => (it.type === 'directory' ? 0 : 1);
  found.sort((a, b) => folders(a) - folders(b) || order(a, b) || a.name.localeCompare(b.name));
  showCrumbs();
  list.replaceChildren(...found.map(row));
  count.textContent = said(found.length);
  const entries = found.slice(0, STATE_ENTRIES).map((it) => (it.type === 'directory' ? `${it.name}/` : it.name));
  setAppletState({ path: folder, entries, search: search.value, error: null });
}

function said(number) {
  if (files.length === 0) return 'This folder is empty.';
  if (number === 0) return `Nothing here is called “${search.value}”.`;
  return number === 1 ? 'One entry' : `${number} entries`;
}

function showCrumbs() {
  const parts = folder.split('/').filter((part) => part && part !== '.');
  const places = [['Workspace', '.'], ...parts.map((part, at) => [part, parts.slice(0, at + 1).join('/')])];
  crumbs.replaceChildren(
    ...places.map(([name, path], at) => {
      const link = make('a', { href: address('file-browser', path), textContent: name });
      if (at === places.length - 1) link.setAttribute('aria-current', 'page');
      return make('li', {}, link);
    }),
  );
}

function row(file) {
  const path = folder === '.' ? file.name : `${folder}/${file.name}`;
  const isFolder = file.type === 'directory';
  const applet = isFolder ? 'file-browser' : PICTURES.includes(kind(file.name)) ? 'image-viewer' : 'text-editor';
  const link = make(
    'a',
    { href: address(applet, path) },
    make('span', { className: `mark ${isFolder ? 'folder' : ''}`, ariaHidden: 'true', textContent: isFolder ? '' : kind(file.name).slice(0, 4) }),
    make('span', { className: 'name', textContent: file.name }),
    make('span', { className: 'size', textContent: isFolder ? 'folder' : inBytes(file.size) }),
  );
  const tell = make('button', { type: 'button', className: 'tell', textContent: 'Tell the agent', title: 'Tell the agent about this' });
  tell.setAttribute('aria-label', `Tell the agent about ${file.name}`);
  tell.addEventListener('click', () => tellOf(path, isFolder));
  const item = make('li', {}, link);
  if (!isFolder) item.append(openWith(file.name, path, applet, link));
  item.append(tell);
  if (!isFolder) opens(item, link, path);
  return item;
}

/** As in any list of files: a click chooses, a double click opens. A key and a finger open at once. */
function opens(item, link, path) {
  item.classList.toggle('chosen', path === chosen);
  let follows = false;
  link.follow = () => {
    follows = true;
    link.click();
    follows = false;
  };
  link.addEventListener('click', (event) => {
    if (follows || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    choose(item, path);
    if (event.detail === 0 || event.pointerType === 'touch') open(path, link);
  });
  link.addEventListener('dblclick', () => open(path, link));
}

function choose(item, path) {
  chosen = path;
  for (const other of list.children) other.classList.toggle('chosen', other === item);
}

/** In the app for such files; where several could, the person is asked; and where none can, beside the others here. */
async function open(path, link) {
  try {
    const apps = await openers(path);
    if (apps.length === 0) return link.follow();
    const choices = await hand(path, apps);
    if (choices) link.parentElement.querySelector('.with button').click();
  } catch (error) {
    complain(`“${path}” was not opened. ${error.message}`);
  }
}

async function openers(path) {
  return (await asking(`/api/apps/openers?path=${encodeURIComponent(path)}`)).apps;
}

/** To this app, or to the one that the server says; gives back what there is to choose from where it says none. */
async function hand(path, apps, appId) {
  count.textContent = `Opening ${path}…`;
  const opened = await asking('/api/apps/open', { path, appId, ask: true });
  complain(null);
  const name = apps.find(({ id }) => id === opened.appId)?.name;
  count.textContent = name ? `${path} is open in ${name}.` : '';
  return opened.choices;
}

async function asking(address, body) {
  const request = body && { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
  const reply = await fetch(address, request || {});
  const told = await reply.json();
  if (!reply.ok) throw new Error(told.error);
  return told;
}

/** A menu of everything that can show a file. */
function openWith(name, path, applet, link) {
  const button = make('button', { type: 'button', className: 'tell', textContent: 'Open with…' });
  button.setAttribute('aria-label', `Open with… ${name}`);
  button.setAttribute('aria-haspopup', 'menu');
  button.setAttribute('aria-expanded', 'false');
  const place = make('span', { className: 'with' }, button);
  button.addEventListener('click', async () => {
    if (closeMenu() === button) return;
    try {
      const apps = await openers(path);
      showMenu(place, button, [
        ...apps.map(({ id, name }) => [name, () => hand(path, apps, id)]),
        [VIEWERS[applet], () => link.follow()],
      ]);
    } catch (error) {
      complain(`“${path}” was not opened. ${error.message}`);
    }
  });
  return place;
}

function showMenu(place, button, entries) {
  closeMenu();
  const menu = make('div', { className: 'menu' });
  menu.setAttribute('role', 'menu');
  menu.setAttribute('aria-label', button.getAttribute('aria-label'));
  for (const [name, run] of entries) {
    const entry = make('button', { type: 'button', tabIndex: -1, textContent: name });
    entry.setAttribute('role', 'menuitem');
    entry.addEventListener('click', async () => {
      closeMenu();
      button.focus();
      try {
        await run();
      } catch (error) {
        complain(`It was not opened. ${error.message}`);
      }
    });
    menu.append(entry);
  }
  menu.addEventListener('keydown', (event) => steer(event, [...menu.children], button));
  button.setAttribute('aria-expanded', 'true');
  place.append(menu);
  menu.firstChild.focus();
}

function steer(event, entries, button) {
  const at = entries.indexOf(document.activeElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: entries.length - 1 }[event.key];
  if (to !== undefined) entries[(to + entries.length) % entries.length].focus();
  else if (event.key === 'Escape') {
    closeMenu();
    button.focus();
  } else return;
  event.preventDefault();
}

/** Gives back the button whose menu was open. */
function closeMenu() {
  const menu = list.querySelector('.menu');
  const button = menu?.parentElement.querySelector('[aria-haspopup]');
  button?.setAttribute('aria-expanded', 'false');
  menu?.remove();
  return button;
}

async function tellOf(path, isFolder) {
  try {
    await appletAPI.sendAgentMessage(`Please look at the ${isFolder ? 'folder' : 'file'} ${path}.`);
    complain(null);
    count.textContent = `The agent was told about ${path}.`;
  } catch (error) {
    complain(`The agent was not told. ${error.message}`);
  }
}

function complain(text) {
  trouble.hidden = !text;
  trouble.textContent = text ?? '';
}

function address(applet, path) {
  return `/?applet=${applet}&path=${encodeURIComponent(path)}`;
}

function kind(name) {
  const dot = name.lastIndexOf('.');
  return dot > 0 ? name.slice(dot + 1).toLowerCase() : '';
}

function inBytes(size) {
  if (size < 1000) return `${size} B`;
  const power = Math.min(Math.floor(Math.log10(size) / 3), 3);
  return `${(size / 1000 ** power).toPrecision(2).replace(/\.0$/, '')} ${['B', 'kB', 'MB', 'GB'][power]}`;
}

function make(name, properties, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}
