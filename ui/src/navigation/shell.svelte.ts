// What stands around the conversation: the drawer, the dialog that is open, passing messages, the look.
import type { View } from '../lib/address';
import type { Hall } from '../lib/hall.svelte';
import { words } from '../lib/words';
import { Theme } from '../settings/theme.svelte';
import { Farewells } from './farewells.svelte';
import { News } from './news.svelte';
import { Toasts } from './toasts.svelte';

/** What the person is asked or shown before anything else. */
export type Asking =
  | { what: 'rename' | 'mode' | 'told' | 'find'; sessionId: string }
  | { what: 'begin'; folder: string }
  | { what: 'palette' | 'news' }
  | { what: 'help' };

const ONE_KEY = 'megaron.one-key';

export class Shell {
  drawer = $state(false);
  asking = $state.raw<Asking>();
  oneKey = $state(localStorage.getItem(ONE_KEY) !== 'no');
  toasts = new Toasts();
  theme = new Theme();
  farewells: Farewells;
  news: News;
  /** Sessions as they are shown: without those that are on their way out. */
  sessions = $derived.by(() => this.hall.roster.sessions.filter((it) => !this.farewells.going.has(it.sessionId)));
  /** What is typed into the search above the list. */
  sought = $state('');

  constructor(readonly hall: Hall) {
    this.farewells = new Farewells(hall, this.toasts);
    this.news = new News(hall);
  }

  start() {
    this.theme.start();
    this.farewells.start();
  }

  ask(asking: Asking | undefined) {
    this.asking = asking;
  }

  open(id: string) {
    this.drawer = false;
    this.hall.open(id);
  }

  visit(view: View) {
    this.drawer = false;
    this.hall.visit(view);
  }

  remove(id: string) {
    const session = this.hall.roster.find(id);
    if (session) this.farewells.begin(session);
  }

  useOneKey(on: boolean) {
    localStorage.setItem(ONE_KEY, on ? 'yes' : 'no');
    this.oneKey = on;
  }

  /** A newer page is there; it is for the person to say when, as something may be half written. */
  outdated() {
    const reload = { name: words.navigation.reload, run: () => location.reload() };
    this.toasts.show({ id: 'outdated', text: words.navigation.renewed, action: reload }, 0);
  }

  say(text: string) {
    this.toasts.show({ id: text, text });
  }
}
