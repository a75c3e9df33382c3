// The bridge that widgets are lent: whom it heeds, and what it answers.
import { expect, test, vi } from 'vitest';
import script from '../../../crates/widgets/src/bridge.js?raw';

type Message = Record<string, unknown>;
interface Bridge {
  initialized: boolean;
  adapterId: string;
  callTool(name: string, args: object): Promise<unknown>;
  getStructuredContent(): unknown;
  getWidgetState(): unknown;
  setWidgetState(state: object): void;
  registerTool(name: string, description: string, schema: object, handler?: (args: object) => unknown): Promise<void>;
}

/** A document in a frame, with the bridge in it. */
function frame(trustedOrigins: string[] = [], adapters = ['ext-apps', 'openai', 'generic']) {
  const posted: { message: Message; to: string }[] = [];
  const parent = { postMessage: (message: Message, to: string) => void posted.push({ message, to }) };
  const world = new EventTarget() as EventTarget & { parent: object; FrontMcpBridge: Bridge };
  world.parent = parent;
  const document = Object.assign(new EventTarget(), { readyState: 'complete' });
  const options = JSON.stringify({ adapters, trustedOrigins });
  const globals = { window: world, document, CustomEvent, Element: class {}, setTimeout, clearTimeout, console };
  const run = new Function(...Object.keys(globals), script.replace('__OPTIONS__', options));
  run(...Object.values(globals));
  const hear = (data: Message, origin = 'https://host.example', source: object = parent) =>
    world.dispatchEvent(Object.assign(new Event('message'), { data: { jsonrpc: '2.0', ...data }, origin, source }));
  const said = async (count: number) => {
    await vi.waitFor(() => expect(posted.length).toBeGreaterThanOrEqual(count));
    return posted[count - 1]!;
  };
  const hostCapabilities = { serverTools: {}, widgetTools: true };
  const greet = async (hostContext = {}) => {
    await said(1);
    hear({ id: 1, result: { hostCapabilities, hostContext } });
    await vi.waitFor(() => expect(world.FrontMcpBridge.initialized).toBe(true));
  };
  return { world, hear, said, greet, posted, bridge: () => world.FrontMcpBridge };
}

test('nobody but the parent is heeded, and its origin is the first and for good', async () => {
  const { hear, said, greet, bridge } = frame();
  const greeting = await said(1);
  expect(greeting).toMatchObject({ to: '*', message: { method: 'ui/initialize', id: 1 } });
  hear({ id: 1, result: { hostCapabilities: { evil: true } } }, 'https://sibling.example', {});
  expect(bridge().initialized).toBe(false);
  await greet();
  expect(await said(2)).toEqual({
    to: 'https://host.example',
    message: { jsonrpc: '2.0', method: 'ui/notifications/initialized', params: {} },
  });
  const result = { content: [], structuredContent: { n: 1 } };
  hear({ method: 'ui/notifications/tool-result', params: { structuredContent: { n: 2 } } }, 'https://other.example');
  expect(bridge().getStructuredContent()).toBe(null);
  hear({ method: 'ui/notifications/tool-result', params: result });
  expect(bridge().getStructuredContent()).toEqual({ n: 1 });
});

test('only origins that are trusted are told and heeded, where some are', async () => {
  const { hear, said, bridge } = frame(['https://claude.ai']);
  expect((await said(1)).to).toBe('https://claude.ai');
  hear({ id: 1, result: {} });
  await Promise.resolve();
  expect(bridge().initialized).toBe(false);
  hear({ id: 1, result: {} }, 'https://claude.ai');
  await vi.waitFor(() => expect(bridge().initialized).toBe(true));
});

test('tools of the host are called, and its own are answered for', async () => {
  const { hear, said, greet, bridge } = frame();
  await greet();
  const called = bridge().callTool('get-time', { zone: 'UTC' });
  expect((await said(3)).message).toMatchObject({ id: 2, method: 'tools/call', params: { name: 'get-time' } });
  hear({ id: 2, error: { code: -32001, message: 'Tool not found: get-time' } });
  await expect(called).rejects.toThrow('Tool not found: get-time (code: -32001)');
  const registered = bridge().registerTool('set', 'Sets it', { type: 'object' }, (args) => args);
  hear({ id: 3, result: {} });
  await registered;
  hear({ id: 'h', method: 'tools/call', params: { name: 'set', arguments: { n: 7 } } });
  const content = [{ type: 'text', text: '{"n":7}' }];
  expect((await said(5)).message).toMatchObject({ id: 'h', result: { content, structuredContent: { n: 7 } } });
  hear({ id: 'i', method: 'tools/call', params: { name: 'none' } });
  expect((await said(6)).message).toMatchObject({ id: 'i', error: { code: -32601 } });
});

test('what a widget keeps is kept by its host, and is there after the next greeting', async () => {
  const { said, greet, bridge } = frame();
  bridge().setWidgetState({ tab: 2 });
  await greet({ 'megaron/widgetState': { tab: 1, open: true } });
  const state = { tab: 2, open: true };
  expect(bridge().getWidgetState()).toEqual(state);
  expect((await said(3)).message).toMatchObject({ method: 'ui/notifications/widget-state', params: { state } });
  bridge().setWidgetState({ open: false });
  expect((await said(4)).message).toMatchObject({ params: { state: { tab: 2, open: false } } });
});

test('a widget that brings a bridge of its own is left with it', async () => {
  const { world, posted } = frame();
  const own = { initialized: true } as Bridge;
  world.FrontMcpBridge = own;
  await new Promise((later) => setTimeout(later, 0));
  expect([world.FrontMcpBridge, posted]).toEqual([own, []]);
});
