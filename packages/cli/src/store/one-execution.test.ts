import { builtinNodes } from "stepfold/nodes";
import { createRuntime } from "stepfold/runtime";
import { memoryStore } from "stepfold/stores/memory";
import { describe, expect, it } from "vitest";
import { flow } from "../../test/flow.fixture.ts";
import type { Store } from "./database.ts";
import { oneExecution } from "./one-execution.ts";

const lease = { owner: "me", leaseMs: 1_000, limit: 10 };

async function storeWithTwo(): Promise<Store> {
  const store = memoryStore() as unknown as Store;
  const runtime = createRuntime({ store, workflows: [flow("w", { a: "noop" })], nodeDefinitions: builtinNodes, drive: false });
  for (const workflowId of ["one", "two"]) await runtime.start("w", { workflowId });
  await runtime.close();
  return store;
}

describe("oneExecution", () => {
  it("gives out nothing before it has begun, then that execution only", async () => {
    const one = oneExecution(await storeWithTwo(), "two");
    expect(await one.store.claim(lease)).toEqual([]);
    expect(await one.store.claim(lease)).toEqual([]);
    expect(one.couldNotClaim()).toBe(false);
    one.begin();
    expect((await one.store.claim(lease)).map(({ workflowId }) => workflowId)).toEqual(["two"]);
    expect(await one.store.claim(lease)).toEqual([]);
  });

  it("begins by itself with a commit", async () => {
    const one = oneExecution(await storeWithTwo(), "one");
    const runtime = createRuntime({ store: one.store, nodeDefinitions: builtinNodes, pollMs: 5 });
    const run = await runtime.get("one");
    await run.signal("x");
    expect(await run.result()).toBe(null);
    await runtime.close();
  });
});
