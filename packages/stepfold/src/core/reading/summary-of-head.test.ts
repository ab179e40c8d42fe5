import { describe, expect, it } from "vitest";
import { at, engineOf } from "../../../test/core/explain.fixture.ts";
import { flow } from "../../../test/nodes/workflow.fixture.ts";
import type { Wait } from "../snapshot/parts/wait.ts";
import type { ActivePath, Snapshot } from "../snapshot/snapshot.ts";
import { summaryOfHead } from "./summary-of-head.ts";

const place: ActivePath = { id: "0", nodeId: "approve", status: "suspended", turn: 1, visit: 0, attempts: 0, since: 1, stepPath: [] };
const waitingFor = (...waits: Wait[]): ActivePath => ({ ...place, waits });
const summaryOf = (...activePaths: ActivePath[]) => summaryOfHead({ currentNodeId: "approve", activePaths, steps: 2 });
const stateOf = (snapshot: object) => summaryOfHead({ steps: 0, currentNodeId: null, ...snapshot } as unknown as Snapshot);

describe("the summary of a head", () => {
  it("says what it waits for first, how many waits are open, and when the first of them is over", () => {
    const other = { ...waitingFor({ id: "1@1", kind: "signal", signal: "paid", timeoutAt: 50 }), nodeId: "pay" };
    expect(
      summaryOf(place, waitingFor({ id: "0@1", kind: "external", timeoutAt: 70 }, { id: "0@1#2", kind: "timer", resumeAt: 60 }), other),
    ).toEqual({
      currentNodeId: "approve",
      waiting: { kind: "external", nodeId: "approve", until: 50, count: 3 },
      error: null,
      steps: 2,
    });
  });

  it("has no time where no wait has one, and nothing where there is no wait", () => {
    expect(summaryOf(waitingFor({ id: "0@1", kind: "external" })).waiting).toEqual({
      kind: "external",
      nodeId: "approve",
      until: null,
      count: 1,
    });
    expect(summaryOf(place).waiting).toBeNull();
  });

  it("says by when it must have ended", () => {
    expect(summaryOfHead({ currentNodeId: "approve", activePaths: [place], steps: 2, deadlineAt: 5_000 })).toMatchObject({
      deadlineAt: 5_000,
    });
  });

  it("has the error without its details", () => {
    const error = { name: "TypeError", message: "no number", code: "E_NONE", nodeId: "ship", details: { x: 1 }, stack: "at" };
    const { details: _, stack: __, ...short } = error;
    expect(summaryOfHead({ currentNodeId: null, activePaths: [], steps: 0, error }).error).toEqual(short);
    expect(summaryOfHead({ currentNodeId: null, activePaths: [], steps: 0, error: { name: "E", message: "m" } }).error).toEqual({
      name: "E",
      message: "m",
    });
  });

  it("has the pending retry that is due first, with the number of its attempt", () => {
    const later = { nodeId: "b", status: "retrying", attempts: 1, nextRetryAt: 900 };
    const first = { nodeId: "c", status: "retrying", attempts: 4, nextRetryAt: 100 };
    expect(stateOf(at({ nodeId: "a", status: "ready" }, later, first)).retry).toEqual({ nodeId: "c", attempt: 5, at: 100 });
    expect(stateOf(at({ nodeId: "a", status: "ready" }))).not.toHaveProperty("retry");
  });

  it("says why it is parked, and until when", () => {
    const parked = { code: "WORKER_CRASHED", message: "Its workers died.", at: 7 };
    expect(stateOf({ ...at(), parked }).parked).toEqual({ code: parked.code, message: parked.message });
    expect(stateOf({ ...at(), parked: { ...parked, until: 9 } }).parked).toEqual({
      code: parked.code,
      message: parked.message,
      until: 9,
    });
    expect(stateOf(at())).not.toHaveProperty("parked");
  });

  it("does not show a reason that an older version has encrypted as a whole", () => {
    expect(stateOf({ ...at(), parked: { "~stepfold/encrypted": 1, data: "xyz" } })).not.toHaveProperty("parked");
  });

  it("counts the items of a map that is under way", async () => {
    const each = flow("each", { a: "approval" });
    const workflow = flow("w", { m: ["map", { workflow: "each", items: [1, 2, 3] }] }, [], { workflows: { each } });
    const snapshot = await engineOf(workflow).execute({});
    expect(summaryOfHead(snapshot).items).toEqual({ nodeId: "m", total: 3, done: 0, failed: 0, cancelled: 0 });
    expect(stateOf(at())).not.toHaveProperty("items");
  });
});
