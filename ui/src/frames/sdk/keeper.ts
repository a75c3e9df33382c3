// Keeps an app from one document of its window to the next: one file in its storage, written after every change.
import type { Restore } from '../../../packages/app-sdk';
import type { Keeper } from './app';
import type { StorageLine } from './storage';

interface Kept {
  /** Counts what was written, so that two tabs know who is behind. */
  version: number;
  instance: string;
  state: unknown;
}

/** What is done by hand comes in bursts. */
const PAUSE = 400;
/** So much a browser still carries when its document has gone. */
const LAST_WORDS = 60_000;

export class FileKeeper implements Keeper {
  private restore: Restore | undefined;
  private version = 0;
  private works = false;
  /** Whether something changed before it was known what is kept. */
  private early = false;
  private dirty = false;
  private waiting = false;
  private writing: Promise<void> | undefined;
  /** Whether the app was last told that it is not kept. */
  private isFailing = false;
  /** The state as it lies there. */
  private written = '';

  constructor(
    private storage: StorageLine,
    private path: string,
    private instance: string,
    private later: (act: () => void, delay: number) => void,
  ) {}

  async open(restore: Restore): Promise<boolean> {
    this.restore = restore;
    try {
      await this.read(restore);
      this.works = true;
      if (this.early) this.soon();
    } catch (error) {
      this.failed(error);
    }
    return this.works;
  }

  soon() {
    this.early ||= !this.works;
    if (!this.works) return;
    this.dirty = true;
    if (this.waiting) return;
    this.waiting = true;
    this.later(() => {
      this.waiting = false;
      if (this.dirty) void this.now();
    }, PAUSE);
  }

  async now(): Promise<void> {
    this.early ||= !this.works;
    if (!this.works) return;
    this.dirty = true;
    // What is being written may be older than what changed last.
    while (this.dirty) {
      await this.writing;
      if (!this.dirty) break;
      this.dirty = false;
      this.writing = this.write(false);
    }
    await this.writing;
  }

  /** The document is about to go. */
  leaving() {
    if (this.works && (this.dirty || this.writing)) void this.write(true);
  }

  /** The window is looked at again: another tab may have gone on meanwhile. */
  async again(): Promise<void> {
    if (!this.works || !this.restore || this.dirty || this.writing) return;
    await this.read(this.restore).catch(() => {
      // Whoever writes next will hear of it.
    });
  }

  private async read(restore: Restore) {
    // Asking for a file that is not there would be complained of by the browser, in the console of every new window.
    const [folder, name] = parted(this.path);
    const there = await this.storage.list(folder);
    if (!there.some((it) => it.path.endsWith(`/${name}`))) return;
    const kept = (await this.storage.read(this.path, { as: 'json' })) as Kept;
    if (this.dirty || kept.instance === this.instance || kept.version < this.version) return;
    this.version = kept.version;
    this.written = JSON.stringify(kept.state);
    await restore.load(kept.state);
  }

  private async write(leaving: boolean) {
    try {
      const state = JSON.stringify(this.restore?.save() ?? null);
      if (state === this.written) return;
      this.version += 1;
      const head = JSON.stringify({ version: this.version, instance: this.instance });
      const text = `${head.slice(0, -1)},"state":${state}}`;
      await this.storage.save(this.path, text, leaving && text.length < LAST_WORDS);
      this.written = state;
      if (this.isFailing) this.restore?.failed?.(undefined);
      this.isFailing = false;
    } catch (error) {
      this.failed(error);
    } finally {
      this.writing = undefined;
    }
  }

  private failed(error: unknown) {
    this.isFailing = true;
    this.restore?.failed?.(String(error));
  }
}

function parted(path: string): [folder: string, name: string] {
  const at = path.lastIndexOf('/');
  return [path.slice(0, at), path.slice(at + 1)];
}
