import { describe, expect, it } from "vitest";
import { readSnapshot } from "../../src/core/reading/read-snapshot.ts";
import { apply, fold } from "../../src/core/transition/apply.ts";
import { wakeAt } from "../../src/core/transition/draft/draft-status.ts";
import { openDraft } from "../../src/core/transition/draft/open-draft.ts";
import { due, plan } from "../../src/core/transition/plan.ts";
import { takeCheckpoint } from "../../src/core/transition/take-checkpoint.ts";
import { completing, graph, startedAt } from "./execution.fixture.ts";

const flow = graph(["a>b"]);
const held = graph(["a>b"], [{ id: "a", type: "noop", when: "{{ false }}" }]);

describe("an execution that begins later", () => {
  it("waits for its time, and then performs its first node as if it had begun then", () => {
    const later = fold(flow, [startedAt(flow, "a", { startAt: 5_000 })]);
    expect(later).toMatchObject({
      status: "paused",
      activePaths: [{ id: "0", nodeId: "a", status: "suspended", waits: [{ id: "0@2", kind: "timer", resumeAt: 5_000, begins: true }] }],
    });
    expect(readSnapshot(JSON.parse(JSON.stringify(later)), flow)).toEqual(later);
    expect(wakeAt(openDraft(flow, later))).toBe(5_000);
    expect(due(openDraft(flow, later), 4_999)).toBeNull();
    const begun = apply(flow, later, due(openDraft(flow, later), 5_000)!);
    const [path] = begun.activePaths;
    expect(path).toMatchObject({ status: "ready", attempts: 0 });
    expect(path).not.toHaveProperty("resumed");
    expect(begun.sizeBytes).toBe(fold(flow, [startedAt(flow, "a")]).sizeBytes);
    expect(plan(begun, 5_000)).toMatchObject([{ nodeId: "a", attempt: 1 }]);
    expect(completing(flow, begun, "0", "x", "y")).toMatchObject({ status: "completed", output: "y" });
  });

  it("has the deadline that its start says, also one that goes on from another execution", () => {
    const limits = { deadlineAt: 9_000, givenTime: { deadlineAt: 9_000, timeoutMs: 8_000 } } as const;
    const first = fold(flow, [startedAt(flow, "a", limits)]);
    expect(first).toMatchObject(limits);
    const checkpoint = takeCheckpoint(first, { reason: "fork", laterMs: 50, runsCode: false });
    expect(fold(flow, [startedAt(flow, "a", { checkpoint, ...limits })])).toMatchObject(limits);
    expect(fold(flow, [startedAt(flow, "a", { checkpoint })])).not.toHaveProperty("deadlineAt");
  });

  it("is held by what holds its first node", () => {
    const later = fold(held, [startedAt(held, "a", { startAt: 5_000 })]);
    const begun = apply(held, later, due(openDraft(held, later), 5_000)!);
    expect(begun).toMatchObject({ status: "failed", error: { code: "STALLED" } });
  });
});
