// An application that shares a session with acpx's command line.
//
//	node shared.mjs RUNTIME AGENT COMMAND PROMPT
import { pathToFileURL } from "node:url";

const [runtime, agent, command, text] = process.argv.slice(2);
const { createAgentRegistry, createSharedAcpRuntime } = await import(pathToFileURL(runtime));
const shared = createSharedAcpRuntime({
  cwd: process.cwd(), permissionMode: "approve-all", ttlMs: 1000,
  agentRegistry: createAgentRegistry({ overrides: { [agent]: command } }),
});
const handle = await shared.ensureSession({ sessionKey: "shared", agent, mode: "persistent" });
for await (const event of shared.runTurn({ handle, text, mode: "prompt", requestId: "one" })) {
  if (event.type === "error") throw new Error(JSON.stringify(event));
}
await shared.shutdown();
