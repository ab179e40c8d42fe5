import { afterEach, expect, it } from "vitest";
import { builtinNodes } from "../../src/nodes/index.ts";
import type { Commit } from "../../src/ports/snapshot-store.ts";
import { memoryStore } from "../../src/stores/databases/memory/memory-store.ts";
import { virtualEnvironment } from "../../src/testing/virtual-environment.ts";
import { flow } from "../nodes/workflow.fixture.ts";
import { closeAll, setUp } from "./runtime.fixture.ts";

afterEach(closeAll);

it.each([10, 1_000])("of a map of %i items a commit writes only the item that moved", async (count) => {
  const environment = virtualEnvironment();
  const store = memoryStore({ now: () => environment.now() });
  const commits: Commit[] = [];
  const watched = {
    ...store,
    commit: async (commit: Commit): Promise<void> => {
      await store.commit(commit);
      commits.push(commit);
    },
  };
  const inner = flow("inner", { ask: "approval" });
  const items = Array.from({ length: count }, (_, item) => item);
  const workflow = flow("w", { map: ["map", { workflow: "inner", items }] }, [], { workflows: { inner } });
  const { runtime } = setUp({ store: watched, workflows: [workflow], nodeDefinitions: builtinNodes }, environment);
  const run = await runtime.start("w", { workflowId: "w" });
  await environment.settle();
  commits.length = 0;
  await run.resume({ step: "map[7]/ask", payload: { approved: true } });
  await environment.settle();
  expect(commits.map(({ children = [] }) => children.map(({ key }) => key))).toEqual([["0#1/7"], ["0#1/7"]]);
  // the head holds only the counts of the map, and not its items
  for (const { head } of commits) expect(JSON.stringify(head).length).toBeLessThan(1_000);
});
