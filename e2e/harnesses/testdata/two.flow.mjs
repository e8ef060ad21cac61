// Two turns of one session.
import { acp, defineFlow } from "acpx/flows";

export default defineFlow({
  name: "two",
  startAt: "first",
  nodes: {
    first: acp({ prompt: () => "Who made the sail?" }),
    second: acp({ prompt: () => "And its sail?" }),
  },
  edges: [{ from: "first", to: "second" }],
});
