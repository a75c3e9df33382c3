// Tables as text: fields between separators, with quotes around what holds one. Also what is copied from one program to another.

const SEPARATORS = [',', ';', '\t', '|'];

/** The separator that a text most likely uses: the one that cuts its first lines into the same number of fields. @param {string} text */
export function separatorOf(text) {
  const named = /^sep=(.)\r?\n/i.exec(text);
  if (named) return named[1] ?? ',';
  const head = text.slice(0, 20_000);
  const scores = SEPARATORS.map((separator) => {
    const rows = parse(head, separator).slice(0, 20);
    const widths = rows.map((row) => row.length);
    const [first = 1] = widths;
    const isEven = widths.slice(0, head.length < text.length ? -1 : undefined).every((width) => width === first);
    return { separator, score: first > 1 ? (isEven ? 1000 : 0) + first : 0 };
  });
  const best = scores.reduce((one, other) => (other.score > one.score ? other : one));
  return best.separator;
}

/** @param {string} source @param {string} [separator] @returns {string[][]} */
export function parse(source, separator) {
  const whole = source.replace(/^\uFEFF/, '');
  separator ??= separatorOf(whole);
  const text = whole.replace(/^sep=.\r?\n/i, '');
  /** @type {string[][]} */
  const rows = [];
  /** @type {string[]} */
  let row = [];
  let at = 0;
  while (at < text.length) {
    let field = '';
    if (text[at] === '"') {
      [field, at] = quoted(text, at);
    }
    const from = at;
    while (at < text.length && text[at] !== separator && text[at] !== '\n' && text[at] !== '\r') at += 1;
    row.push(field + text.slice(from, at));
    if (text[at] === separator) {
      at += 1;
      // Behind the last separator there is one more field, even at the very end.
      if (at === text.length) row.push('');
      continue;
    }
    if (text[at] === '\r' && text[at + 1] === '\n') at += 1;
    at += 1;
    rows.push(row);
    row = [];
  }
  if (row.length > 0) rows.push(row);
  return rows;
}

/** What stands between two quotes, and where it goes on. @param {string} text @param {number} at @returns {[string, number]} */
function quoted(text, at) {
  let field = '';
  for (let from = at + 1; ;) {
    const end = text.indexOf('"', from);
    if (end < 0) return [field + text.slice(from), text.length];
    field += text.slice(from, end);
    if (text[end + 1] !== '"') return [field, end + 1];
    field += '"';
    from = end + 2;
  }
}

/** @param {string[][]} rows @param {string} separator */
export function write(rows, separator = ',') {
  const isOdd = (/** @type {string} */ field) =>
    /["\r\n]/.test(field) || field.includes(separator) || /^\s|\s$/.test(field);
  const written = (/** @type {string} */ field) => (isOdd(field) ? `"${field.replaceAll('"', '""')}"` : field);
  // One empty field alone would read as no line at all.
  const line = (/** @type {string[]} */ row) =>
    row.length === 1 && row[0] === '' ? '""' : row.map(written).join(separator);
  return rows.map((row) => `${line(row)}\r\n`).join('');
}
