import { afterEach, describe, expect, it } from "vitest";
import type { SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { closeAll, second, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

describe("AUDIT 8: a failover to a copy that has lost a definition", () => {
  it("is mended by the next start: what was started meanwhile goes on, in processes that do not know the workflow", async () => {
    const environment = virtualEnvironment();
    const memory = memoryStore({ now: () => environment.now() });
    const definitions = new Map<string, Parameters<SnapshotStore["putDefinition"]>[1]>();
    const store: SnapshotStore = {
      ...memory,
      putDefinition: async (hash, definition) => void definitions.set(hash, definition),
      getDefinition: async (hash) => definitions.get(hash) ?? null,
    };
    const { runtime } = setUp({ store, drive: false }, environment);
    setUp({ store, workflows: [] }, environment);
    await runtime.start("talk", { workflowId: "before" });
    await environment.advance(2 * second);
    definitions.clear();
    setUp({ store, workflows: [] }, environment);
    await environment.advance(2 * second);
    await runtime.start("talk", { workflowId: "after" });
    await environment.advance(5 * second);
    expect(definitions.size).toBe(1);
    expect(await store.load("after")).toMatchObject({ status: "paused" });
  });
});
