// Holds what went over the wire against what is published: the schema of MCP Apps, and that of MCP for the rest.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import * as mcp from '@modelcontextprotocol/sdk/types.js';
import { peers } from './bundle.mjs';

const require = createRequire(join(peers, 'package.json'));
const { default: Ajv } = require('ajv/dist/2020.js');
const published = join(peers, '@modelcontextprotocol', 'ext-apps', 'dist', 'src', 'generated', 'schema.json');
const { $defs: definitions } = JSON.parse(readFileSync(published, 'utf8'));

/** @type {Map<string, any>} */
const compiled = new Map();

/** What is wrong with a value, by a definition of MCP Apps. @param {string} name */
function byApps(name, value) {
  assert.ok(definitions[name], `${name} is published`);
  // Some of them name others; what they bring themselves goes before.
  const root = { ...definitions[name], $defs: { ...definitions, ...definitions[name].$defs } };
  if (!compiled.has(name)) compiled.set(name, new Ajv({ strict: false, validateFormats: false }).compile(root));
  const validate = compiled.get(name);
  return validate(value) ? [] : validate.errors.map((it) => `${name}${it.instancePath} ${it.message}`);
}

/** And by one of MCP. @param {{ safeParse(value: unknown): { success: boolean, error?: unknown } }} schema */
function byMcp(schema, value) {
  const { success, error } = schema.safeParse(value);
  return success ? [] : [String(error)];
}

const apps = (name) => (value) => byApps(name, value);
const plain = (schema) => (value) => byMcp(schema, value);

/** What each message must be; and its answer, where it has one. */
const known = {
  'ui/initialize': [apps('McpUiInitializeRequest'), apps('McpUiInitializeResult')],
  'ui/open-link': [apps('McpUiOpenLinkRequest'), apps('McpUiOpenLinkResult')],
  'ui/download-file': [apps('McpUiDownloadFileRequest'), apps('McpUiDownloadFileResult')],
  'ui/message': [apps('McpUiMessageRequest'), apps('McpUiMessageResult')],
  'ui/request-display-mode': [apps('McpUiRequestDisplayModeRequest'), apps('McpUiRequestDisplayModeResult')],
  'ui/update-model-context': [apps('McpUiUpdateModelContextRequest'), plain(mcp.EmptyResultSchema)],
  'ui/resource-teardown': [apps('McpUiResourceTeardownRequest'), apps('McpUiResourceTeardownResult')],
  'ui/notifications/initialized': [apps('McpUiInitializedNotification')],
  'ui/notifications/size-changed': [apps('McpUiSizeChangedNotification')],
  'ui/notifications/request-teardown': [apps('McpUiRequestTeardownNotification')],
  'ui/notifications/tool-input': [apps('McpUiToolInputNotification')],
  'ui/notifications/tool-input-partial': [apps('McpUiToolInputPartialNotification')],
  'ui/notifications/tool-result': [apps('McpUiToolResultNotification')],
  'ui/notifications/tool-cancelled': [apps('McpUiToolCancelledNotification')],
  'ui/notifications/host-context-changed': [apps('McpUiHostContextChangedNotification')],
  'tools/call': [plain(mcp.CallToolRequestSchema), plain(mcp.CallToolResultSchema)],
  'tools/list': [plain(mcp.ListToolsRequestSchema), plain(mcp.ListToolsResultSchema)],
  'resources/list': [plain(mcp.ListResourcesRequestSchema), plain(mcp.ListResourcesResultSchema)],
  'resources/read': [plain(mcp.ReadResourceRequestSchema), plain(mcp.ReadResourceResultSchema)],
  ping: [plain(mcp.PingRequestSchema), plain(mcp.EmptyResultSchema)],
  'notifications/message': [plain(mcp.LoggingMessageNotificationSchema)],
  'notifications/tools/list_changed': [plain(mcp.ToolListChangedNotificationSchema)],
};

/** Definitions speak of neither the version nor the id, and close both halves of how much room there is, so that nothing fits. */
function bare(value) {
  const { jsonrpc: _, id: __, ...rest } = structuredClone(value);
  delete rest.params?.containerDimensions;
  delete rest.hostContext?.containerDimensions;
  return rest;
}

/**
 * Every message is as it was published.
 * @param {{ out?: any, in?: any }[]} wire what a view has sent, and what it was sent
 * @returns {Set<string>} the methods that went over it
 */
export function conforms(wire) {
  /** @type {string[]} */
  const wrong = [];
  /** What was asked, by who asked and its id. @type {Map<string, string>} */
  const asked = new Map();
  for (const { out, in: heard } of wire) {
    const { id, method } = out ?? heard;
    if (id !== undefined && method !== undefined) asked.set(`${out ? 'view' : 'host'} ${id}`, method);
  }
  const check = (rule, value, what) => wrong.push(...rule(bare(value)).map((it) => `${what}: ${it} in ${JSON.stringify(value)}`));
  for (const { out, in: heard } of wire) {
    const message = out ?? heard;
    const [mine, theirs] = out ? ['view', 'host'] : ['host', 'view'];
    wrong.push(...byMcp(mcp.JSONRPCMessageSchema, message));
    if (message.method !== undefined) {
      const [rule] = known[message.method] ?? [];
      if (rule) check(rule, message, `${mine} ${message.method}`);
      else wrong.push(`${mine}: nobody has published ${message.method}`);
    } else if (message.result !== undefined) {
      const method = asked.get(`${theirs} ${message.id}`);
      const rule = known[method ?? '']?.[1];
      if (rule) check(rule, message.result, `answer to ${method}`);
      else wrong.push(`${mine}: an answer to nothing, ${JSON.stringify(message)}`);
    }
  }
  assert.deepEqual(wrong, []);
  return new Set(wire.flatMap((it) => (it.out ?? it.in).method ?? []));
}

/** Has every document of a context write down what it hears. */
export const record = (context) =>
  context.addInitScript(() => {
    const heard = (/** @type {any} */ (window).heardHere = []);
    addEventListener('message', ({ data }) => data?.jsonrpc && heard.push(data), true);
  });

/** What went over the wire between a page and its only widget, once each has heard all: first what the view sent. */
export async function recorded(page, frame) {
  const heard = (document) => document.evaluate(() => /** @type {any} */ (window).heardHere);
  const [out, answers] = [await heard(page), await heard(frame)];
  return [...out.map((it) => ({ out: it })), ...answers.map((it) => ({ in: it }))];
}
