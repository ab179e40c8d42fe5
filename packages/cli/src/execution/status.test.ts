import type { ActivePath, Snapshot, Wait } from "stepfold";
import { describe, expect, it } from "vitest";
import { canRunNow, hasNothingToWaitFor } from "./status.ts";

const now = 1_000_000;
const path = (status: ActivePath["status"], more: Partial<ActivePath> = {}): ActivePath => ({ status, ...more }) as ActivePath;
const waiting = (...waits: readonly Partial<Wait>[]): ActivePath =>
  path("suspended", { waits: waits.map((wait) => ({ id: "0@2", kind: "external", ...wait })) });
const snapshot = (...activePaths: readonly ActivePath[]): Snapshot => ({ status: "paused", activePaths }) as unknown as Snapshot;

describe("hasNothingToWaitFor", () => {
  it("where an execution waits for people only", () => {
    expect(hasNothingToWaitFor(snapshot(waiting({})), now)).toBe(true);
    expect(hasNothingToWaitFor(snapshot(waiting({ timeoutAt: now + 10 })), now)).toBe(true);
    expect(hasNothingToWaitFor({ ...snapshot(), status: "failed" }, now)).toBe(true);
  });

  it("not while anything runs, or moves soon", () => {
    expect(hasNothingToWaitFor(snapshot(waiting({}), path("ready")), now)).toBe(false);
    expect(hasNothingToWaitFor(snapshot(waiting({}), path("retrying", { nextRetryAt: now + 5_000 })), now)).toBe(false);
    expect(hasNothingToWaitFor(snapshot(waiting({}), waiting({ kind: "timer", resumeAt: now + 5_000 })), now)).toBe(false);
    expect(hasNothingToWaitFor(snapshot(waiting({ kind: "timer", resumeAt: now + 5_000 })), now)).toBe(false);
    expect(hasNothingToWaitFor(snapshot(waiting({ timeoutAt: now })), now)).toBe(false);
  });

  it("where a timer is far away and somebody can answer meanwhile", () => {
    expect(hasNothingToWaitFor(snapshot(waiting({}), waiting({ kind: "timer", resumeAt: now + 3_600_000 })), now)).toBe(true);
    expect(hasNothingToWaitFor(snapshot(waiting({ kind: "timer", resumeAt: now + 3_600_000 })), now)).toBe(false);
  });
});

describe("hasNothingToWaitFor, with children", () => {
  const childOf = (status: Snapshot["status"], child: object): Snapshot =>
    ({ ...snapshot(path("suspended")), status, childStates: { "0#1/3": child } }) as unknown as Snapshot;

  it("where one of them waits for an answer, a signal or another execution", () => {
    for (const kind of ["external", "signal", "child"] as const)
      expect(hasNothingToWaitFor(childOf("paused", { activePaths: [waiting({ kind })] }), now)).toBe(true);
    for (const kind of ["timer", "children"] as const)
      expect(hasNothingToWaitFor(childOf("paused", { activePaths: [waiting({ kind, timeoutAt: now + 5_000 })] }), now)).toBe(false);
  });

  it("not while one of them runs, but an item without a place does not", () => {
    expect(hasNothingToWaitFor(childOf("active", { activePaths: [waiting({})] }), now)).toBe(false);
    const retrying = path("retrying", { nextRetryAt: now + 3_600_000 });
    const stuck = { ...snapshot(waiting({}), retrying), childStates: { "0#1/4": { activePaths: [path("ready")], queued: 7 } } };
    expect(hasNothingToWaitFor({ ...stuck, status: "error" } as unknown as Snapshot, now)).toBe(true);
    expect(canRunNow({ ...stuck, status: "error" } as unknown as Snapshot, now)).toBe(false);
    expect(canRunNow(childOf("active", { activePaths: [path("ready")] }), now)).toBe(true);
  });
});

describe("canRunNow", () => {
  it("tells a step that could run from one that waits", () => {
    expect(canRunNow(snapshot(path("ready")), now)).toBe(true);
    expect(canRunNow(snapshot(path("retrying", { nextRetryAt: now })), now)).toBe(true);
    expect(canRunNow(snapshot(path("retrying", { nextRetryAt: now + 1 }), waiting({})), now)).toBe(false);
  });
});
