// A server that behaves in the way it is told to: `node odd.mjs WAY`. Speaks JSON-RPC by hand, so that it can
// also say what no proper server would.
import { createInterface } from "node:readline";
import { existsSync, writeFileSync } from "node:fs";

const [way, mark] = process.argv.slice(2);
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
const text = (value) => ({ content: [{ type: "text", text: value }] });
const tool = (name, more = {}) => ({ name, description: name, inputSchema: { type: "object" }, ...more });

let asked = 0;
let paid = 0;
const waiting = new Map();
const ask = (method, params) =>
  new Promise((answer) => {
    const id = `odd-${asked++}`;
    waiting.set(id, answer);
    say({ id, method, params });
  });

const forms = {
  name: { type: "string", minLength: 2 },
  age: { type: "integer" },
};

const ways = {
  // The plain one.
  plain: { tools: () => [tool("ping")] },
  other: { tools: () => [tool("ping"), tool("pong")] },
  env: { tools: () => [tool("env")] },
  silent: { initialize: () => undefined },
  early: { initialize: () => process.exit(3) },
  // Says nothing of use before it says hello.
  garbage: { before: () => process.stdout.write("hello\n{\"jsonrpc\":\n\u0000\u0001\n[1,2]\n\n") },
  breaking: { discover: () => process.exit(4), tools: () => [tool("ping")] },
  reads: {
    tools: () => [tool("look", { annotations: { readOnlyHint: true } }), tool("touch")],
  },
  schemas: {
    tools: () => [
      tool("broken", { inputSchema: { type: "object", properties: 3 } }),
      tool("elsewhere", { inputSchema: { type: "object", $ref: "http://127.0.0.1:9/x.json" } }),
      tool("huge", { inputSchema: { type: "object", description: "x".repeat(200_000) } }),
      tool("strict", {
        description: "d".repeat(100_000),
        inputSchema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
      }),
    ],
  },
  pages: {
    tools: (cursor) => ({ tools: [tool(`t${cursor ?? 0}`)], nextCursor: String(Number(cursor ?? 0) + 1) }),
  },
};

// Widgets, each with something to be said about it.
const page = (mimeType, more = {}) => ({ mimeType, text: "<!doctype html><p>hi", ...more });
const profile = "text/html;profile=mcp-app";
const pages = {
  plain: page(profile),
  nested: page(profile),
  flat: page('text/html; profile="mcp-app"'),
  old: page("text/html+mcp"),
  blob: { mimeType: profile, blob: Buffer.from("<p>日本語").toString("base64") },
  latin: { mimeType: profile, blob: Buffer.from([0x3c, 0x70, 0x3e, 0xe9]).toString("base64") },
  text: page("text/plain"),
  empty: page(profile, { text: " \n" }),
  large: page(profile, { text: "x".repeat(9_000_000) }),
  listed: page(profile),
  overruled: page(profile, { _meta: { ui: {} } }),
  wishes: page(profile, {
    _meta: {
      ui: {
        csp: { connectDomains: ["https://a.example"], resourceDomains: ["https://b.example"], frameDomains: ["https://c.example"], baseUriDomains: ["https://d.example", 3] },
        permissions: { microphone: {}, clipboardWrite: {}, camera: null },
        domain: "x", prefersBorder: true,
      },
    },
  }),
};
const shows = (name) => tool(name, { _meta: { ui: { resourceUri: `ui://odd/${name}` } } });
let greeting;
ways.widgets = {
  tools: () => [
    ...["plain", "blob", "latin", "text", "empty", "large", "listed", "overruled", "wishes", "missing"].map(shows),
    tool("nested", { _meta: { ui: { resourceUri: "ui://odd/nested" }, "ui/resourceUri": "ui://odd/flat" } }),
    tool("flat", { _meta: { "ui/resourceUri": "ui://odd/flat" } }),
    tool("old", { annotations: { "ui/resourceUri": "ui://odd/old", "ui/capabilities": {} } }),
    tool("elsewhere", { _meta: { ui: { resourceUri: "https://a.example/" } } }),
    tool("none"),
    tool("for_app", { _meta: { ui: { visibility: ["app"] } } }),
    tool("for_model", { _meta: { ui: { visibility: ["model"] } } }),
    tool("greeting"),
  ],
};
const readResource = ({ uri }) => {
  const found = pages[uri.replace("ui://odd/", "")];
  if (!found) throw { code: -32002, message: "Resource not found" };
  return { contents: [{ uri, ...found }] };
};
const listResources = ({ cursor }) => {
  const listed = (name) => ({ uri: `ui://odd/${name}`, name, _meta: { ui: { csp: { connectDomains: ["https://list.example"] } } } });
  return cursor ? { resources: [listed("listed")] } : { resources: [listed("overruled")], nextCursor: "2" };
};

let changing = [tool("first")];
ways.changing = { tools: () => changing };
let lists = 0;
ways.storm = { tools: () => (lists++, [tool("lists"), tool("storm")]) };
ways.calls = {
  tools: () => ["hang", "die", "nonsense", "large", "larger", "steps", "flood", "stderr", "form", "visit", "sample",
    "roots", "ask_twice", "bad_url", "cancelled", "pay"].map((name) => tool(name)),
};
const cancelled = [];

const call = {
  ping: () => text("pong"),
  pong: () => text("ping"),
  env: () => text(JSON.stringify(process.env)),
  greeting: () => text(JSON.stringify(greeting)),
  plain: () => text("shown"),
  for_app: () => text("for the app"),
  for_model: () => text("for the model"),
  look: () => text("seen"),
  touch: () => text("touched"),
  strict: ({ n }) => text(String(n)),
  broken: (args) => text(JSON.stringify(args)),
  hang: () => undefined,
  cancelled: () => text(JSON.stringify(cancelled)),
  die: () => process.exit(5),
  large: () => text("x".repeat(6_000_000)),
  larger: () => text("x".repeat(40_000_000)),
  steps: async (_, token) => {
    for (let progress = 1; progress <= 3; progress++) {
      say({ method: "notifications/progress", params: { progressToken: token, progress, total: 3, message: `step ${progress}` } });
    }
    return text("done");
  },
  flood: (_, token) => {
    for (let i = 0; i < 20_000; i++) {
      say({ method: "notifications/message", params: { level: "info", data: `line ${i}` } });
      say({ method: "notifications/progress", params: { progressToken: token, progress: i } });
      say({ method: "notifications/nobody/knows", params: { i } });
    }
    return text("flooded");
  },
  stderr: () => {
    for (let i = 0; i < 20_000; i++) process.stderr.write(`line ${i} ${"y".repeat(500)}\n`);
    return text("spoken");
  },
  lists: () => text(String(lists)),
  storm: () => {
    for (let i = 0; i < 5_000; i++) say({ method: "notifications/tools/list_changed" });
    return text("stormed");
  },
  form: async () => {
    const requestedSchema = { type: "object", properties: forms, required: ["name"] };
    return text(JSON.stringify(await ask("elicitation/create", { mode: "form", message: "Who are you?", requestedSchema })));
  },
  ask_twice: async () => {
    const requestedSchema = { type: "object", properties: {} };
    const one = (message) => ask("elicitation/create", { mode: "form", message, requestedSchema });
    return text(JSON.stringify(await Promise.all([one("first"), one("second")])));
  },
  visit: async () =>
    text(JSON.stringify(await ask("elicitation/create", { mode: "url", message: "Pay", url: "https://a.example/pay", elicitationId: "1" }))),
  bad_url: async () =>
    text(JSON.stringify(await ask("elicitation/create", { mode: "url", message: "Pay", url: "file:///etc/passwd", elicitationId: "1" }))),
  sample: async () =>
    text(JSON.stringify(await ask("sampling/createMessage", { maxTokens: 100, systemPrompt: "Be brief.", messages: [{ role: "user", content: { type: "text", text: "Say hi" } }] }))),
  pay: () => {
    if (paid++) return text("paid");
    const elicitations = [{ mode: "url", message: "Pay", url: "https://a.example/pay", elicitationId: "1" }];
    throw { code: -32042, message: "pay first", data: { elicitations } };
  },
  roots: async () => text(JSON.stringify(await ask("roots/list", {}))),
  first: () => {
    changing = [tool("second")];
    say({ method: "notifications/tools/list_changed" });
    return text("changed");
  },
  second: () => text("second"),
};

const me = ways[way] ?? {};
const answer = {
  "server/discover": () => (me.discover ? me.discover() : Promise.reject({ code: -32601, message: "Method not found" })),
  initialize: ({ protocolVersion, ...more }) =>
    (greeting = more) && me.initialize
      ? me.initialize()
      : { protocolVersion: protocolVersion ?? "2025-11-25", capabilities: { tools: { listChanged: true }, logging: {} }, serverInfo: { name: "odd", version: "1" } },
  "tools/list": (params) => {
    const tools = me.tools ? me.tools(params?.cursor) : [tool("ping")];
    return Array.isArray(tools) ? { tools } : tools;
  },
  "tools/call": ({ name, arguments: args, _meta }, id) => {
    if (name === "nonsense") return void process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":7}\n`);
    return call[name](args ?? {}, _meta?.progressToken);
  },
  "resources/read": readResource,
  "resources/list": listResources,
  ping: () => ({}),
};

if (mark && existsSync(mark)) process.exit(6);
if (mark) writeFileSync(mark, "");
me.before?.();
createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, method, params, result, error } = JSON.parse(line);
  if (method === undefined) return waiting.get(id)?.(result ?? { error });
  if (method === "notifications/cancelled") return void cancelled.push(params.reason);
  if (id === undefined) return;
  try {
    if (!answer[method]) throw { code: -32601, message: "Method not found" };
    const given = await answer[method](params ?? {}, id);
    if (given !== undefined) say({ id, result: given });
  } catch (error) {
    say({ id, error: { code: error.code ?? -32603, message: error.message ?? String(error), data: error.data } });
  }
});
