// Files on their way into apps or into a message: sent, and where more than one thing could be done, with a question first.
import { ask, asData } from '../lib/api';
import { explain } from '../lib/explain';
import { TYPES } from '../lib/pictures';
import { words } from '../lib/words';

export interface Possible {
  id: string;
  name: string;
}

interface Opened {
  appId?: string;
  choices?: Possible[];
}

/** What waits for the person to say what becomes of it. */
export interface Choosing {
  files: File[];
  /** Apps that could open it; of several files, each is opened in the app for it. */
  choices: Possible[];
  /** Puts them into the message instead, where that makes sense. */
  attach?: ((files: File[]) => void) | undefined;
  /** What came along, and is for the message in any case. */
  along?: File[];
}

/** As much as an app is handed. */
const LARGEST = 32 * 1024 * 1024;

export class FileOpening {
  private waiting = $state.raw<Choosing[]>([]);
  /** One thing is asked at a time. */
  choosing = $derived(this.waiting[0]);

  constructor(
    private session: () => string,
    private say: (text: string) => void,
  ) {}

  /** Opens each in the app for such files, or asks. */
  async open(files: File[]) {
    for (const file of files) await this.hand(file, { ask: true });
  }

  /** Somebody dropped these where a message is written. What no app opens is for the message to take or to refuse. */
  async dropped(files: File[], attach: (files: File[]) => void) {
    const openers = await Promise.all(files.map((file) => this.openers(file)));
    const opened = files.filter((_, at) => openers[at]!.length > 0);
    const either = opened.filter((file) => TYPES.includes(file.type));
    const others = files.filter((file) => !opened.includes(file));
    if (either.length > 0) {
      const choices = either.length === 1 ? openers[files.indexOf(either[0]!)]! : [];
      this.waiting = [...this.waiting, { files: either, choices, attach, along: others }];
    } else if (others.length > 0) attach(others);
    await this.open(opened.filter((file) => !either.includes(file)));
  }

  /** @param appId the app; empty for the one that opens such files */
  async choose(appId: string, remember: boolean) {
    const [chosen] = this.waiting;
    this.leave();
    if (chosen?.along?.length) chosen.attach?.(chosen.along);
    const how = appId ? { appId, remember } : { ask: true };
    for (const file of chosen?.files ?? []) await this.hand(file, how);
  }

  attach() {
    const [chosen] = this.waiting;
    this.leave();
    chosen?.attach?.([...chosen.files, ...(chosen.along ?? [])]);
  }

  leave() {
    this.waiting = this.waiting.slice(1);
  }

  /** Without an answer nothing can be opened either. */
  private async openers({ name }: File): Promise<Possible[]> {
    if (!this.session()) return [];
    const path = encodeURIComponent(name);
    return ask<{ apps: Possible[] }>('GET', `/api/apps/openers?path=${path}`).then(({ apps }) => apps, () => []);
  }

  private async hand(file: File, how: object) {
    const text = words.apps.files;
    if (!this.session()) return this.say(text.nowhere);
    if (file.size > LARGEST) return this.say(text.large(file.name));
    try {
      const data = await asData(file);
      const base64 = data.slice(data.indexOf(',') + 1);
      const wish = { session: this.session(), file: { name: file.name, base64 }, ...how };
      const { choices } = await ask<Opened>('POST', '/api/apps/open', wish);
      if (choices?.length) this.waiting = [...this.waiting, { files: [file], choices }];
    } catch (error) {
      this.say(text.failed(file.name, explain(error)));
    }
  }
}
