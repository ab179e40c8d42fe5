import { describe, expect, it } from "vitest";
import { graph } from "../../../../test/core/execution.fixture.ts";
import type { NodeResult, Snapshot } from "../../snapshot/snapshot.ts";
import { closeDraft } from "./close-draft.ts";
import { type Draft, factsOf, seedOf } from "./draft.ts";
import { openDraft } from "./open-draft.ts";

const result = (version: number): NodeResult => ({ output: version, timestamp: version, attempt: 1, pathId: "0", version });

describe("opening a draft", () => {
  const workflow = graph(
    ["a>b"],
    [
      { id: "a", type: "noop", keep: 2 },
      { id: "b", type: "noop", keep: 2 },
      { id: "c", type: "noop", keep: 1 },
    ],
  );
  const snapshot: Snapshot = {
    schema: 1,
    workflowId: "w",
    definition: { id: "flow", hash: workflow.hash },
    status: "active",
    currentNodeId: "b",
    activePaths: [{ id: "0", nodeId: "b", status: "ready", turn: 4, visit: 4, attempts: 0, since: 3, stepPath: ["a"] }],
    context: { a: [result(1), result(2), result(3)], b: [result(1)], c: [result(2), result(3)] },
    version: 3,
    metadata: {},
    steps: 3,
    sizeBytes: 3,
  };

  it("keeps of each node what is to be kept, where a store gave the whole history", () => {
    const { context } = closeDraft(openDraft(workflow, snapshot));
    expect(context).toEqual({ a: [result(2), result(3)], b: [result(1)], c: [result(3)] });
    expect(snapshot.context.a).toHaveLength(3);
  });

  it("takes the context as it is where there is nothing to leave out", () => {
    const short = { ...snapshot, context: { a: [result(3)] } };
    expect(closeDraft(openDraft(workflow, short)).context).toBe(short.context);
  });
});

const known = { workflowId: "w1", definition: { id: "post", hash: "h" }, createdAt: 7, tenant: "t", input: { a: 1 } } as unknown as Draft;

describe("what expressions know of an execution", () => {
  it("is its id, workflow, start and input", () => {
    expect(factsOf(known)).toEqual({ id: "w1", workflow: "post", startedAt: 7, input: { a: 1 } });
  });

  it("is drawn from by chance: each tenant's, and each execution of one id, has a seed of its own", () => {
    const seeds = [known, { ...known, tenant: undefined }, { ...known, createdAt: undefined }, { ...known, workflowId: "w2" }].map(seedOf);
    expect(new Set(seeds).size).toBe(4);
    expect(seedOf({ ...known })).toBe(seeds[0]);
  });
});
