import { describe, expect, it } from "vitest";
import { at, engineOf } from "../../../test/core/explain.fixture.ts";
import { flow } from "../../../test/nodes/workflow.fixture.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { explain } from "./explain.ts";
import { withoutMessages } from "./without-messages.ts";

/** What must not be shown. */
const canary = "canary 4711";
const error = { name: "Error", message: canary, code: "DECLINED", details: { card: canary }, stack: canary };

/** Executions whose failures are told in a sentence, each with this sentence without messages. */
const silent: readonly (readonly [string, Partial<Snapshot>, string])[] = [
  ["failed", { status: "failed", error: { ...error, nodeId: "charge" } }, "Failed at charge (DECLINED)."],
  ["cancelled", { status: "cancelled", error: { ...error, code: "EXECUTION_CANCELLED" } }, "Cancelled."],
  [
    "not undone",
    {
      status: "failed",
      error,
      compensations: [
        { nodeId: "ship", output: null, timestamp: 1, attempt: 1, version: 3, error: canary, undoes: { pathId: "0", version: 2 } },
      ],
    },
    "Failed (DECLINED); not undone: ship.",
  ],
  [
    "parked",
    { ...at({ nodeId: "a", status: "ready" }), status: "parked", parked: { code: "WORKER_CRASHED", message: canary, at: 1 } },
    "Parked (WORKER_CRASHED); it goes on after a retry command. a is ready to run.",
  ],
  [
    "about to fail",
    { ...at({ nodeId: "a", status: "ready" }), error: { ...error, cause: { ...error, item: 3 } } },
    "Will fail (DECLINED), once its other paths have ended: a is ready to run.",
  ],
  [
    "closing",
    { ...at({ nodeId: "a", status: "ready" }), closing: { status: "failed", nodeId: "charge", error } },
    'Failed at charge (DECLINED); its "finally" nodes run: a is ready to run.',
  ],
  [
    "undoing",
    { ...at({ nodeId: "a", status: "ready" }), ending: { status: "failed", nodeId: "charge", error, begun: [] } },
    "Failed at charge (DECLINED); its steps are being undone: a is ready to run.",
  ],
  [
    "a decision",
    at({ nodeId: "a", status: "suspended", waits: [{ id: "0.0@2", kind: "incident", payload: { error, attempt: 1 } }] }),
    "a waits for a decision about its failure (retry, skip or fail).",
  ],
  [
    "a refused answer",
    at({
      nodeId: "a",
      status: "suspended",
      waits: [{ id: "0.0@2", kind: "external", refused: { at: 1, who: "ada", issues: [{ pointer: "/x", message: canary }] } }],
    }),
    "a waits for an answer (the answer of ada was refused).",
  ],
];

describe("an explanation without messages", () => {
  it.each(silent)("names node and code: %s", (_name, part, sentence) => {
    const snapshot = { ...at(), currentNodeId: null, ...part } as Snapshot;
    expect(JSON.stringify(explain(snapshot))).toContain(canary);
    const told = explain(snapshot, undefined, { messages: false });
    expect(told.sentence).toBe(sentence);
    expect(JSON.stringify(told)).not.toContain(canary);
    expect(JSON.stringify(withoutMessages(snapshot))).not.toContain(canary);
  });

  it("does not say why an attempt failed, in the execution and in an item of a map", async () => {
    const each = flow("each", { a: "flaky" });
    const map = flow("w", { m: ["map", { workflow: "each", items: [1] }] }, [], { workflows: { each } });
    for (const workflow of [flow("w", { a: "flaky" }), map]) {
      const snapshot = await engineOf(workflow).execute({});
      expect(JSON.stringify(explain(snapshot))).toContain("closed");
      const told = explain(snapshot, undefined, { messages: false });
      expect(JSON.stringify(told)).not.toContain("closed");
      expect(told.places.at(-1)!.sentence).toMatch(/^failed \(attempt 1\); is tried again at /);
    }
  });

  it("leaves what has no message", () => {
    const done = { nodeId: "ship", output: null, timestamp: 1, attempt: 1, version: 3, undoes: { pathId: "0", version: 2 } };
    const path = { nodeId: "a", status: "retrying", nextRetryAt: 1 };
    const result = { output: 1, timestamp: 1, attempt: 1, pathId: "0", version: 1 };
    for (const results of [[], [result]]) {
      const snapshot = { ...at(path), context: { a: results }, compensations: [done] } as unknown as Snapshot;
      expect(withoutMessages(snapshot)).toEqual(snapshot);
    }
  });

  it("leaves the snapshot as it was, and keeps results", async () => {
    const snapshot = await engineOf(flow("w", { a: "flaky" })).execute({});
    const before = JSON.stringify(snapshot);
    expect(withoutMessages(snapshot).context.a).toHaveLength(1);
    expect(JSON.stringify(snapshot)).toBe(before);
  });
});
