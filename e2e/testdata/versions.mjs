// Both ends of a conversation on the TypeScript SDK, in either version of the protocol.
//
//	node versions.mjs client VERSION CWD COMMAND ARGS…
//	node versions.mjs agent DIR
//
// The client holds the same conversation in either version, in two processes of the agent, and prints what it is shown,
// a line each, in the words of neither. The agent, which serves both, writes down what a model would be given.
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const require = createRequire(process.env.SIGNET_E2E_MODULES + "/");
const load = (path) => import(pathToFileURL(require.resolve("sdk-2/" + path)));
const sdk = { 1: await import(pathToFileURL(require.resolve("sdk-2"))), 2: await load("experimental/v2") };
const [role, ...args] = process.argv.slice(2);
const sessionId = "conversation-0001";
const text = (words) => ({ type: "text", text: words });

async function client(version, cwd, command, ...rest) {
  const say = (...what) => console.log(JSON.stringify(what));
  const about = { name: "tester", version: "1" };

  // connect starts the agent, and gives what asks it and what waits for the end of a turn.
  async function connect() {
    const child = spawn(command, rest, { cwd, stdio: ["pipe", "pipe", "inherit"] });
    const ended = new Promise((resolve) => child.on("exit", resolve));
    let idle = () => {}, begun = () => {};
    const { agent } = sdk[version].client({ name: "tester" }).onNotification("session/update", ({ params: { update: u } }) => {
      const words = u.content?.text ?? (Array.isArray(u.content) ? u.content.map((c) => c.text).join("|") : "");
      if (u.sessionUpdate.startsWith("user_message")) say("user", words);
      if (u.sessionUpdate === "agent_message_chunk") { say("agent", words); begun(); }
      if (u.sessionUpdate.startsWith("tool_call")) say("tool", u.title);
      if (u.sessionUpdate === "session_info_update") say("title", u.title);
      if (u.sessionUpdate === "state_update" && u.state === "idle") idle(u.stopReason);
    }).connect(sdk[version].ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)));
    await agent.request("initialize", version === 1
      ? { protocolVersion: 1, clientInfo: about, clientCapabilities: {} }
      : { protocolVersion: 2, info: about, capabilities: {} });
    return {
      agent,
      // prompt has a turn; whatever comes first of it calls then.
      async prompt(words, then = () => {}) {
        begun = then;
        const over = new Promise((resolve) => { idle = resolve; });
        const result = await agent.request("session/prompt", { sessionId, prompt: [text(words)] });
        say("stop", version === 1 ? result.stopReason : await over);
      },
      async leave() {
        child.stdin.end();
        say("exit", await ended);
      },
    };
  }

  let c = await connect();
  say("opened", (await c.agent.request("session/new", { cwd, mcpServers: [] })).sessionId);
  await c.prompt("How long is the mast of the Curlew?");
  await c.prompt("Wait.", () => c.agent.notify("session/cancel", { sessionId }));
  await c.prompt("/plan a voyage");
  await c.leave();

  c = await connect();
  await (version === 1
    ? c.agent.request("session/load", { sessionId, cwd, mcpServers: [] })
    : c.agent.request("session/resume", { sessionId, cwd, mcpServers: [], replayFrom: { type: "start" } }));
  await c.prompt("And its boom?");
  await c.leave();
}

function agent(dir) {
  const file = join(dir, "history.json");
  const history = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : []; // of prompts
  const asked = (what) => appendFileSync(join(dir, "asked.jsonl"), JSON.stringify(what) + "\n");
  const info = { name: "versions", version: "1" };
  let stop = () => {};

  const served = { 1: sdk[1].agent({ name: info.name }), 2: sdk[2].agent({ name: info.name }) };
  for (const version of [1, 2]) {
    const opened = (params) => asked({ servers: params.mcpServers.map((s) => s.name) });
    const update = (to, what) => to.notify("session/update", { sessionId, update: what });
    const messageId = () => `message-${history.length}`;
    const user = async (to, content) => version === 2
      ? update(to, { sessionUpdate: "user_message", messageId: "user-" + messageId(), content })
      : Promise.all(content.map((c) => update(to, { sessionUpdate: "user_message_chunk", content: c })));
    const words = (to, w) => update(to, { sessionUpdate: "agent_message_chunk", messageId: messageId(), content: text(w) });
    const idle = (to, stopReason) => update(to, { sessionUpdate: "state_update", state: "idle", stopReason });

    // turn answers a prompt and gives how it ended.
    async function turn(to, content) {
      const said = content.map((c) => c.text).join("");
      await words(to, "The mast ");
      await update(to, { sessionUpdate: version === 1 ? "tool_call" : "tool_call_update", toolCallId: "tool-" + messageId(), title: "Measure", kind: "read", status: "completed" });
      if (said.endsWith("Wait.")) {
        await new Promise((resolve) => { stop = resolve; });
        return "cancelled";
      }
      await words(to, "is 11.42 metres long.");
      if (history.length === 1) await update(to, { sessionUpdate: "session_info_update", title: said.slice(0, 60) });
      return "end_turn";
    }
    const again = async (to) => {
      for (const content of history) await user(to, content);
      if (version === 2) await idle(to, undefined);
    };

    served[version].onRequest("initialize", () => version === 1
      ? { protocolVersion: 1, agentInfo: info, agentCapabilities: { loadSession: true }, authMethods: [] }
      : { protocolVersion: 2, info, capabilities: { session: { mcp: { stdio: {} } } }, authMethods: [] })
      .onRequest("session/new", ({ params }) => { opened(params); return { sessionId }; })
      .onRequest(version === 1 ? "session/load" : "session/resume", async ({ params, client: to }) => {
        opened(params);
        await again(to);
        return {};
      })
      .onRequest("session/prompt", async ({ params, client: to }) => {
        asked({ prompt: params.prompt.map(({ type, text, annotations, _meta }) => ({ type, text, annotations, _meta })) });
        history.push(params.prompt);
        writeFileSync(file, JSON.stringify(history));
        if (version === 1) return { stopReason: await turn(to, params.prompt) };
        await user(to, params.prompt);
        turn(to, params.prompt).then((how) => idle(to, how));
        return { messageId: "user-" + messageId() };
      })
      .onNotification("session/cancel", () => stop());
  }
  sdk[2].agentProtocolRouter().withV1(served[1]).withV2(served[2]).connect(
    sdk[2].ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
}

await (role === "client" ? client(Number(args[0]), ...args.slice(1)) : agent(args[0]));
