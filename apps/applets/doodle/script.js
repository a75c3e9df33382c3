const COLORS = [
  ['Ink', '#26211c'],
  ['Red', '#c2361b'],
  ['Orange', '#e08a1e'],
  ['Green', '#3b8a4e'],
  ['Blue', '#2f6fb0'],
  ['Purple', '#7a4fa3'],
];
const PAPER = '#ffffff';
/** The sheet is 100 wide and 75 high, whatever its size on the screen. */
const [WIDE, HIGH] = [100, 75];
const IMAGE_CHARACTERS = 102_400;
const [STATE_STROKES, STATE_POINTS] = [100, 60];

const [colors, eraser, width, undo, redo, clear, pad, send, words, told, trouble] = [
  ...['colors', 'eraser', 'width', 'undo', 'redo', 'clear', 'pad', 'send', 'words', 'told', 'trouble'],
].map((id) => document.getElementById(id));
const brush = pad.getContext('2d');
/** Each step is a stroke, or `null` where the sheet was cleared: that can be taken back too. */
let steps = read();
let undone = [];
let color = COLORS[0][1];
let stroke = null;
/** Where the keyboard holds the pen. */
let pen = { x: WIDE / 2, y: HIGH / 2, down: false };

for (const [name, value] of COLORS) {
  const input = Object.assign(document.createElement('input'), { type: 'radio', name: 'color', value, checked: value === color, ariaLabel: name });
  input.addEventListener('change', () => choose(value));
  input.style.backgroundColor = value;
  colors.append(input);
}
eraser.addEventListener('click', () => choose(color, !erases()));
width.addEventListener('input', tellState);
undo.addEventListener('click', back);
redo.addEventListener('click', forth);
clear.addEventListener('click', () => steps.length && steps.at(-1) !== null && did(null));
pad.addEventListener('pointerdown', begin);
pad.addEventListener('pointermove', go);
for (const end of ['pointerup', 'pointercancel']) pad.addEventListener(end, finish);
pad.addEventListener('keydown', byKey);
pad.addEventListener('blur', liftPen);
addEventListener('keydown', (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.target === words) return;
  const key = event.key.toLowerCase();
  if (key !== 'z' && key !== 'y') return;
  event.preventDefault();
  if (key === 'y' || event.shiftKey) forth();
  else back();
});
send.addEventListener('submit', (event) => {
  event.preventDefault();
  show();
  tellAgent();
});
appletAPI.onStateUpdate((state) => {
  if (state.clear) did(null);
  if (!Array.isArray(state.draw)) return;
  const good = state.draw.map(checked).filter(Boolean);
  did(...good);
  told.textContent = `The agent drew ${good.length === 1 ? 'a stroke' : `${good.length} strokes`}.`;
});
show();

function erases() {
  return eraser.getAttribute('aria-pressed') === 'true';
}

function choose(value, erase = false) {
  color = value;
  eraser.setAttribute('aria-pressed', erase);
  tellState();
}

function begin(event) {
  if (event.button !== 0) return;
  liftPen();
  pad.setPointerCapture(event.pointerId);
  stroke = { color: erases() ? PAPER : color, width: Number(width.value), points: [] };
  go(event);
}

function go(event) {
  if (!stroke) return;
  const rect = pad.getBoundingClientRect();
  const passed = event.getCoalescedEvents?.() ?? [];
  for (const at of passed.length ? passed : [event]) {
    const [x, y] = [((at.clientX - rect.left) / rect.width) * WIDE, ((at.clientY - rect.top) / rect.height) * HIGH];
    // Pens tell how hard they press; mice say a half of everything.
    const press = event.pointerType === 'pen' ? at.pressure : 0.5;
    stroke.points.push([round(x), round(y), round(press)]);
  }
  paint(stroke, stroke.points.length - passed.length - 2);
}

function finish() {
  if (!stroke) return;
  const done = stroke;
  stroke = null;
  did(done);
}

function byKey(event) {
  const by = event.shiftKey ? 5 : 1;
  const way = { ArrowLeft: [-by, 0], ArrowRight: [by, 0], ArrowUp: [0, -by], ArrowDown: [0, by] }[event.key];
  if (way) {
    pen.x = Math.min(WIDE, Math.max(0, pen.x + way[0]));
    pen.y = Math.min(HIGH, Math.max(0, pen.y + way[1]));
    stroke?.points.push([pen.x, pen.y, 0.5]);
  } else if (event.key === ' ' && pen.down) liftPen();
  else if (event.key === ' ') {
    pen.down = true;
    stroke = { color: erases() ? PAPER : color, width: Number(width.value), points: [[pen.x, pen.y, 0.5]] };
  } else return;
  event.preventDefault();
  show();
  cross();
}

function liftPen() {
  pen.down = false;
  finish();
  show();
}

function did(...more) {
  steps.push(...more);
  undone = [];
  changed();
}

function back() {
  if (steps.length) undone.push(steps.pop());
  changed();
}

function forth() {
  if (undone.length) steps.push(undone.pop());
  changed();
}

function changed() {
  try {
    localStorage.setItem('steps', JSON.stringify(steps));
  } catch {
    told.textContent = 'This drawing is too large to be kept when you close it.';
  }
  show();
}

function read() {
  try {
    return JSON.parse(localStorage.getItem('steps') ?? '[]');
  } catch {
    return [];
  }
}

/** What is on the sheet: everything since it was last cleared. */
function onSheet() {
  return steps.slice(steps.lastIndexOf(null) + 1);
}

function show() {
  brush.fillStyle = PAPER;
  brush.fillRect(0, 0, pad.width, pad.height);
  onSheet().forEach((it) => paint(it));
  if (stroke) paint(stroke);
  undo.disabled = steps.length === 0;
  redo.disabled = undone.length === 0;
  clear.disabled = onSheet().length === 0;
  tellState();
}

/** Paints a stroke from one of its points on, each piece as wide as the pen was pressed. */
function paint({ color, width, points }, from = 0) {
  const unit = pad.width / WIDE;
  brush.strokeStyle = color;
  brush.lineCap = brush.lineJoin = 'round';
  const start = Math.max(0, from);
  for (let at = Math.max(start, points.length === 1 ? 0 : 1); at < points.length; at++) {
    const [x, y, press = 0.5] = points[at];
    const [fromX, fromY] = points[Math.max(0, at - 1)];
    brush.lineWidth = width * unit * (0.4 + press * 1.2);
    brush.beginPath();
    brush.moveTo(fromX * unit, fromY * unit);
    brush.lineTo(x * unit, y * unit);
    brush.stroke();
  }
}

/** Where the pen of the keyboard is; gone with the next painting. */
function cross() {
  const unit = pad.width / WIDE;
  brush.strokeStyle = '#a63f1b';
  brush.lineWidth = unit / 4;
  brush.beginPath();
  brush.arc(pen.x * unit, pen.y * unit, pen.down ? unit : 2 * unit, 0, 2 * Math.PI);
  brush.stroke();
}

async function tellAgent() {
  trouble.hidden = true;
  told.textContent = 'Sending…';
  try {
    await appletAPI.sendAgentMessage(words.value.trim() || 'Here is a drawing.', { imageData: picture() });
    words.value = '';
    told.textContent = 'The agent has it.';
  } catch (error) {
    told.textContent = '';
    trouble.textContent = `It was not sent. ${error.message}`;
    trouble.hidden = false;
  }
}

/** The sheet as a picture that is small enough: fewer pixels until it is. */
function picture() {
  for (let size = 1200; size > 100; size *= 0.75) {
    const small = Object.assign(document.createElement('canvas'), { width: size, height: (size * HIGH) / WIDE });
    small.getContext('2d').drawImage(pad, 0, 0, small.width, small.height);
    for (const data of [small.toDataURL('image/png'), small.toDataURL('image/jpeg', 0.8)]) if (data.length <= IMAGE_CHARACTERS) return data;
  }
  throw new Error('The drawing is too large.');
}

/** A stroke that somebody else made, as far as it is one. */
function checked({ color = COLORS[0][1], width = 1, points } = {}) {
  if (!Array.isArray(points)) return null;
  const good = points.filter((it) => Array.isArray(it) && it.slice(0, 2).every(Number.isFinite));
  return good.length ? { color: String(color), width: Math.min(20, Math.max(0.1, Number(width) || 1)), points: good } : null;
}

function tellState() {
  const every = (points) => Math.ceil(points.length / STATE_POINTS);
  const thinned = (points) => points.filter((_, at) => at % every(points) === 0 || at === points.length - 1);
  const drawing = onSheet().slice(-STATE_STROKES).map((it) => ({ ...it, points: thinned(it.points).map(([x, y]) => [x, y]) }));
  if (!stroke) setAppletState({ strokes: onSheet().length, drawing, color, width: Number(width.value), eraser: erases() });
}

function round(number) {
  return Math.round(number * 100) / 100;
}
