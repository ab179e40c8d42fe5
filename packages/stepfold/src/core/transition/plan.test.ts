import { describe, expect, it } from "vitest";
import { completing, eventOn, graph, startedAt } from "../../../test/core/execution.fixture.ts";
import type { Wait } from "../snapshot/parts/wait.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { apply, fold } from "./apply.ts";
import { begin } from "./begin.ts";
import { closedHead } from "./draft/close-draft.ts";
import { earliestRetry } from "./draft/draft-path.ts";
import { wakeAt } from "./draft/draft-status.ts";
import { openDraft } from "./draft/open-draft.ts";
import { due, plan, planDraft } from "./plan.ts";

const flow = graph(["f>a", "f>b", "f>c"]);
const forked = completing(flow, fold(flow, [startedAt(flow, "f")]), "0", "x");
/** Path 0 is ready at a, path 0.1 is retrying at b (due at 5,000), path 0.2 is suspended at c with the given waits. */
const mixed = (...waits: Wait[]): Snapshot => {
  const retrying = apply(flow, forked, eventOn(forked, "0.1", { error: "busy", retryAt: 5_000 }));
  return apply(flow, retrying, eventOn(retrying, "0.2", { waits }));
};

const planned = (snapshot: Snapshot, early: string | null): string[] => {
  const paths: string[] = [];
  planDraft(openDraft(flow, snapshot), 0, early, ({ pathId }) => {
    paths.push(pathId);
    return true;
  });
  return paths;
};

describe("plan", () => {
  it("gives a task for every path that is ready, in their order", () => {
    expect(
      plan(forked, 0).map(({ pathId, turn, visit, nodeId, attempt, since }) => ({ pathId, turn, visit, nodeId, attempt, since })),
    ).toEqual([
      { pathId: "0", turn: 2, visit: 2, nodeId: "a", attempt: 1, since: 1 },
      { pathId: "0.1", turn: 1, visit: 1, nodeId: "b", attempt: 1, since: 1 },
      { pathId: "0.2", turn: 1, visit: 1, nodeId: "c", attempt: 1, since: 1 },
    ]);
  });

  it("leaves retries until their time, and waits alone", () => {
    const snapshot = mixed({ id: "0.2@2", kind: "external" });
    expect(plan(snapshot, 4_999).map(({ pathId }) => pathId)).toEqual(["0"]);
    expect(plan(snapshot, 5_000).map(({ pathId, attempt }) => [pathId, attempt])).toEqual([
      ["0", 1],
      ["0.1", 2],
    ]);
    expect(planned(snapshot, "0.1@2")).toEqual(["0", "0.1"]);
    expect(planned(snapshot, "0.1@1")).toEqual(["0"]);
  });

  it("makes a retry without a time at once", () => {
    expect(
      plan({ activePaths: [{ ...mixed({ id: "w", kind: "timer" }).activePaths[1]!, nextRetryAt: undefined } as never] }, 0),
    ).toHaveLength(1);
  });

  it("has nothing for an execution that has ended", () => {
    expect(plan(apply(flow, forked, { type: "cancelled", version: 2, at: 0 }), 9e15)).toEqual([]);
  });
});

describe("earliestRetry", () => {
  it("finds the retry that comes first; of two at once the older path", () => {
    const path = (id: string, nextRetryAt?: number, status = "retrying"): never => ({ id, status, nextRetryAt }) as never;
    expect(earliestRetry([path("0", 9), path("1", 5), path("2", 5), path("3", 1, "suspended")])).toMatchObject({ id: "1" });
    expect(earliestRetry([path("0", 9), path("1")])).toMatchObject({ id: "1" });
    expect(earliestRetry([path("0"), path("1")])).toMatchObject({ id: "0" });
    expect(earliestRetry([path("0", 1, "ready")])).toBeNull();
  });
});

describe("due", () => {
  const dueOf = (now: number, ...waits: Wait[]): unknown => {
    return due(openDraft(flow, mixed(...waits)), now);
  };

  it("is nothing before the time", () => {
    expect(dueOf(999, { id: "w", kind: "external", resumeAt: 1_000, timeoutAt: 1_500 })).toBeNull();
    expect(dueOf(9e15, { id: "w", kind: "external" })).toBeNull();
  });

  it("resumes by timer when its time has come", () => {
    expect(dueOf(1_000, { id: "w", kind: "timer", resumeAt: 1_000 })).toEqual({
      type: "resumed",
      version: 4,
      at: 1_000,
      pathId: "0.2",
      waitId: "w",
      by: "timer",
    });
  });

  it("lets the earlier of two times win, and the timeout on a tie", () => {
    expect(dueOf(2_000, { id: "w", kind: "external", resumeAt: 1_000, timeoutAt: 1_500 })).toMatchObject({ type: "resumed" });
    expect(dueOf(2_000, { id: "w", kind: "external", resumeAt: 1_500, timeoutAt: 1_000 })).toMatchObject({ type: "timedOut" });
    expect(dueOf(2_000, { id: "w", kind: "external", resumeAt: 1_000, timeoutAt: 1_000 })).toMatchObject({ type: "timedOut" });
  });

  it("takes the timer that came first, over all paths", () => {
    const waits = (id: string, resumeAt: number): never =>
      ({ id, nodeId: "c", attempts: 0, stepPath: [], waits: [{ id: `${id}@1`, kind: "timer", resumeAt }] }) as never;
    const activePaths = [waits("0", 9), waits("1", 5), waits("2", 5)];
    expect(due(openDraft(flow, { ...forked, activePaths }), 10)).toMatchObject({ pathId: "1" });
  });

  it.each([
    [["c>x@timeout", "c>x@error"], "timeout"],
    [["c>x@error"], "error"],
    [[], undefined],
  ])("names the handle of a timeout: edges %j", (edges, handle) => {
    const workflow = graph(["f>c", ...edges]);
    const path = { ...forked.activePaths[0]!, nodeId: "c", attempts: 1, waits: [{ id: "0@1", kind: "external" as const, timeoutAt: 5 }] };
    const event = due(openDraft(workflow, { ...forked, version: 3, activePaths: [path] }), 7);
    expect(event).toMatchObject({
      type: "timedOut",
      version: 4,
      at: 7,
      nodeId: "c",
      attempt: 2,
      error: { name: "Timeout", code: "WAIT_TIMEOUT", nodeId: "c" },
    });
    expect((event as { handle?: string }).handle).toBe(handle);
  });
});

describe("wakeAt", () => {
  it("is when somebody must drive the execution", () => {
    const at = (snapshot: Snapshot): number | null => wakeAt(openDraft(flow, snapshot));
    expect(at(forked)).toBe(0);
    const waiting = mixed({ id: "w", kind: "external", timeoutAt: 7_000 });
    expect(at(waiting)).toBe(0);
    const settled = completing(flow, waiting, "0", "x");
    expect(at(settled)).toBe(5_000);
    expect(at(completing(flow, settled, "0.1", "x"))).toBe(7_000);
    expect(at(completing(flow, completing(flow, mixed({ id: "w", kind: "timer", resumeAt: 3_000 }), "0", "x"), "0.1", "x"))).toBe(3_000);
    expect(at(completing(flow, completing(flow, mixed({ id: "w", kind: "external" }), "0", "x"), "0.1", "x"))).toBeNull();
    expect(at(apply(flow, settled, { type: "cancelled", version: settled.version + 1, at: 0 }))).toBeNull();
    const untimed = openDraft(flow, settled);
    for (const path of untimed.paths) path.nextRetryAt = undefined;
    expect(wakeAt(untimed)).toBe(0);
    expect(closedHead(untimed).retryState).toEqual({ nodeId: "b", attempts: 1 });
  });
});

describe("closedHead", () => {
  it("is the snapshot without its context", () => {
    const { context: _, ...head } = forked;
    expect(closedHead(openDraft(flow, forked))).toEqual(head);
    expect(closedHead(begin(flow, startedAt(flow, "f")))).toMatchObject({ version: 0, status: "active" });
  });

  it("tells of ready paths before retries, and of retries before waits", () => {
    const all = mixed({ id: "w", kind: "external" });
    expect(all.status).toBe("active");
    const two = completing(flow, all, "0", "x");
    expect(two.status).toBe("error");
    expect(completing(flow, two, "0.1", "x").status).toBe("paused");
  });
});
