// Looks at one picture: larger, smaller, turned, moved about.
import { bounded, decoded, fitting, kindOf, turned } from './picture.js';

const { yaar } = window;
const byId = (id) => document.getElementById(id);
const [stage, image, remark] = [byId('stage'), byId('picture'), byId('remark')];
const TOOLS = ['smaller', 'zoom', 'larger', 'fit', 'left', 'right'];
const STEP = 1.25;
const view = { zoom: 1, rotation: 0, fit: true };
/** What is open; where its bytes are kept, if they could be. */
let open = null;

async function show(bytes, name, path = null) {
  const kind = kindOf(bytes);
  const address = URL.createObjectURL(new Blob([bytes], { type: kind }));
  const next = new Image();
  next.src = address;
  try {
    await next.decode();
  } catch {
    URL.revokeObjectURL(address);
    throw new Error('the picture is broken and cannot be shown');
  }
  URL.revokeObjectURL(image.src);
  image.src = address;
  image.alt = name || 'A picture without a name';
  // A drawing without a size of its own is given one.
  open = { name, kind, bytes: bytes.length, width: next.naturalWidth || 512, height: next.naturalHeight || 512, path };
  Object.assign(view, { rotation: 0, fit: true });
  draw();
}

/** The bytes are kept apart from the rest, which is written at every turn of the wheel. */
async function openBytes(bytes, name) {
  const before = open?.path;
  await show(bytes, name);
  const path = `apps/self/pictures/${Array.from(crypto.getRandomValues(new Uint8Array(8)), (it) => it.toString(16).padStart(2, '0')).join('')}`;
  try {
    await yaar.storage.save(path, bytes);
    open.path = path;
    if (before) await yaar.storage.remove(before);
  } catch {
    // Then it is repeated by the server, or gone with the document, which the line below the picture says.
  }
  yaar.app.stateChanged('image', 'view');
  return about();
}

function draw() {
  const isOpen = open !== null;
  image.hidden = !isOpen;
  byId('empty').hidden = isOpen;
  for (const id of TOOLS) byId(id).disabled = !isOpen;
  if (!isOpen) return;
  const padding = 24;
  if (view.fit)
    view.zoom = fitting(
      open,
      { width: stage.clientWidth - padding, height: stage.clientHeight - padding },
      view.rotation,
    );
  const [width, height] = [open.width * view.zoom, open.height * view.zoom];
  image.style.width = `${width}px`;
  image.style.height = `${height}px`;
  image.style.transform = `rotate(${view.rotation}deg)`;
  const room = byId('room');
  const isLying = view.rotation % 180 !== 0;
  room.style.width = `${isLying ? height : width}px`;
  room.style.height = `${isLying ? width : height}px`;
  stage.classList.toggle('movable', !view.fit);
  byId('zoom').textContent = `${Math.round(view.zoom * 100)} %`;
  byId('fit').setAttribute('aria-pressed', String(view.fit));
  byId('about').textContent = [open.name, `${open.width} × ${open.height}`, open.kind.slice(6), size(open.bytes)]
    .filter(Boolean)
    .join(' · ');
}

function change(next) {
  if (!open) return;
  const middle = [
    (stage.scrollLeft + stage.clientWidth / 2) / stage.scrollWidth,
    (stage.scrollTop + stage.clientHeight / 2) / stage.scrollHeight,
  ];
  Object.assign(view, { fit: false }, next);
  view.zoom = bounded(view.zoom);
  view.rotation = turned(view.rotation);
  draw();
  stage.scrollLeft = middle[0] * stage.scrollWidth - stage.clientWidth / 2;
  stage.scrollTop = middle[1] * stage.scrollHeight - stage.clientHeight / 2;
  yaar.app.stateChanged('view');
}

const deeds = {
  smaller: () => change({ zoom: view.zoom / STEP }),
  larger: () => change({ zoom: view.zoom * STEP }),
  zoom: () => change({ zoom: 1 }),
  fit: () => change({ fit: true }),
  left: () => change({ rotation: view.rotation - 90, fit: view.fit }),
  right: () => change({ rotation: view.rotation + 90, fit: view.fit }),
};
for (const id of TOOLS) byId(id).addEventListener('click', deeds[id]);

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const keys = { '+': 'larger', '=': 'larger', '-': 'smaller', 0: 'fit', 1: 'zoom', r: 'right', R: 'left' };
  if (!Object.hasOwn(keys, event.key)) return;
  event.preventDefault();
  deeds[keys[event.key]]();
});
stage.addEventListener('wheel', wheeled, { passive: false });
function wheeled(event) {
  if (!event.ctrlKey || !open) return;
  event.preventDefault();
  change({ zoom: view.zoom * Math.exp(-event.deltaY / 300) });
}
stage.addEventListener('pointerdown', (down) => {
  if (view.fit || down.button !== 0 || down.pointerType === 'touch') return;
  const from = { left: stage.scrollLeft, top: stage.scrollTop };
  stage.setPointerCapture(down.pointerId);
  const move = (event) =>
    stage.scrollTo(from.left - event.clientX + down.clientX, from.top - event.clientY + down.clientY);
  const stop = new AbortController();
  stage.addEventListener('pointermove', move, { signal: stop.signal });
  for (const end of ['pointerup', 'pointercancel'])
    stage.addEventListener(end, () => stop.abort(), { signal: stop.signal });
});
new ResizeObserver(draw).observe(stage);

byId('open').addEventListener('click', () => byId('file').click());
byId('file').addEventListener('change', () => take(byId('file').files[0]));
document.addEventListener('paste', (event) =>
  take([...event.clipboardData.files].find((it) => it.type.startsWith('image/'))),
);
for (const kind of ['dragover', 'dragleave', 'drop'])
  stage.addEventListener(kind, (event) => {
    event.preventDefault();
    stage.classList.toggle('over', kind === 'dragover');
    if (kind === 'drop') take(event.dataTransfer.files[0]);
  });

async function take(file) {
  if (!file) return;
  remark.textContent = '';
  try {
    await openBytes(new Uint8Array(await file.arrayBuffer()), file.name);
    yaar.app.sendInteraction(`The person opened the picture ${file.name}.`, { inform: true });
  } catch (error) {
    remark.textContent = `That did not work: ${error.message}.`;
  }
}

function about() {
  if (!open) return null;
  const { name, kind, bytes, width, height } = open;
  return { name: name || undefined, type: kind, bytes, width, height };
}

function size(bytes) {
  return bytes < 1024
    ? `${bytes} B`
    : bytes < 1024 * 1024
      ? `${Math.round(bytes / 1024)} KB`
      : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

yaar.app.register({
  appId: 'images',
  name: 'Images',
  state: {
    image: {
      description: 'What is open: name, type, bytes, width and height in pixels; null if nothing is.',
      schema: { type: ['object', 'null'] },
      handler: about,
    },
    view: {
      description:
        'How it is looked at: zoom (1 is as large as it is), rotation in degrees, and whether all of it is fitted in.',
      schema: { type: 'object' },
      handler: () => ({ ...view }),
    },
  },
  commands: {
    openFile: {
      description: 'Show a picture: PNG, JPEG, GIF, WebP, AVIF, BMP, ICO or SVG in base64.',
      params: {
        type: 'object',
        properties: {
          content: { type: 'string', minLength: 1 },
          name: { type: 'string' },
          encoding: { const: 'base64' },
        },
        required: ['content'],
        additionalProperties: false,
      },
      timeoutMs: 30_000,
      // The bytes are kept, since the person opens pictures as well; where nothing can be kept, it is repeated.
      handler: ({ content, name = '' }) => openBytes(decoded(content), name),
    },
    setView: {
      description:
        'Zoom (1 is as large as it is, 0.05 to 20), turn (0, 90, 180 or 270 degrees), or fit all of it into the window.',
      params: {
        type: 'object',
        properties: {
          zoom: { type: 'number', minimum: 0.05, maximum: 20 },
          rotation: { type: 'number' },
          fit: { type: 'boolean' },
        },
        minProperties: 1,
        additionalProperties: false,
      },
      // Part of what is kept.
      handler: ({ zoom, rotation, fit }) => {
        if (!open) throw new Error('no picture is open');
        const isFit = fit ?? (zoom === undefined && view.fit);
        change({
          ...(zoom === undefined ? {} : { zoom }),
          ...(rotation === undefined ? {} : { rotation }),
          fit: isFit,
        });
        return { ...view };
      },
    },
    close: {
      description: 'Put the picture away.',
      handler: () => {
        const path = open?.path;
        open = null;
        draw();
        byId('about').textContent = '';
        yaar.app.stateChanged('image', 'view');
        if (path) yaar.storage.remove(path).catch(() => {});
        return { ok: true };
      },
    },
  },
  restore: {
    save: () => ({ open: open && { name: open.name, path: open.path }, view }),
    load: async (kept) => {
      if (!kept.open?.path) return;
      const bytes = await yaar.storage.read(kept.open.path, { as: 'arraybuffer' });
      await show(new Uint8Array(bytes), kept.open.name, kept.open.path);
      Object.assign(view, kept.view);
      draw();
    },
    failed: (error) => (remark.textContent = error ? `What you open here is not kept: ${error}.` : ''),
  },
});
draw();
