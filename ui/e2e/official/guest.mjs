// A guest made with the official library, which calls every method there is and writes down all that goes over the wire.
import { App, PostMessageTransport } from 'ext-apps';

const scope = /** @type {any} */ (window);
/** @type {object[]} */
const wire = (scope.wire = []);

const transport = new PostMessageTransport(parent, parent);
const send = transport.send.bind(transport);
transport.send = (message, options) => {
  wire.push({ out: message });
  return send(message, options);
};
let hear;
Object.defineProperty(transport, 'onmessage', {
  get: () => hear,
  set: (listener) => {
    hear = (message, extra) => {
      wire.push({ in: message });
      listener(message, extra);
    };
  },
});

const modes = ['inline', 'fullscreen'];
const app = new App(
  { name: 'guest', version: '1.0.0' },
  { tools: { listChanged: true }, availableDisplayModes: modes },
  { autoResize: false },
);
const told = new Promise((resolve) => (app.ontoolresult = resolve));
const tool = { name: 'get_state', description: 'Read it', inputSchema: { type: 'object' } };
const listed = new Promise((resolve) => {
  app.onlisttools = async () => {
    resolve(undefined);
    return { tools: [tool] };
  };
});
app.oncalltool = async () => ({ content: [{ type: 'text', text: 'n=1' }] });
app.onteardown = async () => ({});

const text = (words) => [{ type: 'text', text: words }];
const file = { uri: 'file:///a.csv', mimeType: 'text/csv', text: 'a,b' };
const steps = [
  () => app.callServerTool({ name: 'echo', arguments: { a: 1 } }),
  () => app.updateModelContext({ content: text('seen'), structuredContent: { a: 1 } }),
  () => app.updateModelContext({}),
  () => app.openLink({ url: 'javascript:alert(1)' }),
  () => app.openLink({ url: 'http://127.0.0.1:1/' }),
  () => app.downloadFile({ contents: [{ type: 'resource', resource: file }] }),
  () => app.requestDisplayMode({ mode: 'pip' }),
  () => app.requestDisplayMode({ mode: 'fullscreen' }),
  () => app.requestDisplayMode({ mode: 'inline' }),
  () => app.sendLog({ level: 'info', logger: 'guest', data: { x: 1 } }),
  () => app.listServerResources(),
  () => app.readServerResource({ uri: 'ui://official/guest' }),
  () => app.sendSizeChanged({ width: 300, height: 200 }),
  () => app.sendMessage({ role: 'user', content: text('hello from the guest') }),
  () => app.sendToolListChanged(),
];

/** How long calls of a tool take, one after the other, in milliseconds. */
scope.measure = async (count) => {
  const times = [];
  for (let done = 0; done < count; done += 1) {
    const begun = performance.now();
    await app.callServerTool({ name: 'echo', arguments: { done } });
    times.push(performance.now() - begun);
  }
  return times;
};

await app.connect(transport);
await told;
await listed;
if (!document.title.startsWith('quiet')) for (const step of steps) await step().catch((error) => wire.push({ failed: String(error) }));
document.body.append('finished');
