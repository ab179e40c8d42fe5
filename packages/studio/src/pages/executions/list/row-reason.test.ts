import type { ListedExecution } from "stepfold/client";
import { describe, expect, test } from "vitest";
import { noon, rowOf } from "../../../../test/rows.fixture.ts";
import { reasonOf, reasonText } from "./row-reason.ts";

const hour = 3_600_000;
const says = (given: Partial<ListedExecution>, now = noon, toldAt = now): string =>
  reasonText(reasonOf(rowOf({ workflowId: "order-1", ...given }), { now, toldAt }));
const approve = { kind: "external", nodeId: "approve", responders: ["ada"] } as const;
const waitsForAda = {
  status: "paused",
  waits: [approve],
  waiting: { kind: "external", nodeId: "approve", until: noon + 2 * hour, count: 1 },
} as const;

describe("where an execution stands, and why", () => {
  test("somebody must answer, and how much time is left", () => {
    expect(says(waitsForAda)).toBe("approve waits for ada, 2:00:00 left");
  });

  test("the name of the node is a part of its own", () => {
    const parts = reasonOf(rowOf({ workflowId: "order-1", ...waitsForAda }), { now: noon, toldAt: noon });
    expect(parts[0]).toEqual({ kind: "node", text: "approve" });
  });

  test("an answer without named people, without a deadline", () => {
    const waiting = { kind: "external", nodeId: "approve", until: null, count: 1 } as const;
    expect(says({ status: "paused", waits: [{ kind: "external", nodeId: "approve" }], waiting })).toBe("approve waits for an answer");
  });

  test("of many people two are named", () => {
    const waits = [{ ...approve, responders: ["ada", "bob", "cy", "dan", "eve"] }];
    expect(says({ ...waitsForAda, waits })).toBe("approve waits for ada, bob or 3 others, 2:00:00 left");
  });

  test("with several waits the one is named that needs somebody, and no deadline that may be another's", () => {
    const waits = [{ kind: "timer", nodeId: "pause" }, { kind: "signal", nodeId: "confirm", signal: "payment" }, approve] as const;
    expect(says({ status: "paused", waits, waiting: { kind: "timer", nodeId: "pause", until: noon + hour, count: 3 } })).toBe(
      "approve waits for ada, and 2 more waits",
    );
  });

  test("the items of a map stand behind the wait", () => {
    const items = { nodeId: "pack", total: 2_400, done: 812, failed: 1, cancelled: 0 };
    expect(says({ ...waitsForAda, items })).toBe("approve waits for ada, 2:00:00 left; pack 812 of 2,400 items, 1 failed");
  });

  test("a decision about a failure comes before an answer", () => {
    expect(says({ status: "paused", waits: [approve, { kind: "incident", nodeId: "charge" }] })).toBe(
      "charge failed and waits for a decision, and 1 more wait",
    );
  });

  test("who can move it comes before a retry", () => {
    expect(says({ ...waitsForAda, status: "error", retry: { nodeId: "charge", attempt: 2, at: noon + 4_000 } })).toMatch(/^approve waits/);
  });

  test("a retry, its attempt and its time", () => {
    expect(says({ status: "error", retry: { nodeId: "charge", attempt: 4, at: noon + 31_000 } })).toBe("charge failed, attempt 4 in 0:31");
    expect(says({ status: "error", retry: { nodeId: "charge", attempt: 4, at: noon - 1 } })).toBe("charge failed, attempt 4 now");
  });

  test("a parked execution says its code, and what it waits for", () => {
    expect(says({ status: "parked", currentNodeId: "pack", parked: { code: "WORKER_CRASHED", message: "three times" } })).toBe(
      "pack WORKER_CRASHED: three times; until somebody retries it",
    );
    expect(
      says({ status: "parked", currentNodeId: "pack", parked: { code: "DEFINITION_MISSING", message: "", until: noon + 60_000 } }),
    ).toBe("pack DEFINITION_MISSING; tried again in 1:00");
  });

  test("a failure says node, code and message; without the right to see messages only the code", () => {
    const error = { name: "Error", code: "DECLINED", message: "card_expired", nodeId: "charge" };
    expect(says({ status: "failed", error })).toBe("charge DECLINED: card_expired");
    expect(says({ status: "failed", error: { ...error, message: "" } })).toBe("charge DECLINED");
    expect(says({ status: "failed", error: { name: "TypeError", message: "x is not a function" } })).toBe("TypeError: x is not a function");
  });

  test("the items of a map", () => {
    expect(says({ items: { nodeId: "pack", total: 2_400, done: 812, failed: 1, cancelled: 0 } })).toBe("pack 812 of 2,400 items, 1 failed");
  });

  test("what has ended says how many steps it took, and how long", () => {
    expect(says({ status: "completed", steps: 1, updatedAt: noon + 130_000 })).toBe("1 step, 2 m 10 s");
    expect(says({ status: "cancelled", currentNodeId: "ship", steps: 2, updatedAt: noon + 500 })).toBe("ship after 2 steps, 500 ms");
    const error = { name: "CancelledError", code: "EXECUTION_CANCELLED", message: "customer called" };
    expect(says({ status: "cancelled", currentNodeId: "ship", steps: 2, updatedAt: noon + 500, error })).toBe(
      "ship “customer called”, after 2 steps, 500 ms",
    );
  });

  test("a signal, with its key", () => {
    expect(says({ status: "paused", waits: [{ kind: "signal", nodeId: "confirm", signal: "payment", key: "4417" }] })).toBe(
      "confirm waits for the signal payment of 4417",
    );
  });

  test("a timer that runs, and one that nobody has taken", () => {
    const timer = (until: number): string =>
      says({
        status: "paused",
        waits: [{ kind: "timer", nodeId: "settle" }],
        waiting: { kind: "timer", nodeId: "settle", until, count: 1 },
      });
    expect(timer(noon + 5_000)).toBe("settle goes on in 0:05");
    expect(timer(noon - 5_000)).toMatch(/^settle was due at \d\d:59:55, and nobody has taken it yet$/);
  });

  test("a row that was told before its time, or long ago, does not claim that nobody has taken it", () => {
    const timer = {
      status: "paused",
      waits: [{ kind: "timer", nodeId: "settle" }],
      waiting: { kind: "timer", nodeId: "settle", until: noon, count: 1 },
    } as const;
    expect(says(timer, noon + 4_000, noon - 1)).toMatch(/^settle was due at \d\d:00:00$/);
    expect(says(timer, noon + 4_000, noon + 2_000)).toMatch(/and nobody has taken it yet$/);
    expect(says(timer, noon + 20_000, noon + 2_000)).toMatch(/^settle was due at \d\d:00:00$/);
    const due = { currentNodeId: "build", wakeAt: 0 };
    expect(says(due, noon + 200)).toBe("build is due");
    expect(says(due, noon + 2_000)).toBe("build is due, and nobody has taken it yet");
    expect(says(due, noon + 60_000, noon + 2_000)).toBe("build is due");
    const retry = { status: "error", retry: { nodeId: "charge", attempt: 4, at: noon } } as const;
    expect(says(retry, noon + 60_000, noon - 1)).toMatch(/^charge failed, attempt 4 at \d\d:00:00$/);
    expect(says(waitsForAda, noon + 3 * hour, noon)).toMatch(/^approve waits for ada, until \d\d:00:00$/);
  });

  test("who holds it; of a lease that has ended it says since when, and whether that is sure", () => {
    const lease = { owner: "worker-3", until: noon + 1_000, crashes: 0 };
    expect(says({ currentNodeId: "render", lease, wakeAt: 0 })).toBe("render held by worker-3");
    const generated = { ...lease, owner: "01a226a2-263a-73bc-ba4d-6f427ae25b0e" };
    expect(says({ currentNodeId: "render", lease: generated, wakeAt: 0 })).toBe("render held by 01a2…7ae25b0e");
    const ended = { currentNodeId: "render", lease: { ...lease, until: noon - 1_000 }, wakeAt: 0 };
    expect(says(ended)).toMatch(/^render was held by worker-3 until \d\d:59:59, and nobody has taken it yet$/);
    expect(says(ended, noon, noon - 2_000)).toMatch(/^render was held by worker-3 until \d\d:59:59$/);
    expect(says(ended, noon + 60_000, noon)).toBe("render is due");
  });

  test("it begins later", () => {
    expect(says({ currentNodeId: "build", wakeAt: noon + hour })).toBe("build goes on in 1:00:00");
  });
});
