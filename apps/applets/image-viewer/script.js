const PICTURES = /\.(png|jpe?g|gif|webp|svg|ico)$/i;
const STATE_OTHERS = 200;

const [folder, name, smaller, fit, actual, larger, stage, picture, trouble, before, told, after] = [
  ...['folder', 'name', 'smaller', 'fit', 'actual', 'larger', 'stage', 'picture', 'trouble', 'before', 'told', 'after'],
].map((id) => document.getElementById(id));
let path = '';
/** The paths of all pictures in the folder. */
let others = [];
/** `fit`, or how large. */
let wish = 'fit';
let error = null;

fit.addEventListener('click', () => zoom('fit'));
actual.addEventListener('click', () => zoom(1));
smaller.addEventListener('click', () => zoom(scale() / 1.25));
larger.addEventListener('click', () => zoom(scale() * 1.25));
before.addEventListener('click', () => step(-1));
after.addEventListener('click', () => step(1));
addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const act = {
    '+': () => zoom(scale() * 1.25),
    '=': () => zoom(scale() * 1.25),
    '-': () => zoom(scale() / 1.25),
    0: () => zoom('fit'),
    1: () => zoom(1),
    ArrowLeft: () => wanders() || step(-1),
    ArrowRight: () => wanders() || step(1),
  }[event.key];
  act?.();
});
stage.addEventListener(
  'wheel',
  (event) => {
    event.preventDefault();
    const rect = stage.getBoundingClientRect();
    zoom(scale() * Math.exp(-event.deltaY / 500), event.clientX - rect.left, event.clientY - rect.top);
  },
  { passive: false },
);
stage.addEventListener('dblclick', () => zoom(wish === 'fit' ? 1 : 'fit'));
stage.addEventListener('pointerdown', drag);
picture.addEventListener('load', () => {
  picture.hidden = false;
  complain(null);
  zoom(wish);
});
picture.addEventListener('error', () => complain(`“${path}” cannot be shown. There is no such picture, or it is none.`));
addEventListener('resize', () => zoom(wish));
appletAPI.onUrlParamsChange((params) => (params.path ? load(params.path) : complain('No picture was named. Choose one under Files.')));
appletAPI.onStateUpdate((state) => {
  if (typeof state.open === 'string') appletAPI.navigateAppletUrlParam('path', state.open);
  if (state.zoom === 'fit' || Number(state.zoom) > 0) zoom(state.zoom === 'fit' ? 'fit' : Number(state.zoom));
});

async function load(wanted) {
  if (wanted === path) return;
  path = wanted;
  wish = 'fit';
  const parts = path.split('/');
  name.textContent = parts.pop();
  const above = parts.join('/') || '.';
  folder.textContent = above === '.' ? 'Files' : above;
  folder.href = `/?applet=file-browser&path=${encodeURIComponent(above)}`;
  picture.hidden = true;
  picture.alt = name.textContent;
  told.textContent = 'Reading…';
  picture.src = `/api/file?path=${encodeURIComponent(path)}`;
  const reply = await fetch(`/api/files?path=${encodeURIComponent(above)}`).catch(() => null);
  const files = reply?.ok ? (await reply.json()).files : [];
  if (wanted !== path) return;
  others = files.filter((it) => PICTURES.test(it.name)).map((it) => (above === '.' ? it.name : `${above}/${it.name}`));
  show();
}

function step(by) {
  const at = others.indexOf(path);
  if (others.length < 2 || at < 0) return;
  appletAPI.navigateAppletUrlParam('path', others[(at + by + others.length) % others.length]);
}

/** Whether the arrows move about in a picture that is larger than the stage. */
function wanders() {
  return document.activeElement === stage && stage.scrollWidth > stage.clientWidth;
}

/** The largest size at which all of it is seen, and never larger than it is. */
function fitting() {
  const { clientWidth, clientHeight } = stage;
  return Math.min(1, clientWidth / picture.naturalWidth, clientHeight / picture.naturalHeight);
}

function scale() {
  return wish === 'fit' ? fitting() : wish;
}

/** Shows it this large, with the point (x, y) of the stage where it was. */
function zoom(to, x = stage.clientWidth / 2, y = stage.clientHeight / 2) {
  if (picture.hidden || !picture.naturalWidth) return;
  const [left, top, was] = [stage.scrollLeft + x, stage.scrollTop + y, picture.clientWidth];
  wish = to === 'fit' ? 'fit' : Math.min(16, Math.max(0.02, to));
  picture.style.width = `${picture.naturalWidth * scale()}px`;
  const grown = was ? picture.clientWidth / was : 1;
  stage.scrollTo(left * grown - x, top * grown - y);
  show();
}

function drag(event) {
  if (event.pointerType === 'touch' || event.button !== 0) return;
  const [left, top] = [stage.scrollLeft + event.clientX, stage.scrollTop + event.clientY];
  const move = (at) => stage.scrollTo(left - at.clientX, top - at.clientY);
  stage.setPointerCapture(event.pointerId);
  stage.addEventListener('pointermove', move);
  stage.addEventListener('pointerup', () => stage.removeEventListener('pointermove', move), { once: true });
}

function show() {
  const at = others.indexOf(path);
  before.disabled = after.disabled = others.length < 2 || at < 0;
  fit.setAttribute('aria-pressed', wish === 'fit');
  actual.setAttribute('aria-pressed', wish === 1);
  const { naturalWidth: width, naturalHeight: height } = picture;
  if (!picture.hidden && width) {
    const place = at >= 0 && others.length > 1 ? ` · ${at + 1} of ${others.length}` : '';
    told.textContent = `${width} × ${height} · ${Math.round(scale() * 100)} %${place}`;
  }
  const zoomed = Math.round(scale() * 1000) / 1000;
  const size = picture.hidden ? { width: null, height: null, zoom: null } : { width, height, zoom: zoomed };
  setAppletState({ path, ...size, fits: wish === 'fit', others: others.slice(0, STATE_OTHERS), error });
}

function complain(text) {
  error = text;
  trouble.hidden = !text;
  trouble.textContent = text ?? '';
  if (text) {
    picture.hidden = true;
    told.textContent = '';
    show();
  }
}
