const STEPS = 16;
const DRUMS = ['kick', 'snare', 'hat', 'clap', 'tom'];
const READY = {
  Rock: { kick: 'x.....x.x.......', snare: '....x.......x...', hat: 'x.x.x.x.x.x.x.x.' },
  House: { kick: 'x...x...x...x...', clap: '....x.......x...', hat: '..x...x...x...x.' },
  'Boom bap': { kick: 'x.x.......x.....', snare: '....x.......x...', hat: 'x.x.x.x.x.xxx.x.' },
  Bossa: { kick: 'x..xx..xx..xx..x', hat: 'x.x.x.x.x.x.x.x.', tom: 'x..x..x...x..x..' },
};
/** How far ahead sounds are ordered, in seconds: a busy page does not make them late. */
const AHEAD = 0.1;

const [play, tempo, beats, ready, clear, grid, told] = ['play', 'tempo', 'beats', 'ready', 'clear', 'grid', 'told'].map((id) =>
  document.getElementById(id),
);
const cells = DRUMS.map((drum) => row(drum));
let audio = null;
let timer = 0;
let step = 0;
let due = 0;

ready.append(make('option', { value: '', textContent: 'Beats…' }), ...Object.keys(READY).map((name) => make('option', { textContent: name })));
ready.addEventListener('change', () => ready.value && lay(READY[ready.value], true));
clear.addEventListener('click', () => lay({}, true));
play.addEventListener('click', () => (timer ? stop() : start()));
tempo.addEventListener('input', tell);
grid.addEventListener('keydown', move);
document.addEventListener('keydown', (event) => {
  if (event.key.toLowerCase() === 'p' && !event.ctrlKey && !event.metaKey && !event.altKey) play.click();
});
appletAPI.onUrlParamsChange((params) => {
  if (params.tempo) pace(params.tempo);
  tell();
});
appletAPI.onStateUpdate((state) => {
  if (state.pattern && typeof state.pattern === 'object') lay(state.pattern, false);
  if (state.tempo !== undefined) pace(state.tempo);
  if (state.playing === false) stop();
  tell();
});

function row(drum) {
  const buttons = Array.from({ length: STEPS }, (_, at) => {
    const button = make('button', { type: 'button', className: 'step', ariaLabel: `${drum} ${at + 1}`, ariaPressed: 'false' });
    button.tabIndex = drum === DRUMS[0] && at === 0 ? 0 : -1;
    button.addEventListener('click', () => {
      set(button, button.ariaPressed !== 'true');
      if (!timer && button.ariaPressed === 'true' && wake()) sound(drum, audio.currentTime);
      tell();
    });
    return button;
  });
  grid.append(make('span', { className: 'name', textContent: drum }), make('div', { className: 'row' }, ...buttons));
  return buttons;
}

function set(button, on) {
  button.ariaPressed = String(on);
}

/** @param whole whether drums that are not named fall silent */
function lay(pattern, whole) {
  DRUMS.forEach((drum, line) => {
    const steps = pattern[drum];
    if (typeof steps !== 'string' && !whole) return;
    cells[line].forEach((button, at) => set(button, (steps ?? '')[at] === 'x'));
  });
  tell();
}

function pace(value) {
  const number = Number(value);
  if (Number.isFinite(number)) tempo.value = String(Math.min(200, Math.max(60, Math.round(number))));
}

function tell() {
  beats.textContent = `${tempo.value} bpm`;
  const line = (buttons) => buttons.map((it) => (it.ariaPressed === 'true' ? 'x' : '.')).join('');
  const pattern = Object.fromEntries(DRUMS.map((drum, at) => [drum, line(cells[at])]));
  if (!Object.values(READY).some((it) => DRUMS.every((drum) => (it[drum] ?? '.'.repeat(STEPS)) === pattern[drum]))) ready.value = '';
  setAppletState({ pattern, tempo: Number(tempo.value), playing: timer !== 0 });
}

/** One stop for the keyboard in the whole grid; arrows go from there. */
function move(event) {
  const by = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
  const line = cells.findIndex((buttons) => buttons.includes(event.target));
  if (!by || line < 0) return;
  event.preventDefault();
  const at = cells[line].indexOf(event.target);
  const next = cells[(line + by[0] + DRUMS.length) % DRUMS.length][(at + by[1] + STEPS) % STEPS];
  event.target.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

function wake() {
  try {
    audio ??= new AudioContext();
    void audio.resume();
    return true;
  } catch {
    told.textContent = 'This browser makes no sound here.';
    return false;
  }
}

function start() {
  if (!wake()) return;
  [step, due] = [0, audio.currentTime + 0.05];
  timer = setInterval(order, 25);
  shown(true);
}

function stop() {
  clearInterval(timer);
  timer = 0;
  for (const button of cells.flat()) button.classList.remove('now');
  shown(false);
}

function shown(playing) {
  play.textContent = playing ? 'Stop' : 'Play';
  play.ariaPressed = String(playing);
  tell();
}

/** Orders every sound that is due soon; the sound card keeps the time. */
function order() {
  while (due < audio.currentTime + AHEAD) {
    const at = step % STEPS;
    DRUMS.forEach((drum, line) => cells[line][at].ariaPressed === 'true' && sound(drum, due));
    cells.forEach((buttons) => buttons.forEach((button, place) => button.classList.toggle('now', place === at)));
    due += 60 / Number(tempo.value) / 4;
    step += 1;
  }
}

function sound(drum, at) {
  if (drum === 'kick') tone(at, 150, 45, 0.35, 0.9);
  if (drum === 'tom') tone(at, 220, 110, 0.3, 0.6);
  if (drum === 'snare') (noise(at, 'highpass', 1200, 0.18, 0.5), tone(at, 220, 160, 0.1, 0.3));
  if (drum === 'hat') noise(at, 'highpass', 7000, 0.05, 0.3);
  if (drum === 'clap') for (const late of [0, 0.012, 0.024]) noise(at + late, 'bandpass', 1500, 0.12, 0.35);
}

function tone(at, from, to, length, loud) {
  const wave = new OscillatorNode(audio, { frequency: from });
  wave.frequency.exponentialRampToValueAtTime(to, at + length);
  ring(wave, at, length, loud);
}

function noise(at, type, frequency, length, loud) {
  const buffer = audio.createBuffer(1, Math.ceil(audio.sampleRate * length), audio.sampleRate);
  const samples = buffer.getChannelData(0);
  for (let i = 0; i < samples.length; i += 1) samples[i] = Math.random() * 2 - 1;
  const source = new AudioBufferSourceNode(audio, { buffer });
  ring(source, at, length, loud, new BiquadFilterNode(audio, { type, frequency }));
}

function ring(source, at, length, loud, filter) {
  const gain = new GainNode(audio, { gain: loud });
  gain.gain.setValueAtTime(loud, at);
  gain.gain.exponentialRampToValueAtTime(0.001, at + length);
  source.connect(filter ?? gain);
  filter?.connect(gain);
  gain.connect(audio.destination);
  source.start(at);
  source.stop(at + length);
}

function make(name, properties, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}
