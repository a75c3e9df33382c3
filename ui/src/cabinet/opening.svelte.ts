// A file on its way into an app: sent, and where several apps could open it, with a question first.
import { ask, asData } from '../lib/api';
import { explain } from '../lib/explain';
import { words } from '../lib/words';

export interface Possible {
  id: string;
  name: string;
}

interface Opened {
  appId?: string;
  choices?: Possible[];
}

/** As much as an app is handed. */
const LARGEST = 32 * 1024 * 1024;

export class FileOpening {
  /** What waits for the person to say which app. */
  choosing = $state.raw<{ file: File; choices: Possible[] }>();

  constructor(
    private session: () => string,
    private say: (text: string) => void,
  ) {}

  /** Opens each in the app for such files, or asks. */
  async open(files: File[]) {
    for (const file of files) await this.hand(file, { ask: true });
  }

  async choose(appId: string, remember: boolean) {
    const waiting = this.choosing;
    this.choosing = undefined;
    if (waiting) await this.hand(waiting.file, { appId, remember });
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
      if (choices?.length) this.choosing = { file, choices };
    } catch (error) {
      this.say(text.failed(file.name, explain(error)));
    }
  }
}
