import { describe, expect, it } from "vitest";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { sqliteStore } from "../../../src/stores/databases/sqlite/index.ts";
import { openInside } from "../../stores/sqlite/open-inside.fixture.ts";
import { setUp } from "../runtime.fixture.ts";
import { callers, costsOfCallers } from "./callers.fixture.ts";

callers("memory", async () => memoryStore());
callers("SQLite", async () => sqliteStore(":memory:"));
costsOfCallers("SQLite", async () => {
  const { store, statements } = openInside(":memory:");
  return { store, answers: statements };
});

describe("the caller of a runtime", () => {
  it.each([{ tenant: "" }, { tenant: 7 }, { by: "" }, { by: {} }, { tenant: "a", wrong: 1 }, null])("is refused: %j", (scope) => {
    const { runtime } = setUp();
    expect(() => runtime.scoped(scope as never)).toThrow(expect.objectContaining({ code: expect.stringMatching(/^OPTION_/) }));
  });

  it("may have a long or odd tenant: ids stay short enough for every store", async () => {
    const { runtime } = setUp();
    for (const tenant of ["x".repeat(250), 'a"/b', "\u00fc"]) {
      const scoped = runtime.scoped({ tenant });
      const run = await scoped.start("talk", { workflowId: "o".repeat(100) });
      expect(run.workflowId.length).toBeLessThanOrEqual(255);
      expect((await scoped.get("o".repeat(100))).workflowId).toBe(run.workflowId);
      expect((await scoped.get(run.workflowId)).workflowId).toBe(run.workflowId);
      expect((await run.events()).items[0]).toMatchObject({ tenant });
      await expect(runtime.scoped({ tenant: "other" }).get(run.workflowId)).rejects.toMatchObject({ code: "WORKFLOW_NOT_FOUND" });
    }
  });
});
