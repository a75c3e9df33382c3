// News on the desktop while the page is hidden, for whoever has asked for it.
import type { Approval } from './wire';
import { words } from './words';

const KEY = 'megaron.notify';

export type Standing = 'on' | 'off' | 'blocked' | 'missing';

export class Notifier {
  standing = $state<Standing>(look());

  constructor(private onopen: (sessionId: string) => void) {}

  /** Asks the browser for leave, which it gives only after a click. */
  async turn(on: boolean) {
    if (on && this.standing === 'off' && Notification.permission !== 'granted') await Notification.requestPermission();
    localStorage.setItem(KEY, on ? 'yes' : 'no');
    this.standing = look();
  }

  tell(approval: Approval) {
    if (!document.hidden || this.standing !== 'on') return;
    const { approval: leave, question } = words.approvals.notification;
    const heading = approval.kind === 'approval' ? leave : question;
    // Several hidden tabs tell of it once: the tag is the same.
    const notification = new Notification(heading, { body: approval.title, tag: approval.id });
    notification.onclick = () => {
      window.focus();
      this.onopen(approval.sessionId);
      notification.close();
    };
  }
}

function look(): Standing {
  if (!('Notification' in globalThis)) return 'missing';
  if (Notification.permission === 'denied') return 'blocked';
  return Notification.permission === 'granted' && localStorage.getItem(KEY) === 'yes' ? 'on' : 'off';
}
