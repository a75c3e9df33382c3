// Schedules as the page knows them: listed, and asked to run, rest and go.
import { Refused } from '../lib/api';
import { words } from '../lib/words';
import * as requests from './requests';
import type { Schedule } from './wire';

export class Schedules {
  list = $state.raw<Schedule[]>([]);
  listed = $state(false);
  trouble = $state('');

  async refresh() {
    await this.attempt(async () => {
      this.list = (await requests.list()).schedules;
      this.listed = true;
    });
  }

  run(slug: string) {
    return this.wish(() => requests.run(slug));
  }

  enable(slug: string, enabled: boolean) {
    return this.wish(() => requests.enable(slug, enabled));
  }

  remove(slug: string) {
    return this.wish(() => requests.remove(slug));
  }

  private async wish(request: () => Promise<unknown>) {
    if (await this.attempt(request)) await this.refresh();
  }

  private async attempt(request: () => Promise<unknown>): Promise<boolean> {
    try {
      await request();
      this.trouble = '';
      return true;
    } catch (error) {
      this.trouble = explained(error);
      return false;
    }
  }
}

export function explained(error: unknown): string {
  return error instanceof Refused ? error.message : words.errors.away;
}
