// A page with an app in a window, as far as the server can tell: it speaks the App Protocol, and shows nothing.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** @typedef {{ kind: 'manifest' | 'query' | 'command', stateKey?: string, command?: string, params?: any }} Asked */

export class Page {
  /**
   * @param {WebSocket} socket
   * @param {string} windowId
   * @param {(asked: Asked) => object} answer
   */
  constructor(socket, windowId, answer) {
    this.socket = socket;
    this.windowId = windowId;
    socket.onmessage = ({ data }) => {
      const frame = JSON.parse(data);
      if (frame.type === 'APP_PROTOCOL_REQUEST') {
        const { requestId, windowId, request } = frame;
        const response = { kind: request.kind, ...answer(request) };
        this.say({ type: 'APP_PROTOCOL_RESPONSE', requestId, windowId, response });
      }
    };
  }

  /**
   * Opens a window in a session, with an app that is ready at once.
   * @param {import('../server.mjs').Server} server
   * @param {string} sessionId
   * @param {string} windowId
   * @param {(asked: Asked) => object} answer
   */
  static async show(server, sessionId, windowId, answer) {
    const key = (await readFile(join(server.home, 'data', 'key'), 'utf8')).trim();
    const address = `${server.url.replace('http', 'ws')}/apps/ws?sessionId=${sessionId}&token=${key}`;
    const socket = new WebSocket(address);
    await new Promise((open, failed) => Object.assign(socket, { onopen: open, onerror: failed }));
    const page = new Page(socket, windowId, answer);
    const content = { renderer: 'iframe', data: '/api/apps/counter/index.html' };
    const bounds = { x: 0, y: 0, w: 300, h: 200 };
    page.touch({ type: 'window.create', bounds, content });
    page.say({ type: 'APP_PROTOCOL_READY', windowId, instance: windowId });
    return page;
  }

  /** @param {string[]} stateKeys */
  changed(...stateKeys) {
    this.say({ type: 'APP_PROTOCOL_STATE_CHANGED', windowId: this.windowId, stateKeys });
  }

  close() {
    this.touch({ type: 'window.close' });
  }

  leave() {
    this.socket.close();
  }

  /** @param {object} what */
  touch(what) {
    this.say({ type: 'USER_INTERACTION', interactions: [{ windowId: this.windowId, timestamp: 0, ...what }] });
  }

  /** @param {object} frame */
  say(frame) {
    this.socket.send(JSON.stringify(frame));
  }
}
