// Everything that can be done from the keyboard. One table: the palette, the shortcuts and the help are all made of it.
import { modes } from '../lib/approvals';
import { views } from '../lib/address';
import * as api from '../lib/api';
import type { Shape } from '../lib/Icon.svelte';
import { grouped, tilde, title } from '../lib/sessions';
import { words } from '../lib/words';
import type { Shell } from '../navigation/shell.svelte';
import { themes } from '../settings/theme.svelte';

export type Group = keyof typeof words.palette.groups;

export interface Command {
  id: string;
  name: string;
  /** What it is about, where the name does not say. */
  hint?: string;
  group: Group;
  shape: Shape;
  keys?: string;
  /** Whether it makes sense now; always, if absent. */
  when?: (shell: Shell) => boolean;
  run: (shell: Shell) => void;
}

const inSession = ({ hall }: Shell) => hall.session !== undefined;

const letters = {
  chat: 'c',
  approvals: 'a',
  schedules: 's',
  desktop: 'd',
  apps: 'p',
  devices: 'k',
  tools: 't',
  models: 'm',
  settings: ',',
};

const places: Command[] = views.map((view) => ({
  id: `go ${view}`,
  name: words.navigation.views[view].name,
  group: 'go',
  shape: 'right',
  keys: `g ${letters[view]}`,
  run: (shell) => shell.visit(view),
}));

/** Those that have a name of their own; what there is of sessions and models comes on top. */
export const commands: Command[] = [
  { id: 'palette', name: words.palette.open, group: 'page', shape: 'keys', keys: 'mod+k', run: togglePalette },
  {
    id: 'help',
    name: words.palette.help,
    group: 'page',
    shape: 'page',
    keys: '?',
    run: (it) => it.ask({ what: 'help' }),
  },
  { id: 'begin', name: words.palette.begin, group: 'page', shape: 'plus', keys: 'n', run: begin },
  {
    id: 'begin in',
    name: words.palette.beginIn,
    group: 'page',
    shape: 'folder',
    keys: 'N',
    run: (it) => it.ask({ what: 'begin', folder: '' }),
  },
  { id: 'search', name: words.palette.search, group: 'page', shape: 'search', keys: '/', run: search },
  { id: 'write', name: words.palette.write, group: 'page', shape: 'pen', keys: 'i', run: write },
  { id: 'next', name: words.palette.next, group: 'go', shape: 'down', keys: 'j', run: (it) => neighbour(it, 1) },
  {
    id: 'previous',
    name: words.palette.previous,
    group: 'go',
    shape: 'send',
    keys: 'k',
    run: (it) => neighbour(it, -1),
  },
  ...places,
  {
    id: 'find',
    name: words.palette.find,
    group: 'session',
    shape: 'search',
    keys: 'f',
    when: inSession,
    run: (it) => it.ask({ what: 'find', sessionId: it.hall.current }),
  },
  {
    id: 'news',
    name: words.palette.news,
    group: 'go',
    shape: 'bell',
    keys: 'g n',
    run: (it) => it.ask({ what: 'news' }),
  },
  {
    id: 'stop',
    name: words.palette.stop,
    group: 'session',
    shape: 'stop',
    keys: '.',
    when: ({ hall }) => hall.busy,
    run: ({ hall }) => void hall.wishes.stop(),
  },
  {
    id: 'copy',
    name: words.palette.copy,
    group: 'session',
    shape: 'copy',
    keys: 'y',
    when: hasAnswer,
    run: (it) => void copy(it),
  },
  {
    id: 'rename',
    name: words.palette.rename,
    group: 'session',
    shape: 'pen',
    keys: 'r',
    when: inSession,
    run: (it) => it.ask({ what: 'rename', sessionId: it.hall.current }),
  },
  {
    id: 'mode',
    name: words.palette.changeMode,
    group: 'session',
    shape: 'shield',
    keys: 'm',
    when: inSession,
    run: (it) => it.ask({ what: 'mode', sessionId: it.hall.current }),
  },
  {
    id: 'told',
    name: words.palette.told,
    group: 'session',
    shape: 'page',
    keys: 't',
    when: inSession,
    run: (it) => it.ask({ what: 'told', sessionId: it.hall.current }),
  },
  {
    id: 'sum up',
    name: words.palette.sumUp,
    group: 'session',
    shape: 'fold',
    keys: 'u',
    when: (it) => inSession(it) && !it.hall.busy,
    run: ({ hall }) => void hall.wishes.sumUp(hall.current),
  },
  {
    id: 'delete',
    name: words.palette.remove,
    group: 'session',
    shape: 'bin',
    keys: '#',
    when: inSession,
    run: (it) => it.remove(it.hall.current),
  },
  {
    id: 'theme',
    name: words.palette.turn,
    group: 'look',
    shape: 'sun',
    keys: 'l',
    run: ({ theme }) => void theme.turn(),
  },
  { id: 'reference', name: words.palette.reference, group: 'page', shape: 'out', run: () => location.assign('/docs') },
  { id: 'sign out', name: words.palette.signOut, group: 'page', shape: 'leave', run: (it) => void signOut(it) },
];

/** All that can be done now. */
export function offered(shell: Shell): Command[] {
  const { hall } = shell;
  const usable = commands.filter((it) => it.id !== 'palette' && (it.when?.(shell) ?? true));
  const looks = themes.map<Command>((theme) => ({
    id: `theme ${theme}`,
    name: words.palette.theme(words.settings.themes[theme]),
    group: 'look',
    shape: theme === 'dark' ? 'moon' : 'sun',
    run: () => shell.theme.choose(theme),
  }));
  return [...usable, ...looks, ...(hall.session ? inThis(shell) : []), ...sessions(shell)];
}

function inThis({ hall }: Shell): Command[] {
  const id = hall.current;
  const permits = modes
    // To let it do everything takes a second word, so it goes by the dialog.
    .filter(({ mode }) => mode !== 'full' && mode !== hall.session?.mode)
    .map<Command>(({ mode, name, meaning }) => ({
      id: `mode ${mode}`,
      name: words.palette.mode(name),
      hint: meaning,
      group: 'session',
      shape: 'shield',
      run: () => void hall.wishes.permit(id, mode),
    }));
  const models = hall.roster.models
    .filter((it) => it.id !== hall.session?.model)
    .map<Command>((model) => ({
      id: `model ${model.id}`,
      name: words.palette.useModel(model.name),
      hint: model.id,
      group: 'models',
      shape: 'spark',
      run: () => void hall.wishes.choose(id, model.id),
    }));
  const { frames } = hall;
  const inspects = [...frames.beside, ...frames.inline]
    .filter((it) => frames.isApp(it))
    .map<Command>((pane) => ({
      id: `inspect ${pane.id}`,
      name: words.inspector.inspect(frames.title(pane)),
      hint: pane.id,
      group: 'session',
      shape: 'eye',
      // Once the palette has given the focus back.
      run: () => setTimeout(() => frames.inspect(pane.id)),
    }));
  return [...permits, ...inspects, ...models];
}

function sessions(shell: Shell): Command[] {
  return ordered(shell).map((session) => ({
    id: `session ${session.sessionId}`,
    name: title(session),
    hint: tilde(session.cwd ?? ''),
    group: 'sessions',
    shape: 'chat',
    run: () => shell.open(session.sessionId),
  }));
}

/** As the list at the side has them. */
function ordered({ sessions }: Shell) {
  return grouped(sessions).flatMap((it) => it.sessions);
}

function neighbour(shell: Shell, by: number) {
  const all = ordered(shell);
  const at = all.findIndex((it) => it.sessionId === shell.hall.current);
  const next = at < 0 ? all[0] : all[at + by];
  if (next) shell.open(next.sessionId);
}

function togglePalette(shell: Shell) {
  shell.ask(shell.asking?.what === 'palette' ? undefined : { what: 'palette' });
}

function begin(shell: Shell) {
  shell.open('');
  write(shell);
}

function write(shell: Shell) {
  shell.visit('chat');
  setTimeout(() => document.querySelector<HTMLElement>('main form textarea')?.focus());
}

function search(shell: Shell) {
  shell.drawer = matchMedia('(max-width: 50rem)').matches;
  setTimeout(() => document.getElementById('session-search')?.focus());
}

function hasAnswer({ hall }: Shell): boolean {
  return hall.conversation.items.some((it) => it.kind === 'answer');
}

async function copy(shell: Shell) {
  const answer = shell.hall.conversation.items.findLast((it) => it.kind === 'answer');
  if (!answer) return;
  try {
    await navigator.clipboard.writeText(answer.text);
    shell.say(words.palette.copied);
  } catch {
    // Absent on plain-HTTP pages of a home network, and forbidden in some browsers.
    shell.say(words.palette.noCopy);
  }
}

async function signOut(shell: Shell) {
  try {
    await api.signOut();
    location.assign('/login');
  } catch (error) {
    shell.say(shell.hall.explain(error));
  }
}
