import { expect, it } from "vitest";
import { builtinNodes } from "../../src/nodes/index.ts";
import type { SnapshotStore } from "../../src/ports/snapshot-store.ts";
import { createRuntime } from "../../src/runtime/create-runtime.ts";
import { memoryStore } from "../../src/stores/databases/memory/memory-store.ts";
import { circle } from "./circle.fixture.ts";

// An execution that commits without pause could be faster at every try of a command, so that the command would never be taken.
it("F3: a command goes before the next commit of an execution that runs in the same process and never waits", async () => {
  const memory = memoryStore();
  let commits = 0;
  const slow: SnapshotStore = {
    ...memory,
    load: async (id) => {
      await new Promise((resolve) => setImmediate(resolve));
      return memory.load(id);
    },
    commit: async (commit) => {
      commits++;
      await new Promise((resolve) => setImmediate(resolve));
      return memory.commit(commit);
    },
  };
  const runtime = createRuntime({ store: slow, workflows: [circle], nodeDefinitions: builtinNodes });
  const run = await runtime.start("circle");
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
  expect(commits).toBeGreaterThan(2);
  commits = 0;
  await run.cancel();
  // the commit under way, a commit that loses against the cancellation, and the cancellation
  expect(commits).toBeLessThanOrEqual(4);
  expect((await run.snapshot()).status).toBe("cancelled");
  await runtime.close();
});
