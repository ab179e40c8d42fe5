import type { ActivePath, Snapshot, Wait } from "stepfold";
import { describe, expect, it } from "vitest";
import { isDue, stands } from "./standing.ts";

const now = 1_000_000;
const path = (status: ActivePath["status"], more: Partial<ActivePath> = {}): ActivePath => ({ status, ...more }) as ActivePath;
const waiting = (...waits: readonly Partial<Wait>[]): ActivePath =>
  path("suspended", { waits: waits.map((wait) => ({ id: "0@2", kind: "external", ...wait })) });
const snapshot = (...activePaths: readonly ActivePath[]): Snapshot => ({ status: "paused", activePaths }) as unknown as Snapshot;

describe("stands", () => {
  it("where an execution waits for people only", () => {
    expect(stands(snapshot(waiting({})), now)).toBe(true);
    expect(stands(snapshot(waiting({ timeoutAt: now + 10 })), now)).toBe(true);
    expect(stands({ ...snapshot(), status: "failed" }, now)).toBe(true);
  });

  it("not while anything runs, or moves soon", () => {
    expect(stands(snapshot(waiting({}), path("ready")), now)).toBe(false);
    expect(stands(snapshot(waiting({}), path("retrying", { nextRetryAt: now + 5_000 })), now)).toBe(false);
    expect(stands(snapshot(waiting({}), waiting({ kind: "timer", resumeAt: now + 5_000 })), now)).toBe(false);
    expect(stands(snapshot(waiting({ kind: "timer", resumeAt: now + 5_000 })), now)).toBe(false);
    expect(stands(snapshot(waiting({ timeoutAt: now })), now)).toBe(false);
  });

  it("where a timer is far away and somebody can answer meanwhile", () => {
    expect(stands(snapshot(waiting({}), waiting({ kind: "timer", resumeAt: now + 3_600_000 })), now)).toBe(true);
    expect(stands(snapshot(waiting({ kind: "timer", resumeAt: now + 3_600_000 })), now)).toBe(false);
  });
});

describe("isDue", () => {
  it("tells a step that could run from one that waits", () => {
    expect(isDue(snapshot(path("ready")), now)).toBe(true);
    expect(isDue(snapshot(path("retrying", { nextRetryAt: now })), now)).toBe(true);
    expect(isDue(snapshot(path("retrying", { nextRetryAt: now + 1 }), waiting({})), now)).toBe(false);
  });
});
