const KEPT = 24;
const LIGHTS = [90, 75, 60, 42, 25];

const [form, text, swatch, shades, values, kept, list, told] = ['form', 'text', 'swatch', 'shades', 'values', 'kept', 'list', 'told'].map((id) =>
  document.getElementById(id),
);
let keeping = read();

text.addEventListener('input', show);
form.addEventListener('submit', (event) => {
  event.preventDefault();
  const word = text.value.trim();
  if (!word) return;
  keeping = [word, ...keeping.filter((it) => it !== word)].slice(0, KEPT);
  keep();
});
appletAPI.onUrlParamsChange((params) => put(params.text));
appletAPI.onStateUpdate((state) => put(state.text));

function put(word) {
  if (typeof word === 'string') text.value = word;
  show();
}

/** Nearby texts get colours far apart: every letter stirs all of the number (FNV-1a). */
function hash(word) {
  let number = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(word)) number = Math.imul(number ^ byte, 0x01000193) >>> 0;
  // The lowest bits of what is left know the last letter best; the others are to count as well.
  return (number ^ (number >>> 15)) >>> 0;
}

function colour(word) {
  const number = hash(word);
  return { hue: number % 360, saturation: 45 + (Math.floor(number / 360) % 5) * 8, light: 42 + (Math.floor(number / 1800) % 4) * 6 };
}

function rgb({ hue, saturation, light }) {
  const [s, l] = [saturation / 100, light / 100];
  const part = (n) => {
    const k = (n + hue / 30) % 12;
    return Math.round(255 * (l - s * Math.min(l, 1 - l) * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [part(0), part(8), part(4)];
}

function hex(it) {
  return `#${rgb(it).map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}

/** Black or white, whichever can be read on it. */
function ink(it) {
  const [r, g, b] = rgb(it).map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? '#000' : '#fff';
}

function show() {
  const word = text.value.trim();
  const own = colour(word);
  const row = LIGHTS.map((light) => ({ ...own, light }));
  swatch.style.background = hex(own);
  swatch.style.color = ink(own);
  swatch.textContent = word || 'Nothing yet';
  swatch.setAttribute('aria-label', `${word || 'No text'}: ${hex(own)}`);
  shades.replaceChildren(...row.map((it) => make('li', {}, chip(it, hex(it), `Copy ${hex(it)}`, () => copy(hex(it))))));
  const { hue, saturation, light } = own;
  const lines = { Hex: hex(own), RGB: `rgb(${rgb(own).join(' ')})`, HSL: `hsl(${hue} ${saturation}% ${light}%)` };
  values.replaceChildren(
    ...Object.entries(lines).flatMap(([name, value]) => [
      make('dt', { textContent: name }),
      make('dd', {}, make('code', { textContent: value }), copier(value)),
    ]),
  );
  kept.hidden = keeping.length === 0;
  list.replaceChildren(...keeping.map(entry));
  setAppletState({ text: word, hex: hex(own), shades: row.map(hex), kept: keeping.map((it) => `${it} ${hex(colour(it))}`) });
}

function entry(word) {
  const use = chip(colour(word), word, `Use ${word}`, () => put(word));
  const drop = make('button', { type: 'button', className: 'drop', textContent: '×', ariaLabel: `Forget ${word}` });
  drop.addEventListener('click', () => {
    keeping = keeping.filter((it) => it !== word);
    keep();
  });
  return make('li', {}, use, drop);
}

function chip(it, face, name, act) {
  const button = make('button', { type: 'button', className: 'chip', textContent: face, ariaLabel: name });
  Object.assign(button.style, { background: hex(it), color: ink(it) });
  button.addEventListener('click', act);
  return button;
}

function copier(value) {
  const button = make('button', { type: 'button', textContent: 'Copy', ariaLabel: `Copy ${value}` });
  button.addEventListener('click', () => copy(value));
  return button;
}

async function copy(value) {
  try {
    await navigator.clipboard.writeText(value);
    told.textContent = `Copied ${value}`;
  } catch {
    told.textContent = `This browser does not let it be copied: ${value}`;
  }
}

function read() {
  try {
    const found = JSON.parse(localStorage.getItem('kept') ?? '[]');
    return found.filter((it) => typeof it === 'string');
  } catch {
    return [];
  }
}

function keep() {
  localStorage.setItem('kept', JSON.stringify(keeping));
  show();
}

function make(name, properties, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}
