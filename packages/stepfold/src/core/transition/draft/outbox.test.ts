import { describe, expect, it } from "vitest";
import { completing, eventOn, graph, startedAt } from "../../../../test/core/execution.fixture.ts";
import { readSnapshot } from "../../reading/read-snapshot.ts";
import type { Event } from "../../snapshot/event.ts";
import type { Snapshot } from "../../snapshot/snapshot.ts";
import { apply, fold } from "../apply.ts";
import { wakeAt } from "./draft-status.ts";
import { openDraft } from "./open-draft.ts";
import { statusAfterMessages } from "./outbox.ts";

const flow = graph(["a>b"]);
const parent = { workflowId: "outer", waitId: "0@2", depth: 1 };
const child = fold(flow, [startedAt(flow, "a", { parent })]);
const told = (snapshot: Snapshot): unknown => snapshot.outbox?.map(({ id, type, to }) => [id, type, to]);
const delivered = (snapshot: Snapshot, ...ids: string[]): Event => ({ type: "delivered", version: snapshot.version + 1, at: 0, ids });
const starts = (workflowId: string): object => ({ starts: { workflowId, definition: { id: "d", hash: "h" }, input: 1 } });

describe("an execution that another one waits for", () => {
  const over = completing(flow, child, "0", "x", "y");

  it("is not over before the other one knows how it ended", () => {
    expect(over).toMatchObject({
      status: "active",
      activePaths: [],
      currentNodeId: null,
      ending: { status: "completed" },
      output: "y",
      parent,
    });
    expect(told(over)).toEqual([["2.0", "ended", "outer"]]);
    expect(statusAfterMessages(over)).toBe("completed");
    expect(statusAfterMessages(child)).toBeNull();
    expect(wakeAt(openDraft(flow, over))).toBe(0);
    expect(readSnapshot(JSON.parse(JSON.stringify(over)), flow)).toEqual(over);
  });

  it("takes no other event meanwhile, and what was delivered before changes nothing", () => {
    const cancel: Event = { type: "cancelled", version: over.version + 1, at: 0 };
    const signal: Event = { type: "signalled", version: over.version + 1, at: 0, name: "go", expiresAt: 9 };
    for (const event of [cancel, signal, delivered(over, "1.0"), delivered(over)]) expect(apply(flow, over, event)).toBe(over);
  });

  it("is over then", () => {
    const end = apply(flow, over, delivered(over, "2.0"));
    expect(end).toMatchObject({ status: "completed", output: "y", version: over.version + 1 });
    expect(end).not.toHaveProperty("outbox");
    expect(end).not.toHaveProperty("ending");
  });

  it("says with what it failed", () => {
    const failed = apply(flow, child, eventOn(child, "0", { error: "no", retryAt: null }));
    expect(failed).toMatchObject({ ending: { status: "failed", nodeId: "a", error: { message: "no" } } });
    expect(apply(flow, failed, delivered(failed, "1.0"))).toMatchObject({ status: "failed", currentNodeId: "a", error: { message: "no" } });
  });
});

describe("an execution that a schedule has started", () => {
  const scheduledBy = { schedule: "s", workflowId: "schedule:s", at: 7 };

  it("tells the schedule of its end, if that wants to know", () => {
    const quiet = completing(flow, fold(flow, [startedAt(flow, "a", { scheduledBy })]), "0", "x", "y");
    expect(quiet).toMatchObject({ status: "completed", scheduledBy });
    const reports = fold(flow, [startedAt(flow, "a", { scheduledBy: { ...scheduledBy, reports: true } })]);
    const over = completing(flow, reports, "0", "x", "y");
    expect(told(over)).toEqual([["2.0", "ended", "schedule:s"]]);
    expect(readSnapshot(JSON.parse(JSON.stringify(over)), flow)).toEqual(over);
    expect(apply(flow, over, delivered(over, "2.0"))).toMatchObject({ status: "completed" });
  });

  it("is started by a message of a step, as others are cancelled by one", () => {
    const sends = [
      { type: "cancelRoot", to: "s@0", schedule: "s" },
      { type: "startRoot", to: "s@7", workflow: "w", input: 1, metadata: { of: "s" }, scheduledBy },
    ];
    const begun = apply(flow, child, { ...eventOn(child, "0", { done: null }), sends } as Event);
    expect(begun.outbox).toEqual([
      { id: "1.0", ...sends[0] },
      { id: "1.1", ...sends[1] },
    ]);
    expect(begun).not.toHaveProperty("descendants");
    expect(readSnapshot(JSON.parse(JSON.stringify(begun)), flow)).toEqual(begun);
  });
});

describe("an execution that begins others", () => {
  it("goes on while they are still to be told, and numbers its messages by the version that made them", () => {
    const begun = apply(flow, child, { ...eventOn(child, "0", { done: null }), ...starts("one") } as Event);
    expect(told(begun)).toEqual([["1.0", "start", "one"]]);
    const over = apply(flow, begun, { ...eventOn(begun, "0", { done: null }), ...starts("two") } as Event);
    expect(told(over)).toEqual([
      ["1.0", "start", "one"],
      ["2.0", "start", "two"],
      ["2.1", "ended", "outer"],
    ]);
    const half = apply(flow, over, delivered(over, "1.0", "2.1"));
    expect(half.status).toBe("active");
    expect(apply(flow, half, delivered(half, "2.0")).status).toBe("completed");
  });

  it("sends the signal of a step, which waits for its arrival", () => {
    const waits = [{ id: "0@2", kind: "delivery" as const, payload: { workflowId: "one", signal: "go" } }];
    const signal = { type: "signal", to: "one", name: "go", payload: 5, allowed: true } as const;
    const waiting = apply(flow, child, { ...eventOn(child, "0", { waits }), signal } as Event);
    expect(waiting.outbox).toEqual([{ id: "1.0", type: "signal", to: "one", name: "go", payload: 5, waitId: "0@2" }]);
    const arrived = {
      type: "resumed",
      version: 2,
      at: 0,
      pathId: "0",
      waitId: "0@2",
      by: "delivery",
      payload: { status: "completed" },
    } as const;
    expect(apply(flow, waiting, arrived).activePaths).toMatchObject([{ status: "ready", resumed: { by: "delivery" } }]);
    // a signal is still delivered if its step does not wait for the delivery any more
    expect(told(apply(flow, waiting, { type: "cancelled", version: 2, at: 0 }))).toEqual([
      ["1.0", "signal", "one"],
      ["2.0", "ended", "outer"],
    ]);
  });

  it("tells those that it waited for when it waits no more", () => {
    const waits = [{ id: "0@2", kind: "child" as const, workflowId: "one" }];
    const waiting = apply(flow, child, { ...eventOn(child, "0", { waits }), ...starts("one") } as Event);
    const cancelled = apply(flow, waiting, { type: "cancelled", version: 2, at: 0 });
    expect(told(cancelled)).toEqual([
      ["1.0", "start", "one"],
      ["2.0", "cancel", "one"],
      ["2.1", "ended", "outer"],
    ]);
  });
});
