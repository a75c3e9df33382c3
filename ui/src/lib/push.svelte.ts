// Whether this browser is told of what happens while the page is closed, and how that is turned on and off.
import * as api from './api';
import { words } from './words';

/** The name by which the server knows this browser. */
const KEY = 'megaron.push';

export type Standing = keyof typeof words.push.standings;

export class Push {
  standing = $state<Standing>('off');
  /** Which of the listed browsers this one is. */
  id = $state(localStorage.getItem(KEY) ?? '');

  /** What the browser itself knows, which it may have changed without asking. */
  async look() {
    const subscription = await current();
    if (!isPossible()) this.standing = 'missing';
    else if (Notification.permission === 'denied') this.standing = 'blocked';
    else this.standing = subscription && this.id ? 'on' : 'off';
    if (this.standing !== 'on') this.keep('');
  }

  /** The browser asks for leave, which it does only after a click. */
  async turn(on: boolean) {
    if (on) await this.begin();
    else await this.end();
    await this.look();
  }

  /** It was removed elsewhere. */
  async end() {
    const subscription = await current();
    if (this.id) await api.unsubscribe(this.id).catch(ignoreMissing);
    await subscription?.unsubscribe();
    this.keep('');
  }

  private async begin() {
    if ((await Notification.requestPermission()) !== 'granted') return;
    const { publicKey } = await api.push();
    const registration = await navigator.serviceWorker.ready;
    // One that was made for another server cannot be used.
    await (await registration.pushManager.getSubscription())?.unsubscribe();
    const subscription = await registration.pushManager.subscribe({
      userVisibleOnly: true,
      applicationServerKey: publicKey,
    });
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
    const known = await api.subscribe({ ...subscription.toJSON(), name: deviceName(navigator.userAgent), timeZone });
    this.keep(known.id);
  }

  private keep(id: string) {
    this.id = id;
    if (id) localStorage.setItem(KEY, id);
    else localStorage.removeItem(KEY);
  }
}

/** Whether the worker tells of what happens here. */
export function isTold(): boolean {
  return localStorage.getItem(KEY) !== null;
}

/** A notification was clicked on, and this page is to show what it was about. */
export function onNotice(open: (sessionId: string) => void) {
  if (!('serviceWorker' in navigator)) return;
  navigator.serviceWorker.addEventListener('message', ({ data }) => {
    if (data?.type === 'megaron.notice' && typeof data.sessionId === 'string') open(data.sessionId);
  });
}

export function deviceName(agent: string): string {
  const names = words.push.devices;
  if (/iPhone|iPad/.test(agent)) return names.iphone;
  if (/Android/.test(agent)) return names.android;
  if (/Macintosh/.test(agent)) return names.mac;
  if (/Windows/.test(agent)) return names.windows;
  return /Linux/.test(agent) ? names.linux : names.other;
}

function isPossible(): boolean {
  return 'serviceWorker' in navigator && 'PushManager' in globalThis && 'Notification' in globalThis;
}

async function current(): Promise<PushSubscription | null> {
  if (!isPossible()) return null;
  const registration = await navigator.serviceWorker.getRegistration();
  return (await registration?.pushManager.getSubscription()) ?? null;
}

function ignoreMissing(error: unknown) {
  if (!(error instanceof api.Refused && error.status === 404)) throw error;
}
