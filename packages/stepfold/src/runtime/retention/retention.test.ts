import { describe, expect, it } from "vitest";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { memoryStore } from "../../stores/databases/memory/memory-store.ts";
import { virtualEnvironment } from "../../testing/virtual-environment.ts";
import type { RuntimeOptions } from "../context/runtime-options.ts";
import { createRuntime } from "../create-runtime.ts";

const dayMs = 24 * 60 * 60_000;
const workflow = (id: string) => ({ id, nodes: [{ id: "only", type: "work" }], edges: [] });
const nodeDefinitions = { work: { executor: () => ({ data: null }) } };

function setUp(retention?: RuntimeOptions["retention"]) {
  const environment = virtualEnvironment();
  const store = memoryStore({ now: () => environment.now() });
  const workflows = [workflow("invoices"), workflow("reminders")];
  const runtime = createRuntime({
    store,
    environment,
    workflows,
    nodeDefinitions,
    pollMs: dayMs,
    ...(retention !== undefined && { retention }),
  });
  const ids = async (): Promise<string[]> => (await store.list()).items.map(({ workflowId }) => workflowId).sort();
  const finish = async (definition: string, workflowId: string): Promise<void> => {
    await (await runtime.start(definition, { workflowId })).result();
  };
  return { environment, store, runtime, ids, finish };
}

describe("retention", () => {
  it("keeps everything for ever by default", async () => {
    const { environment, ids, finish, runtime } = setUp();
    await finish("invoices", "a");
    await environment.advance(100 * dayMs);
    expect(await ids()).toEqual(["a"]);
    await runtime.close();
  });

  it("deletes what ended long enough ago, by the duration of each workflow", async () => {
    const { environment, ids, finish, runtime } = setUp({ reminders: "7d", invoices: "30d" });
    await finish("invoices", "invoice");
    await finish("reminders", "reminder");
    await environment.advance(6 * dayMs);
    expect(await ids()).toEqual(["invoice", "reminder"]);
    await environment.advance(2 * dayMs);
    expect(await ids()).toEqual(["invoice"]);
    await environment.advance(23 * dayMs);
    expect(await ids()).toEqual([]);
    await runtime.close();
  });

  it("may be one for all workflows", async () => {
    const { environment, ids, finish, runtime } = setUp(dayMs);
    await finish("invoices", "invoice");
    await finish("reminders", "reminder");
    await environment.advance(2 * dayMs);
    expect(await ids()).toEqual([]);
    await runtime.close();
  });

  it("reports a store that does not answer, and tries again later", async () => {
    const problems: unknown[] = [];
    const environment = virtualEnvironment();
    const store = memoryStore({ now: () => environment.now() });
    let away = true;
    const runtime = createRuntime({
      store: {
        ...store,
        prune: async (options) => {
          if (away) throw new StepfoldError("STORE_UNAVAILABLE", { store: "memory", reason: "away" });
          return store.prune(options);
        },
      },
      environment,
      workflows: [workflow("invoices")],
      nodeDefinitions,
      pollMs: dayMs,
      retention: "1h",
      onProblem: (_id, error) => problems.push(error),
    });
    await (await runtime.start("invoices")).result();
    await environment.advance(2 * 60 * 60_000);
    expect(problems.length).toBeGreaterThan(0);
    away = false;
    await environment.advance(20 * 60_000);
    expect((await store.list()).items).toEqual([]);
    await runtime.close();
  });

  it("is refused if it is no duration", () => {
    expect(() => setUp({ invoices: "for ever" })).toThrow(
      expect.objectContaining({ code: "OPTION_INVALID", details: expect.objectContaining({ option: "retention.invoices" }) }),
    );
    expect(() => setUp(-1)).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
  });
});
