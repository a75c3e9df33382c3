const KEYS = [
  ['C', 'clear', 'Clear'],
  ['(', '('],
  [')', ')'],
  ['÷', '÷', 'Divide'],
  ['7', '7'],
  ['8', '8'],
  ['9', '9'],
  ['×', '×', 'Times'],
  ['4', '4'],
  ['5', '5'],
  ['6', '6'],
  ['−', '−', 'Minus'],
  ['1', '1'],
  ['2', '2'],
  ['3', '3'],
  ['+', '+', 'Plus'],
  ['0', '0'],
  ['.', '.', 'Point'],
  ['⌫', 'back', 'Delete'],
  ['=', 'equals', 'Equals'],
];
const TAPE = 20;

const sum = document.getElementById('sum');
const result = document.getElementById('result');
const keys = document.getElementById('keys');
const tapeList = document.getElementById('tape');
let tape = read();

for (const [face, act, name] of KEYS) {
  const key = document.createElement('button');
  key.type = 'button';
  key.textContent = face;
  key.dataset.act = act;
  if (name) key.setAttribute('aria-label', name);
  if (/^[0-9.]$/.test(act)) key.className = 'digit';
  if (act === 'equals') key.className = 'equals';
  key.addEventListener('click', () => press(act));
  keys.append(key);
}

sum.addEventListener('input', show);
sum.addEventListener('keydown', (event) => {
  if (event.key === 'Enter' || event.key === '=') {
    event.preventDefault();
    press('equals');
  } else if (event.key === 'Escape') {
    press('clear');
  }
});
document.getElementById('forget').addEventListener('click', () => {
  tape = [];
  keep();
  show();
});
appletAPI.onStateUpdate(({ expression }) => {
  if (typeof expression !== 'string') return;
  sum.value = expression;
  show();
});
appletAPI.onUrlParamsChange(({ expression }) => {
  if (expression) sum.value = expression;
  show();
});

function press(act) {
  if (act === 'clear') sum.value = '';
  else if (act === 'back') sum.value = sum.value.slice(0, -1);
  else if (act === 'equals') settle();
  else insert(act);
  show();
}

function insert(text) {
  const at = sum.selectionStart ?? sum.value.length;
  const to = sum.selectionEnd ?? at;
  sum.setRangeText(text, at, to, 'end');
}

function settle() {
  const value = worth(sum.value);
  if (value === null) return;
  tape = [{ sum: sum.value, value: written(value) }, ...tape].slice(0, TAPE);
  sum.value = written(value);
  keep();
}

function show() {
  const value = worth(sum.value);
  const trivial = value === null || written(value) === sum.value.trim();
  result.textContent = trivial ? '' : `= ${written(value)}`;
  tapeList.closest('section').hidden = tape.length === 0;
  tapeList.replaceChildren(
    ...tape.map((entry) => {
      const line = document.createElement('li');
      const again = document.createElement('button');
      again.type = 'button';
      again.className = 'plain';
      again.title = 'Use this sum again';
      again.textContent = `${entry.sum} = ${entry.value}`;
      again.addEventListener('click', () => {
        sum.value = entry.sum;
        show();
        sum.focus();
      });
      line.append(again);
      return line;
    }),
  );
  setAppletState({ expression: sum.value, result: value, tape: tape.map((it) => `${it.sum} = ${it.value}`) });
}

function written(value) {
  return String(Number(value.toPrecision(12)));
}

function read() {
  try {
    return JSON.parse(localStorage.getItem('tape') ?? '[]');
  } catch {
    return [];
  }
}

function keep() {
  localStorage.setItem('tape', JSON.stringify(tape));
}

/** The value of a sum, or null while it is none: numbers, + - * / % ^ and brackets. */
function worth(text) {
  const tokens = text.replace(/×/g, '*').replace(/÷/g, '/').replace(/−/g, '-').match(/\d+\.?\d*|\.\d+|[-+*/%^()]|\S/g) ?? [];
  let at = 0;
  const next = () => tokens[at];
  const take = () => tokens[at++];

  function sumOf() {
    let value = product();
    while (next() === '+' || next() === '-') value = take() === '+' ? value + product() : value - product();
    return value;
  }
  function product() {
    let value = signed();
    while (next() === '*' || next() === '/' || next() === '%') {
      const sign = take();
      const other = signed();
      value = sign === '*' ? value * other : sign === '/' ? value / other : value % other;
    }
    return value;
  }
  function signed() {
    if (next() === '-') return take(), -signed();
    if (next() === '+') return take(), signed();
    const base = single();
    return next() === '^' ? (take(), base ** signed()) : base;
  }
  function single() {
    if (next() === '(') {
      take();
      const value = sumOf();
      return take() === ')' ? value : NaN;
    }
    const word = take() ?? '';
    return /^[\d.]/.test(word) ? Number(word) : NaN;
  }

  if (tokens.length === 0) return null;
  const value = sumOf();
  return at === tokens.length && Number.isFinite(value) ? value : null;
}
