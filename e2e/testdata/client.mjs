// A client on the TypeScript SDK. It holds the conversation that it is told to hold with the agent whose command follows, and
// prints what it sees of it, a line each, in order.
//
//	node client.mjs SCENARIO CWD COMMAND ARGS…
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(process.env.SIGNET_E2E_MODULES + "/");
const { ClientSideConnection, ndJsonStream } = await import(pathToFileURL(require.resolve("@agentclientprotocol/sdk")));
const [scenario, cwd, command, ...args] = process.argv.slice(2);

const say = (what, value) => console.log(JSON.stringify([what, value]));

// attempt prints how a request ends.
async function attempt(what, promise) {
  try {
    const result = await promise;
    say(what, result);
    return result;
  } catch (error) {
    say(what, { code: error.code, message: error.message });
  }
}

function connect() {
  const child = spawn(command, args, { cwd, stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.on("exit", (code, signal) => resolve(signal === "SIGTERM" ? 143 : code)));
  const seen = []; // resolvers that wait for an update
  const client = {
    async sessionUpdate(params) {
      say("update", params);
      seen.splice(0).forEach((resolve) => resolve());
    },
    async requestPermission(params) {
      say("permission", params);
      return { outcome: { outcome: "selected", optionId: params.options[0].optionId } };
    },
    async readTextFile() { return { content: "" }; },
    async writeTextFile() { return {}; },
    async extNotification(method) { say("notification", method); },
  };
  const agent = new ClientSideConnection(() => client, ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)));
  return { agent, child, ended, update: () => new Promise((resolve) => seen.push(resolve)) };
}

// leave hangs up and waits.
async function leave({ child, ended }) {
  child.stdin.end();
  say("exit", await ended);
}

const text = (words) => [{ type: "text", text: words }];

const scenarios = {
  // Open Design's daemon.
  async "open-design"() {
    const c = connect();
    await attempt("initialize", c.agent.initialize({ protocolVersion: 1, clientInfo: { name: "open-design", version: "0.9.0" }, clientCapabilities: { fs: { readTextFile: true, writeTextFile: true } } }));
    const { sessionId } = await attempt("new", c.agent.newSession({ cwd, mcpServers: [{ name: "open-design", command: "/bin/true", args: ["--x"], env: [{ name: "A", value: "b" }] }] }));
    await attempt("config", c.agent.setSessionConfigOption({ sessionId, configId: "model", value: "small" }));
    await attempt("model", c.agent.request("session/set_model", { sessionId, modelId: "small" }));
    const update = c.update();
    const turn = attempt("prompt", c.agent.prompt({ sessionId, prompt: text("Draw the harbour <as a page>.") }));
    await update;
    await c.agent.cancel({ sessionId });
    await turn;
    c.child.kill("SIGTERM");
    say("exit", await c.ended);
  },

  // T3 Code with a Pixir-like agent.
  async t3code() {
    const c = connect();
    await attempt("initialize", c.agent.initialize({ protocolVersion: 1, clientInfo: { name: "t3-code", version: "0.0.0" }, clientCapabilities: { _meta: { parameterizedModelPicker: true } } }));
    await attempt("authenticate", c.agent.authenticate({ methodId: "pixir-login" }));
    const { sessionId } = await attempt("new", c.agent.newSession({ cwd, mcpServers: [], _meta: { pixir: { workspace: "w" } } }));
    await attempt("model", c.agent.request("session/set_model", { sessionId, modelId: "px-2" }));
    await attempt("mode", c.agent.setSessionMode({ sessionId, modeId: "code" }));
    await attempt("prompt", c.agent.prompt({
      sessionId, _meta: { pixir: { presenter_context: { surface: "t3" } } },
      prompt: [{ type: "image", mimeType: "image/png", data: "iVBORw0KGgo=" }, { type: "resource_link", uri: "file:///a.md", name: "a.md" }, ...text("What is on it?")],
    }));
    await attempt("extension", c.agent.extMethod("_pixir/state", {}));
    await attempt("resume", c.agent.resumeSession({ sessionId, cwd, mcpServers: [] }));
    await attempt("prompt", c.agent.prompt({ sessionId, prompt: text("And now?") }));
    await attempt("logout", c.agent.logout({}));
    await leave(c);
  },

  // Zed: two threads on one connection, and one of them again in another process.
  async zed() {
    const hello = { protocolVersion: 1, clientInfo: { name: "zed", version: "0.231.0" }, clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true, auth: { terminal: true }, _meta: { "terminal-auth": true } } };
    let c = connect();
    await attempt("initialize", c.agent.initialize(hello));
    const one = await attempt("new", c.agent.newSession({ cwd, mcpServers: [] }));
    const two = await attempt("new", c.agent.newSession({ cwd, mcpServers: [] }));
    await attempt("prompt", c.agent.prompt({ sessionId: one.sessionId, prompt: text("Mend the sail.") }));
    await attempt("prompt", c.agent.prompt({ sessionId: two.sessionId, prompt: text("Paint the hull.") }));
    await attempt("prompt", c.agent.prompt({ sessionId: one.sessionId, prompt: text("And the mast?") }));
    await leave(c);

    c = connect();
    await attempt("initialize", c.agent.initialize(hello));
    const listed = await attempt("list", c.agent.listSessions({}));
    say("titles", listed.sessions.map((s) => s.title).sort());
    await attempt("load", c.agent.loadSession({ sessionId: one.sessionId, cwd, mcpServers: [] }));
    await attempt("prompt", c.agent.prompt({ sessionId: one.sessionId, prompt: text("Is it done?") }));
    await attempt("gone", c.agent.loadSession({ sessionId: "nobody", cwd, mcpServers: [] }));
    await leave(c);
  },
};

await scenarios[scenario]();
