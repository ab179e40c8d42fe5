import { describe, expect, it } from "vitest";
import { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import type { Snapshot } from "../../src/core/snapshot/snapshot.ts";
import type { Json } from "../../src/core/values/json.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import type { SnapshotStore } from "../../src/ports/snapshot-store.ts";
import { createRuntime, type Run } from "../../src/runtime/index.ts";
import { memoryStore } from "../../src/stores/databases/memory/index.ts";

const approval = { id: "one", nodes: [{ id: "ask", type: "approval", data: { message: "?" } }], edges: [] };
const branches = {
  id: "many",
  nodes: [
    { id: "fork", type: "noop" },
    { id: "ask", type: "approval", data: { responders: ["ada"], timeout: "1h" } },
    { id: "go", type: "signal", data: { name: "go" } },
    { id: "list", type: "map", data: { items: [1, 2], open: true, workflow: "one" } },
  ],
  edges: ["ask", "go", "list"].map((target) => ({ source: "fork", target })),
};

const calls: Readonly<Record<string, (run: Run) => unknown>> = {
  resume: (run) => run.resume({ step: "ask", payload: { approved: true }, by: "ada" }),
  resumeItem: (run) => run.resume({ step: "list[1]/ask", payload: { approved: true } }),
  signal: (run) => run.signal("go", 1, { idempotencyKey: "k" }),
  cancel: (run) => run.cancel(),
  cancelStep: (run) => run.cancel({ step: "go" }),
  retry: (run) => run.retry(),
  setMetadata: (run) => run.setMetadata({ a: 1 }),
  addItem: (run) => run.addItem("list", 3),
  closeMap: (run) => run.closeMap("list"),
  fork: (run) => run.fork({ workflowId: "f" }),
  planFork: (run) => run.planFork(),
  restart: (run) => run.restart(),
  planRestart: (run) => run.planRestart(),
  explain: (run) => run.explain(),
  waits: (run) => run.waits(),
  snapshot: (run) => run.snapshot(),
};

/** What somebody may have made of a member of a row, and of a member of its paths and its children. */
const damages: readonly Json[] = [null, 5, -1, 1e300, "x", [], {}, [null], { "0": null }];

/** Returns copies of a value in each of which one member is damaged. */
function damaged<T extends object>(whole: T): T[] {
  return Object.keys(whole).flatMap((key) => damages.map((damage) => ({ ...whole, [key]: damage })));
}

/** Returns copies of an execution in each of which one member of it, of one of its paths, or of one of its children is damaged. */
function damagedRows(whole: Snapshot): Snapshot[] {
  const [first, ...others] = whole.activePaths;
  const [[key, child] = []] = Object.entries(whole.childStates ?? {});
  return [
    ...damaged(whole),
    ...damaged(first!).map((path) => ({ ...whole, activePaths: [path, ...others] })),
    ...damaged(child!).map((state) => ({ ...whole, childStates: { ...whole.childStates, [key!]: state } })),
  ];
}

describe("A24: a command to an execution whose row was damaged", () => {
  it.each(Object.entries(calls))("%s is refused with a code", async (_, call) => {
    const store = memoryStore();
    const made = createRuntime({ store, workflows: [approval, branches], nodeDefinitions: builtinNodes, drive: false });
    await made.start("many", { workflowId: "a" });
    await made.advance("a");
    const whole = (await store.load("a"))!;
    for (const hurt of damagedRows(whole)) {
      const refused = new StepfoldError("STORE_REJECTED", { store: "memory", reason: "no commit gets this far" });
      const broken: SnapshotStore = {
        ...store,
        load: async () => hurt,
        loadHead: async () => hurt,
        commit: async () => Promise.reject(refused),
      };
      const runtime = createRuntime({ store: broken, workflows: [approval, branches], nodeDefinitions: builtinNodes, drive: false });
      const error = await runtime
        .get("a")
        .then(call)
        .then(
          () => null,
          (thrown: unknown) => thrown,
        );
      expect(error === null || StepfoldError.is(error), `${JSON.stringify(hurt).slice(0, 1_000)}: ${String(error)}`).toBe(true);
    }
  });
});
