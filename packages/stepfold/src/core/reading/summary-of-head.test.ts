import { describe, expect, it } from "vitest";
import type { Wait } from "../snapshot/parts/wait.ts";
import type { ActivePath } from "../snapshot/snapshot.ts";
import { summaryOfHead } from "./summary-of-head.ts";

const place: ActivePath = { id: "0", nodeId: "approve", status: "suspended", turn: 1, visit: 0, attempts: 0, since: 1, stepPath: [] };
const waitingFor = (...waits: Wait[]): ActivePath => ({ ...place, waits });
const summaryOf = (...activePaths: ActivePath[]) => summaryOfHead({ currentNodeId: "approve", activePaths, steps: 2 });

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
});
