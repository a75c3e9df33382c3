// What must hold of the socket: it comes back for ever and asks for what it has not seen.
import { beforeEach, describe, expect, test } from 'vitest';
import { backoff, Connection, type Link } from './connection';
import { Place } from './place';
import { delta, message, said } from './transcript';
import type { EventFrame, GlobalEvent } from './wire';

class FakeSocket {
  readyState = 0;
  sent: Record<string, unknown>[] = [];
  closed = false;
  onopen: (() => void) | null = null;
  onmessage: ((message: { data: string }) => void) | null = null;
  onclose: (() => void) | null = null;

  accept() {
    this.readyState = 1;
    this.onopen?.();
  }
  receive(frame: object) {
    this.onmessage?.({ data: JSON.stringify(frame) });
  }
  drop() {
    this.readyState = 3;
    this.onclose?.();
  }
  send(text: string) {
    this.sent.push(JSON.parse(text) as Record<string, unknown>);
  }
  close() {
    this.closed = true;
  }
  subscriptions() {
    return this.sent.filter((frame) => frame.type === 'subscribe');
  }
}

let sockets: FakeSocket[];
let timers: { delay: number; run: () => void }[];
let links: Link[];
let events: EventFrame[];
let news: GlobalEvent[];
let connection: Connection;
const latest = () => sockets.at(-1)!;

/** Lets the one timer that is set run out. */
function wait(): number {
  const [timer] = timers.splice(0, 1);
  timer!.run();
  return timer!.delay;
}

beforeEach(() => {
  sockets = [];
  timers = [];
  links = [];
  events = [];
  news = [];
  connection = new Connection(
    {
      link: (link) => links.push(link),
      following: () => {},
      event: (frame) => events.push(frame),
      global: (event) => news.push(event),
    },
    {
      open: () => {
        const socket = new FakeSocket();
        sockets.push(socket);
        return socket as unknown as WebSocket;
      },
      later: (delay, run) => {
        const timer = { delay, run };
        timers.push(timer);
        return () => (timers = timers.filter((it) => it !== timer));
      },
      chance: () => 0,
    },
  );
});

describe('following a session', () => {
  test('a session chosen before the socket opens is subscribed to from the beginning', () => {
    connection.follow('S', new Place());
    connection.start();
    latest().accept();
    expect(latest().subscriptions()).toEqual([{ type: 'subscribe', sessionId: 'S', after: 0, deltas: 'native' }]);
  });

  test('after a break it resumes after the last stored event it saw', () => {
    connection.follow('S', new Place());
    connection.start();
    latest().accept();
    latest().receive(message(said('hi', {}, 'u1'), 7));
    latest().receive(message(delta('m1', 'Hel')));
    latest().drop();
    wait();
    latest().accept();
    expect(latest().subscriptions()).toEqual([{ type: 'subscribe', sessionId: 'S', after: 7, deltas: 'native' }]);
  });

  test('repeats are not passed on', () => {
    connection.follow('S', new Place());
    connection.start();
    latest().accept();
    const frame = message(said('hi', {}, 'u1'), 7);
    latest().receive(frame);
    latest().receive(frame);
    expect(events).toEqual([frame]);
  });

  test('a subscription that the server gave up is asked for again', () => {
    connection.follow('S', new Place());
    connection.start();
    latest().accept();
    latest().receive({ type: 'error', error: 'The session is closed' });
    timers.at(-1)!.run();
    expect(latest().subscriptions()).toHaveLength(2);
  });

  test('late frames of a session that was left are dropped, news of the hall is not', () => {
    connection.follow('S', new Place());
    connection.start();
    latest().accept();
    connection.follow('T', new Place());
    latest().receive(message(said('hi'), 1));
    latest().receive({ type: 'globalEvent', event: { type: 'session.busy', data: { sessionId: 'S', isBusy: true } } });
    expect(events).toEqual([]);
    expect(news).toHaveLength(1);
  });
});

describe('a link that fails', () => {
  test('is tried again for ever, more and more seldom', () => {
    connection.start();
    const delays = Array.from({ length: 12 }, () => {
      latest().drop();
      return wait();
    });
    expect(delays.slice(0, 4)).toEqual([250, 500, 1000, 2000]);
    expect(delays.at(-1)).toBe(15_000);
    expect(sockets).toHaveLength(13);
  });

  test('starts over with short pauses once the server has spoken', () => {
    connection.start();
    latest().drop();
    wait();
    latest().drop();
    wait();
    latest().accept();
    latest().receive({ type: 'pong' });
    latest().drop();
    expect(wait()).toBe(250);
  });

  test('is noticed when it only falls silent', () => {
    connection.start();
    latest().accept();
    latest().receive({ type: 'pong' });
    wait();
    expect(links).toEqual(['connecting', 'open']);
    wait();
    expect(links).toEqual(['connecting', 'open', 'waiting']);
    expect(latest().closed).toBe(true);
  });

  test('says how long it waits', () => {
    const waits: (number | undefined)[] = [];
    const world = {
      open: () => new FakeSocket() as unknown as WebSocket,
      later: (_: number, run: () => void) => ((timers = [{ delay: 0, run }]), () => {}),
      chance: () => 0,
    };
    const ignore = () => {};
    const link = (_: Link, wait?: number) => waits.push(wait);
    const other = new Connection({ link, following: ignore, event: ignore, global: ignore }, world);
    other.start();
    // Nothing came within the time it may take.
    wait();
    expect(waits).toEqual([undefined, 250]);
  });

  test('is tried at once when somebody asks', () => {
    connection.start();
    latest().drop();
    connection.wake();
    expect(sockets).toHaveLength(2);
    expect(timers).toHaveLength(1);
  });

  test('pauses are shortened by chance by up to half', () => {
    expect(backoff(2, 0)).toBe(1000);
    expect(backoff(2, 1)).toBe(500);
  });
});
