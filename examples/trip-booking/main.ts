import { defineNode, defineWorkflow, FatalError } from "stepfold";
import { builtinNodes } from "stepfold/nodes";
import { createRuntime } from "stepfold/runtime";
import { memoryStore } from "stepfold/stores/memory";

const workflow = defineWorkflow({
  id: "trip",
  nodes: [
    { id: "plan", type: "noop" },
    { id: "flight", type: "book", data: { what: "a flight to {{ input.to }}" }, compensate: { type: "give-back" } },
    { id: "hotel", type: "book", data: { what: "a room in {{ input.to }}" }, compensate: { type: "give-back" } },
    { id: "pay", type: "charge", join: "all", data: { card: "{{ input.card }}", for: "{{ inputs.map((booked) => booked.data.what) }}" } },
  ],
  edges: [
    { source: "plan", target: "flight" },
    { source: "plan", target: "hotel" },
    { source: "flight", target: "pay" },
    { source: "hotel", target: "pay" },
  ],
});

const nodeDefinitions = {
  ...builtinNodes,
  // the key is the same in every attempt of this booking, so the service recognizes a repetition
  book: defineNode({
    executor: (data, step) => {
      const { what } = data as { what: string };
      if (what === "a room in Atlantis") throw new FatalError(`there is no way to book ${what}`);
      return say(step, `books ${what} under ${step.idempotencyKey}`, data);
    },
  }),
  "give-back": defineNode({
    executor: (_data, step) => {
      const { compensating } = step;
      // a booking that failed or was interrupted may have been made nevertheless: only the service knows
      if (!compensating?.completed) return say(step, `asks whether anything is booked under ${compensating?.idempotencyKey}`);
      return say(step, `gives back ${(compensating.output as { what: string }).what}`);
    },
  }),
  charge: defineNode({
    executor: (data, step) => {
      const { card, for: bought } = data as { card: string; for: string[] };
      if (card === "empty") throw new FatalError("the card is declined");
      return say(step, `pays for ${bought.join(" and ")}`, "paid");
    },
  }),
};

function say<T>({ workflowId }: { readonly workflowId: string }, what: string, data: T | null = null): { data: T | null } {
  console.log(`${workflowId} ${what}`);
  return { data };
}

const store = memoryStore();
const runtime = createRuntime({ store, workflows: [workflow], nodeDefinitions });
for (const [workflowId, to, card] of [
  ["trip-1", "Lisbon", "gold"],
  ["trip-2", "Lisbon", "empty"],
  ["trip-3", "Atlantis", "gold"],
] as const) {
  const run = await runtime.start("trip", { workflowId, input: { to, card } });
  const end = await run.result().catch((error: Error) => error.message);
  console.log(`${workflowId}: ${end}`);
}
await runtime.close();
