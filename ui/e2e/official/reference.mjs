// The official library as the host, in a page of nobody: what it says is what others are measured by.
import { AppBridge, PostMessageTransport } from 'ext-apps/bridge';

const capabilities = {
  openLinks: {},
  downloadFile: {},
  serverTools: { listChanged: true },
  serverResources: {},
  logging: {},
  updateModelContext: { text: {}, structuredContent: {} },
  message: { text: {}, image: {} },
};
const echoed = { content: [{ type: 'text', text: 'echo {"a":1}' }] };

/** @type {any} */ (window).host = async (html, page) => {
  const frame = document.createElement('iframe');
  frame.setAttribute('sandbox', 'allow-scripts');
  document.body.append(frame);
  let mode = 'inline';
  const bridge = new AppBridge(null, { name: 'reference', version: '1' }, capabilities, {
    hostContext: { displayMode: mode, availableDisplayModes: ['inline', 'fullscreen', 'pip'] },
  });
  bridge.oncalltool = async () => echoed;
  bridge.onopenlink = async ({ url }) => (/^https?:/.test(url) ? {} : { isError: true });
  bridge.ondownloadfile = async () => ({});
  bridge.onmessage = async () => ({});
  bridge.onupdatemodelcontext = async () => ({});
  bridge.onlistresources = async () => ({ resources: [] });
  bridge.onreadresource = async () => page;
  bridge.onrequestdisplaymode = async (wish) => {
    if (['inline', 'fullscreen'].includes(wish.mode) && wish.mode !== mode) {
      mode = wish.mode;
      await bridge.sendHostContextChange({ displayMode: mode });
    }
    return { mode };
  };
  bridge.oninitialized = async () => {
    bridge.sendToolInput({ arguments: {} });
    bridge.sendToolResult(echoed);
    await bridge.listTools({});
  };
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  frame.srcdoc = html;
};
