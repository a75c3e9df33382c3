const search = document.getElementById('search');
const list = document.getElementById('list');
const count = document.getElementById('count');
const own = appletAPI.getAppletSlug();
let applets = [];

search.addEventListener('input', () => {
  appletAPI.updateAppletUrlParam('search', search.value);
});
appletAPI.onUrlParamsChange((params) => {
  if (search.value !== (params.search ?? '')) search.value = params.search ?? '';
  show();
});
appletAPI.onStateUpdate((state) => {
  if (typeof state.search === 'string') appletAPI.updateAppletUrlParam('search', state.search);
});

load();

async function load() {
  try {
    applets = (await appletAPI.listApplets()).filter((it) => it.slug !== own);
    show();
  } catch (error) {
    count.textContent = `The list cannot be read: ${error.message}`;
  }
}

function show() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const text = (it) => `${it.name} ${it.slug} ${it.description ?? ''}`.toLowerCase();
  const found = applets.filter((it) => words.every((word) => text(it).includes(word)));
  found.sort((a, b) => a.name.localeCompare(b.name));
  list.replaceChildren(...found.map(card));
  count.textContent = said(found.length);
  setAppletState({ search: search.value, shown: found.map((it) => it.slug) });
}

function said(number) {
  if (applets.length === 0) return 'There are no other applets yet. Ask the agent to make one.';
  if (number === 0) return `No applet is about “${search.value}”.`;
  return number === 1 ? 'One applet' : `${number} applets`;
}

function card(applet) {
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.href = `/?applet=${encodeURIComponent(applet.slug)}`;
  const mark = document.createElement('span');
  mark.className = 'mark';
  mark.setAttribute('aria-hidden', 'true');
  mark.textContent = [...applet.name][0] ?? '?';
  const name = document.createElement('strong');
  name.textContent = applet.name;
  const about = document.createElement('span');
  about.className = 'about';
  about.textContent = applet.description ?? applet.slug;
  link.append(mark, name, about);
  item.append(link);
  return item;
}
