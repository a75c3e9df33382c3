// A server of the 2026-07-28 kind over HTTP, by hand: without sessions, behind a sign-in if told to.
// `node web.mjs [sign-in]` prints its port. With a sign-in it is its own authorization server.
import { createServer } from "node:http";
import { createHash, randomUUID } from "node:crypto";

const locked = process.argv[2] === "sign-in";
const life = Number(process.argv[3] ?? 3600);
const codes = new Map();
// Each with the scopes that it was given for.
const tokens = new Map();
const refreshes = new Map();
let refreshed = 0;
let registered = 0;

const body = async (request) => {
  let text = "";
  for await (const piece of request) text += piece;
  return text;
};
const json = (response, status, value, headers = {}) => {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(value));
};
const text = (value) => ({ resultType: "complete", content: [{ type: "text", text: value }] });
const tool = (name) => ({ name, description: name, inputSchema: { type: "object" } });
const granted = (scope) => {
  // To be found wherever it should not be.
  const access_token = `s3cret-${randomUUID()}`;
  const refresh_token = `s3cret-${randomUUID()}`;
  tokens.set(access_token, scope);
  refreshes.set(refresh_token, scope);
  return { access_token, refresh_token, token_type: "Bearer", expires_in: life, scope };
};

const answer = {
  "server/discover": () => ({
    resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: { tools: {} },
    serverInfo: { name: "web", version: "1" }, ttlMs: 0, cacheScope: "private",
  }),
  "tools/list": () => ({ resultType: "complete", tools: [tool("greet"), tool("who"), tool("meta"), tool("revoke"), tool("write"), tool("rule"), tool("endless"), tool("events"), tool("accepted"), tool("emptied")], ttlMs: 0, cacheScope: "private" }),
  "tools/call": ({ name, inputResponses, requestState, _meta }, scope) => {
    if (name === "write") return text(`written with ${scope}`);
    if (name === "meta") return text(JSON.stringify(_meta));
    if (name === "who") return text(`refreshed ${refreshed}, registered ${registered}`);
    if (name === "revoke") return tokens.clear(), text("revoked");
    if (!inputResponses) {
      const requestedSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
      const params = { mode: "form", message: "Your name?", requestedSchema };
      return { resultType: "input_required", requestState: "s1", inputRequests: { who: { method: "elicitation/create", params } } };
    }
    return text(`hello ${inputResponses.who.content.name} (${requestState})`);
  },
};

const server = createServer(async (request, response) => {
  const url = new URL(request.url, `http://${request.headers.host}`);
  const home = url.origin;
  const said = await body(request);
  if (url.pathname.startsWith("/.well-known/oauth-protected-resource"))
    return json(response, 200, { resource: `${home}/mcp`, authorization_servers: [home] });
  if (url.pathname.startsWith("/.well-known/oauth-authorization-server"))
    return json(response, 200, {
      issuer: home, authorization_endpoint: `${home}/authorize`, token_endpoint: `${home}/token`,
      registration_endpoint: `${home}/register`, response_types_supported: ["code"],
      grant_types_supported: ["authorization_code", "refresh_token"],
      code_challenge_methods_supported: ["S256"], token_endpoint_auth_methods_supported: ["none"],
    });
  if (url.pathname === "/register") {
    registered++;
    return json(response, 201, { ...JSON.parse(said), client_id: "a-client" });
  }
  if (url.pathname === "/authorize") {
    const code = randomUUID();
    codes.set(code, { challenge: url.searchParams.get("code_challenge"), scope: url.searchParams.get("scope") ?? "" });
    const back = new URL(url.searchParams.get("redirect_uri"));
    back.searchParams.set("code", code);
    back.searchParams.set("state", url.searchParams.get("state"));
    response.writeHead(302, { location: back.href });
    return response.end();
  }
  if (url.pathname === "/token") {
    const form = new URLSearchParams(said);
    if (form.get("grant_type") === "refresh_token") {
      const scope = refreshes.get(form.get("refresh_token"));
      if (!refreshes.delete(form.get("refresh_token"))) return json(response, 400, { error: "invalid_grant" });
      refreshed++;
      return json(response, 200, granted(scope));
    }
    const challenge = createHash("sha256").update(form.get("code_verifier") ?? "").digest("base64url");
    const code = codes.get(form.get("code"));
    if (code?.challenge !== challenge) return json(response, 400, { error: "invalid_grant" });
    codes.delete(form.get("code"));
    return json(response, 200, granted(code.scope));
  }
  if (url.pathname !== "/mcp") return json(response, 404, {});
  const token = (request.headers.authorization ?? "").replace(/^Bearer /, "");
  const where = `resource_metadata="${home}/.well-known/oauth-protected-resource/mcp"`;
  if (locked && !tokens.has(token))
    return json(response, 401, {}, { "www-authenticate": `Bearer scope="read", ${where}` });
  if (request.method !== "POST") return json(response, 405, {});
  const { id, method, params } = JSON.parse(said);
  // Nobody is ever let to rule, whatever they sign in for.
  const scope = tokens.get(token)?.split(" ").sort().join(" ");
  const barred = params?.name === "rule" || (params?.name === "write" && !scope?.includes("write"));
  if (locked && barred)
    return json(response, 403, {}, { "www-authenticate": `Bearer error="insufficient_scope", scope="write", ${where}` });
  if (["endless", "events"].includes(params?.name)) {
    const kind = params.name === "events" ? "text/event-stream" : "application/json";
    response.writeHead(200, { "content-type": kind });
    response.write("data: ");
    const more = () => { while (response.write("x".repeat(65536))); };
    response.on("drain", more);
    return more();
  }
  // As if nobody waited for an answer.
  if (params?.name === "accepted") return response.writeHead(202).end();
  if (params?.name === "emptied") return response.writeHead(204).end();
  if (id === undefined) return response.writeHead(202).end();
  if (!answer[method]) return json(response, 200, { jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } });
  json(response, 200, { jsonrpc: "2.0", id, result: answer[method](params ?? {}, scope) });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
