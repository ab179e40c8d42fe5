import type { Event, Snapshot } from "stepfold";
import { describe, expect, it } from "vitest";
import { eventLine } from "./event-line.ts";
import { plainPaint } from "./paint.ts";

const step = { pathId: "0", turn: 1, nodeId: "charge", attempt: 1, startedAt: 1_000, at: 1_012, version: 3 };
const error = { name: "Error", message: "Request failed\nwith status 503" };
const line = (event: Event): string | null =>
  eventLine(
    event,
    { activePaths: [{ id: "0", nodeId: "charge" }] as unknown as Snapshot["activePaths"] },
    { paint: plainPaint, nodeWidth: 8 },
  );

describe("eventLine", () => {
  it("says what a step came to", () => {
    expect(line({ ...step, type: "completed", output: 1 })).toBe("✔ charge    12 ms");
    expect(line({ ...step, type: "completed", output: 1, attempt: 3, handles: ["auth-error"] })).toBe(
      "✔ charge    attempt 3  12 ms  → auth-error",
    );
    expect(line({ ...step, type: "failed", error, retryAt: 1_412 })).toBe(
      "✖ charge    attempt 1  12 ms  Request failed with status 503  retry in 0.4 s",
    );
    expect(line({ ...step, type: "failed", error, retryAt: null, handle: "error" })).toBe(
      "✖ charge    attempt 1  12 ms  Request failed with status 503  → error",
    );
  });

  it("says what a step waits for", () => {
    const suspended = { ...step, type: "suspended" } as const;
    expect(line({ ...suspended, waits: [{ id: "0@2", kind: "timer", resumeAt: 3_512 }] })).toBe("⧗ charge    waits 2.5 s");
    const payload = { type: "approval", title: "Pay?", message: "879 EUR" };
    expect(line({ ...suspended, waits: [{ id: "0@2", kind: "external", payload, timeoutAt: 61_012 }] })).toBe(
      '⏸ charge    waits for an answer, for 1 min: "Pay?: 879 EUR"',
    );
    expect(line({ ...suspended, waits: [{ id: "0@2", kind: "external", payload: [1] }] })).toBe("⏸ charge    waits for an answer: [1]");
    expect(line({ ...suspended, waits: [{ id: "0@2", kind: "external" }] })).toBe("⏸ charge    waits for an answer");
  });

  it("says what happened to a wait, a retry and the whole", () => {
    const stamp = { version: 4, at: 2_000 };
    const resumed = { ...stamp, type: "resumed", pathId: "0", waitId: "0@2" } as const;
    expect(line({ ...resumed, by: "timer" })).toBe("▶ charge    the time has come");
    expect(line({ ...resumed, by: "payload", who: "ada", payload: { ok: true } })).toBe('▶ charge    is answered by ada: {"ok":true}');
    expect(line({ ...stamp, type: "timedOut", pathId: "0", nodeId: "charge", attempt: 1, waitId: "0@2", error, handle: "timeout" })).toBe(
      "✖ charge    nobody answered in time  → timeout",
    );
    expect(line({ ...stamp, type: "retried", pathId: "0" })).toBe("↻ charge    is retried at once");
    expect(line({ ...stamp, type: "cancelled", reason: "enough" })).toBe("■ cancelled  enough");
    expect(line({ ...stamp, type: "cancelled" })).toBe("■ cancelled");
  });
});
