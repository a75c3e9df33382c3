const LOOK_EVERY = 3_000;
const RUNS = 20;
const OUTCOMES = { success: 'went well', error: 'failed', cancelled: 'was stopped', skipped: 'was left out' };

const [told, trouble, list] = ['told', 'trouble', 'list'].map((id) => document.getElementById(id));
let jobs = [];
let runs = [];
let open = '';
let error = null;
let shown = '';
let unread = false;

appletAPI.onUrlParamsChange(({ job = '' }) => {
  open = job;
  load();
});
appletAPI.onStateUpdate((state) => {
  if (typeof state.open === 'string') appletAPI.navigateAppletUrlParam('job', state.open);
});
setInterval(() => document.hidden || load(), LOOK_EVERY);

async function load() {
  const wanted = open;
  try {
    const { schedules } = await ask('GET', '/api/schedule');
    const known = schedules.some((it) => it.slug === wanted);
    const ledger = known ? await ask('GET', `${address(wanted)}/runs?limit=${RUNS}`) : { runs: [] };
    if (wanted !== open) return;
    [jobs, runs] = [schedules, ledger.runs];
    if (unread) complain(null);
    unread = false;
    show();
  } catch (problem) {
    unread = true;
    told.textContent = '';
    complain(`The schedules cannot be read. ${problem.message}`);
  }
}

/** Does something to a job, which may have to wait for a yes, and looks what came of it. */
async function change(job, words, method, path, body) {
  told.textContent = `${words} If you are asked for leave, answer it under Approvals.`;
  complain(null);
  try {
    await ask(method, address(job.slug) + path, body);
  } catch (problem) {
    complain(`${job.slug}: ${problem.message}`);
  }
  shown = '';
  await load();
}

async function ask(method, path, body) {
  const headers = body ? { 'Content-Type': 'application/json' } : {};
  const reply = await fetch(path, { method, headers, body: body && JSON.stringify(body) });
  const answer = await reply.json();
  if (!reply.ok) throw new Error(answer.error);
  return answer;
}

function address(slug) {
  return `/api/schedule/${encodeURIComponent(slug)}`;
}

function show() {
  // What has not changed is left alone, with the focus in it; times of day pass by the minute.
  const minute = Math.floor(Date.now() / 60_000);
  const now = JSON.stringify([jobs, runs, open, minute]);
  if (now === shown) return;
  shown = now;
  const focus = document.activeElement?.dataset?.key;
  list.replaceChildren(...jobs.map(card));
  if (focus) list.querySelector(`[data-key="${CSS.escape(focus)}"]`)?.focus();
  told.textContent = said();
  tellState();
}

function said() {
  if (jobs.length === 0) return 'There are no schedules yet. Make one under Schedules, or ask the agent.';
  const running = jobs.filter((it) => it.running).length;
  return `${jobs.length === 1 ? 'One job' : `${jobs.length} jobs`}${running ? `, ${running} running` : ''}`;
}

function card(job) {
  const { slug, enabled, running } = job;
  const isOpen = slug === open;
  const name = make('h2', { textContent: slug });
  const state = running ? 'running' : enabled ? 'on' : 'off';
  const mark = make('span', { className: `mark ${state}`, textContent: state });
  const facts = make('dl', {}, ...fact('When', timing(job.schedule)), ...fact('Next', next(job)), ...fact('Last', last(job)));
  const run = button('Run now', `${slug} run`, () => change(job, 'Starting…', 'POST', '/run'));
  run.disabled = running;
  const turn = button(enabled ? 'Turn off' : 'Turn on', `${slug} turn`, () =>
    change(job, enabled ? 'Turning it off…' : 'Turning it on…', 'PATCH', '', { enabled: !enabled }),
  );
  const history = button('History', `${slug} history`, () => appletAPI.navigateAppletUrlParam('job', isOpen ? '' : slug));
  history.setAttribute('aria-expanded', isOpen);
  for (const it of [run, turn, history]) it.setAttribute('aria-label', `${it.textContent}: ${slug}`);
  const head = make('div', { className: 'head' }, name, mark);
  const acts = make('div', { className: 'acts' }, run, turn, history);
  const prompt = make('p', { className: 'prompt', textContent: job.prompt });
  return make('li', {}, head, prompt, facts, acts, ...(isOpen ? [past()] : []));
}

function past() {
  if (runs.length === 0) return make('p', { className: 'quiet', textContent: 'It has not run yet.' });
  return make('ol', { ariaLabel: 'Runs', className: 'past' }, ...runs.map(line));
}

function line(run) {
  const outcome = run.outcome ? OUTCOMES[run.outcome] : 'is running';
  const began = make('span', { className: 'began', textContent: when(run.started ?? run.due) });
  const how = make('span', { className: `how ${run.outcome ?? 'running'}`, textContent: outcome });
  const more = [run.manual ? 'by hand' : '', took(run), run.error ?? run.reason ?? ''].filter(Boolean).join(' · ');
  return make('li', {}, began, how, make('span', { className: 'more', textContent: more }));
}

function fact(name, value) {
  return [make('dt', { textContent: name }), make('dd', {}, value)];
}

function timing({ type, expression, timezone, intervalMinutes }) {
  if (type === 'interval') return intervalMinutes === 1 ? 'every minute' : `every ${intervalMinutes} minutes`;
  return make('span', {}, make('code', { textContent: expression }), timezone ? ` in ${timezone}` : '');
}

function next({ enabled, nextRun }) {
  return enabled && nextRun ? `${when(nextRun)} (${distance(nextRun)})` : 'not planned';
}

function last({ lastRun, lastResult, lastError }) {
  if (!lastRun) return 'never';
  const how = make('span', { className: `how ${lastResult}`, textContent: OUTCOMES[lastResult] ?? 'ended' });
  return make('span', {}, how, ` ${distance(lastRun)}${lastError ? `: ${lastError}` : ''}`);
}

function when(time) {
  return new Date(time).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}

function distance(time) {
  const minutes = Math.round((new Date(time) - Date.now()) / 60_000);
  const words = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });
  if (Math.abs(minutes) < 60) return words.format(minutes, 'minute');
  if (Math.abs(minutes) < 48 * 60) return words.format(Math.round(minutes / 60), 'hour');
  return words.format(Math.round(minutes / 1440), 'day');
}

function took({ started, finished }) {
  if (!started || !finished) return '';
  const seconds = Math.round((new Date(finished) - new Date(started)) / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}

function complain(text) {
  error = text;
  trouble.hidden = !text;
  trouble.textContent = text ?? '';
  tellState();
}

function tellState() {
  const brief = ({ slug, enabled, running, nextRun, lastResult, lastError }) => ({ name: slug, enabled, running, nextRun, lastResult, lastError });
  setAppletState({ jobs: jobs.map(brief), open: open || null, error });
}

function button(text, key, act) {
  const made = make('button', { type: 'button', textContent: text });
  made.dataset.key = key;
  made.addEventListener('click', act);
  return made;
}

function make(name, properties, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}
