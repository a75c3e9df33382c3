// The official library as a host that asks a server over HTTP, from the page itself.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { AppBridge, PostMessageTransport } from 'ext-apps/bridge';

/** @type {any} */ (window).host = async (html, address) => {
  const client = new Client({ name: 'reference', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(address)));
  const frame = document.createElement('iframe');
  frame.setAttribute('sandbox', 'allow-scripts');
  document.body.append(frame);
  const bridge = new AppBridge(client, { name: 'reference', version: '1' }, { serverTools: {} });
  bridge.oninitialized = async () => {
    bridge.sendToolInput({ arguments: {} });
    bridge.sendToolResult({ content: [] });
    await bridge.listTools({});
  };
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  frame.srcdoc = html;
};
