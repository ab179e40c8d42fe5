import type { Snapshot } from "stepfold";
import { describe, expect, it } from "vitest";
import { waitsFor } from "./waits-for.ts";

const now = 1_000_000;
const suspended = (...waits: object[]): object => ({
  id: "0",
  nodeId: "n",
  status: "suspended",
  waits: waits.map((wait) => ({ id: "0@2", ...wait })),
});
const told = (status: string, ...activePaths: object[]): string => waitsFor({ status, activePaths } as unknown as Snapshot, now);

describe("waitsFor", () => {
  it("says in a few words what moves an execution", () => {
    expect(told("paused", suspended({ kind: "external", responders: ["ada"] }))).toBe("an answer from ada");
    expect(told("paused", suspended({ kind: "signal", signal: "paid", key: "o-7" }))).toBe('the signal "paid" with the key "o-7"');
    expect(told("paused", suspended({ kind: "external" }), suspended({ kind: "external" }, { kind: "signal", signal: "x" }))).toBe(
      "2 answers, 1 signal",
    );
    expect(told("paused", suspended({ kind: "timer", resumeAt: now + 5_000 }))).toBe("a time in 5.0 s");
    expect(told("paused", suspended({ kind: "timer", resumeAt: now - 1 }))).toBe("a time overdue");
    const retrying = { id: "0", nodeId: "n", status: "retrying", nextRetryAt: now + 60_000 };
    expect(told("error", retrying, suspended({ kind: "external", timeoutAt: now + 1 }))).toBe("an answer, a retry in 1 min");
  });

  it("says by when an execution must have ended", () => {
    const limited = (deadlineAt: number, more: object = {}): string =>
      waitsFor({ status: "paused", activePaths: [suspended({ kind: "external" })], deadlineAt, ...more } as unknown as Snapshot, now);
    expect(limited(now + 60_000)).toBe("an answer, must end in 1 min");
    expect(limited(now)).toBe("an answer, must have ended");
    expect(limited(now, { ending: { status: "failed" } })).toBe("an answer");
  });

  it("says nothing of what just runs, is held, or has ended", () => {
    expect(told("active", { id: "0", nodeId: "n", status: "ready" })).toBe("");
    expect(told("paused", { id: "0", nodeId: "n", status: "held" })).toBe("");
    expect(told("completed")).toBe("");
  });
});
