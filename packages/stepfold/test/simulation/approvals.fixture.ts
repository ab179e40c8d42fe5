import { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import { isTerminal } from "../../src/core/snapshot/snapshot.ts";
import { defineNode } from "../../src/engine/node/define-node.ts";
import { memoryStore } from "../../src/stores/databases/memory/memory-store.ts";
import type { ClientScript, Scenario } from "../../src/testing/simulation/scenario.ts";

/** A workflow with two steps that have an effect, and a wait for an approval between them. */
const post = {
  id: "post",
  nodes: [
    { id: "write", type: "say" },
    { id: "review", type: "ask" },
    { id: "publish", type: "say" },
  ],
  edges: [
    { source: "write", target: "review" },
    { source: "review", target: "publish" },
  ],
};

/** Starts a post and approves it. */
function author(workflowId: string): ClientScript {
  return async ({ runtime, sleep }) => {
    const run = await runtime.start("post", { workflowId, input: { title: workflowId } });
    for (;;) {
      const { status } = await run.snapshot();
      if (isTerminal(status)) return;
      if (status === "paused") await approve(() => run.resume({ step: "review", payload: { ok: true }, idempotencyKey: "author" }));
      await sleep(200);
    }
  };
}

async function approve(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!StepfoldError.is(error, "WAIT_GONE") && !StepfoldError.is(error, "EXECUTION_ENDED")) throw error;
  }
}

/** A scenario with the authors of two posts. */
export function posts(more: Partial<Scenario> = {}): Scenario {
  return {
    store: ({ now }) => memoryStore({ now }),
    workflows: [post],
    nodeDefinitions: {
      say: defineNode({ executor: (_data, { nodeId }) => ({ data: nodeId }) }),
      ask: defineNode({ executor: (_data, step) => (step.resumed ? { data: step.externalPayload } : step.suspend({ asks: "ok?" })) }),
    },
    clients: [author("a"), author("b")],
    ...more,
  };
}
