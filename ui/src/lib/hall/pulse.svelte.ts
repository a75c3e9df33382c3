// How the connection to the server stands, and what that keeps the person from.
import type { Link } from '../connection';
import { words } from '../words';

export class Pulse {
  link = $state<Link>('connecting');
  /** When the link is tried again, while it is down. */
  retryAt = $state(0);
  /** The browser says that there is no network; a server on this machine does not mind. */
  offline = $state(!navigator.onLine);
  signedOut = $state(false);

  /** Why nothing can be sent now, if nothing can. */
  hindrance = $derived.by(() => {
    if (this.signedOut) return words.connection.isSignedOut;
    if (this.link !== 'waiting') return '';
    return this.offline ? words.connection.isOffline : words.connection.isAway;
  });

  /** @param turned called when the browser has found or lost its network */
  start(turned: () => void) {
    const look = () => {
      this.offline = !navigator.onLine;
      turned();
    };
    addEventListener('online', look);
    addEventListener('offline', look);
  }

  linked(link: Link, wait: number) {
    this.link = link;
    this.retryAt = Date.now() + wait;
    if (link === 'open') this.signedOut = false;
  }
}
