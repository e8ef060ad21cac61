// Two turns of one session, each in a process of its own. SIGNET_BY_MINUTE: the second in another minute.
import { setTimeout } from "node:timers/promises";
import { acp, defineFlow } from "acpx/flows";

async function another() {
  if (process.env.SIGNET_BY_MINUTE) await setTimeout(61_000 - Date.now() % 60_000);
  return "And its sail?";
}

export default defineFlow({
  name: "two",
  startAt: "first",
  nodes: {
    first: acp({ prompt: () => "Who made the sail?" }),
    second: acp({ prompt: another }),
  },
  edges: [{ from: "first", to: "second" }],
});
