import { afterEach, describe, expect, it } from "vitest";
import { builtinNodes } from "../../../src/nodes/index.ts";
import type { SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { encryptedStore } from "../../../src/stores/wrappers/encrypted/encrypted-store.ts";
import { closeAll, nodeDefinitions, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

const refund = (message: string): object => ({
  id: "refund",
  nodes: [{ id: "approve", type: "approval", data: { message, responders: ["{{ input.boss }}"] } }],
  edges: [],
});
const typed = { id: "typed", nodes: [{ id: "ask", type: "ask", data: { title: "Is it so?" } }], edges: [] };

/** A store that counts the reads of single executions. */
function counted(store: SnapshotStore): { readonly store: SnapshotStore; readonly reads: string[] } {
  const reads: string[] = [];
  const noted = <T>(name: string, call: (id: string) => Promise<T>): ((id: string) => Promise<T>) => {
    return (id) => {
      reads.push(`${name} ${id}`);
      return call(id);
    };
  };
  return { store: { ...store, load: noted("load", store.load), loadHead: noted("loadHead", store.loadHead) }, reads };
}

async function withRefunds(inner: SnapshotStore, message = "Refund of {{ input.amount }}?") {
  const { store, reads } = counted(inner);
  const options = { store, workflows: [refund(message), typed], nodeDefinitions: { ...builtinNodes, ...nodeDefinitions } };
  const { runtime, environment } = setUp(options);
  for (const [id, boss] of [
    ["r-1", "ada"],
    ["r-2", "bob"],
    ["r-3", "ada"],
  ] as const)
    await runtime.start("refund", { workflowId: id, input: { boss, amount: 40 } });
  await runtime.start("typed", { workflowId: "t-1" });
  await environment.advance(1_000);
  reads.length = 0;
  return { runtime, reads };
}

describe("an inbox", () => {
  it.each([
    ["memory", () => memoryStore()],
    [
      "an encrypted store",
      () => encryptedStore(memoryStore(), { keys: [{ id: "k", key: new Uint8Array(32) }], searchKey: new Uint8Array(32).fill(1) }),
    ],
  ])("is one call: each row has what is asked, and can be answered: %s", async (_, open) => {
    const { runtime, reads } = await withRefunds(open());
    const { items } = await runtime.list({ waiting: { responder: "ada" } });
    expect(items.map(({ workflowId, asked }) => [workflowId, asked?.map(({ payload }) => payload)])).toEqual([
      ["r-3", [expect.objectContaining({ type: "approval", message: "Refund of 40?" })]],
      ["r-1", [expect.objectContaining({ type: "approval", message: "Refund of 40?" })]],
    ]);
    expect(reads).toEqual([]);
    const [wait] = items[0]!.asked!;
    expect(wait).toMatchObject({
      nodeId: "approve",
      kind: "external",
      responders: ["ada"],
      schema: { type: "object", required: ["approved"] },
    });
    const run = await runtime.get("r-3");
    await run.resume({ waitId: wait!.id, by: "ada", payload: { approved: true } });
    expect((await runtime.list({ waiting: { responder: "ada" } })).items.map(({ workflowId }) => workflowId)).toEqual(["r-1"]);
  });

  it("says what is too large for a list, and what only the type of the node knows", async () => {
    const { runtime } = await withRefunds(memoryStore(), `${"x".repeat(1_000)}?`);
    const asked = async (definitionId: string) => (await runtime.list({ waiting: {}, definitionId })).items[0]!.asked;
    expect(await asked("refund")).toMatchObject([{ nodeId: "approve", lacks: ["payload", "schema"] }]);
    expect(await asked("typed")).toMatchObject([{ nodeId: "ask", payload: { title: "Is it so?" }, lacks: ["schema"] }]);
    expect((await (await runtime.get("t-1")).waits())[0]!.schema).toMatchObject({ required: ["approved"] });
  });
});

describe("an answer", () => {
  it("names the option that is meant by the name of another library", async () => {
    const { runtime } = await withRefunds(memoryStore());
    const run = await runtime.get("r-1");
    for (const [given, meant] of [
      ["context", "payload"],
      ["data", "payload"],
      ["externalPayload", "payload"],
      ["stepId", "step"],
      ["nodeId", "step"],
    ] as const)
      await expect(run.resume({ [given]: {} })).rejects.toMatchObject({
        code: "OPTION_UNKNOWN",
        message: `run.resume has no option "${given}". Did you mean "${meant}"?`,
      });
  });
});
