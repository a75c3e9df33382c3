// Desktops as the page knows them: which there are, who may drive them, and what was done there.
import { explain } from '../lib/explain';
import * as requests from './requests';
import type { Action, Device, Rect, Trajectory } from './wire';

/** How much of what was done is kept at hand. */
const MOST = 500;

/** Something the page hears of a desktop. */
export type DesktopEvent =
  | { type: 'desktop.changed'; data: { device?: string } }
  | { type: 'desktop.acted'; data: { action: Action } }
  | { type: 'desktop.replayed'; data: { device: string; done: number; of: number } };

export class Desktops {
  devices = $state.raw<Device[]>([]);
  platform = $state('');
  known = $state(false);
  /** By how much the server's clock is ahead of ours, in milliseconds. */
  private ahead = 0;
  /** What was done since the page is open, newest first. */
  heard = $state.raw<Action[]>([]);
  /** Counts the times that what was done must be read anew. */
  epoch = $state(0);
  progress = $state.raw<{ device: string; done: number; of: number }>();
  trajectories = $state.raw<Trajectory[]>([]);
  trouble = $state('');
  /** What the clock of the server says, by the second while anything is armed. */
  now = $state(Date.now());
  private asking: Promise<void> | undefined;
  private again = false;
  private ticking: ReturnType<typeof setInterval> | undefined;

  /** Those that somebody may drive now. */
  armed = $derived(
    this.devices.filter((device) => device.armings.some((it) => it.until > this.now) && device.paused === null),
  );

  /** Until when a device may be driven. */
  until(device: Device): number {
    return Math.max(0, ...device.armings.map((it) => it.until).filter((it) => it > this.now));
  }

  /** The parts of its screen that may be touched; none where all of it may. */
  parts(device: Device): Rect[] {
    const regions = device.armings.filter((it) => it.until > this.now).map((it) => it.region);
    return regions.every((it) => it !== undefined) ? regions : [];
  }

  event(event: DesktopEvent) {
    if (event.type === 'desktop.changed') void this.refresh();
    if (event.type === 'desktop.acted') this.heard = [event.data.action, ...this.heard].slice(0, MOST);
    if (event.type === 'desktop.replayed') this.progress = event.data;
  }

  /** The connection is there anew, or was lost: what was heard may have holes, and the server may be another. */
  relinked() {
    this.heard = [];
    this.epoch += 1;
    void this.refresh();
  }

  /** However often it is asked for while an answer is on its way, once more is enough. */
  refresh(): Promise<void> {
    if (this.asking) {
      this.again = true;
      return this.asking;
    }
    this.asking = this.look().finally(() => {
      this.asking = undefined;
      if (!this.again) return;
      this.again = false;
      void this.refresh();
    });
    return this.asking;
  }

  async list() {
    await this.wish(async () => (this.trajectories = (await requests.trajectories()).trajectories));
  }

  /** Does what the person wants, and says why not if it cannot be done. */
  async wish(request: () => Promise<unknown>): Promise<boolean> {
    try {
      await request();
      this.trouble = '';
      return true;
    } catch (error) {
      this.trouble = explain(error);
      return false;
    }
  }

  private async look() {
    try {
      const { devices, now, platform } = await requests.state();
      this.ahead = now - Date.now();
      this.devices = devices;
      this.platform = platform;
      this.known = true;
      this.tick();
    } catch {
      // Whoever shows the connection says that it is lost; it is looked again when it is back.
    }
  }

  private tick() {
    this.now = Date.now() + this.ahead;
    const ends = this.devices.some((device) => device.armings.length > 0);
    if (!ends) {
      clearInterval(this.ticking);
      this.ticking = undefined;
    } else this.ticking ??= setInterval(() => (this.now = Date.now() + this.ahead), 1000);
  }
}
