import { describe, expect, it } from "vitest";
import { completing, eventOn, graph, startedAt } from "../../../../test/core/execution.fixture.ts";
import { explain } from "../../explain/explain.ts";
import { readSnapshot } from "../../reading/read-snapshot.ts";
import type { Event, ParkedEvent } from "../../snapshot/event.ts";
import type { Snapshot } from "../../snapshot/snapshot.ts";
import { apply, fold } from "../apply.ts";
import { due, plan, planDraft } from "../plan.ts";
import { nextTimerAt, wakeAt } from "./draft-status.ts";
import { openDraft } from "./open-draft.ts";

const flow = graph(["f>a", "f>b", "a>c"]);
const forked = completing(flow, fold(flow, [startedAt(flow, "f")]), "0", "x");
const waiting = apply(flow, forked, eventOn(forked, "0.1", { waits: [{ id: "0.1@2", kind: "external", resumeAt: 5_000 }] }));
const park = (snapshot: Snapshot, until?: number): ParkedEvent => {
  const why = { code: "WORKER_CRASHED", message: "5 workers died" };
  return { type: "parked", version: snapshot.version + 1, at: 3_000, ...why, ...(until !== undefined && { until }) };
};
const parked = apply(flow, waiting, park(waiting));
const wakeOf = (snapshot: Snapshot): number | null => wakeAt(openDraft(flow, snapshot));

describe("AUDIT 4: the next time at which something of an execution is due", () => {
  const nextOf = (snapshot: Snapshot, planned = 0): number | null => nextTimerAt(openDraft(flow, snapshot), planned);

  it("is that of its timers, whatever else is ready", () => {
    expect(wakeOf(waiting)).toBe(0);
    expect(nextOf(waiting)).toBe(5_000);
    expect(nextOf(forked)).toBe(null);
  });

  it("is none once it has ended, and while it is parked", () => {
    expect(nextOf(parked)).toBe(null);
    expect(nextOf(apply(flow, waiting, { type: "cancelled", version: waiting.version + 1, at: 3_000 }))).toBe(null);
  });
});

describe("an execution that is parked", () => {
  it("has nothing to do, neither steps nor timers, until somebody says so", () => {
    expect(parked).toMatchObject({ status: "parked", parked: { code: "WORKER_CRASHED", message: "5 workers died", at: 3_000 } });
    expect(parked.activePaths).toEqual(waiting.activePaths);
    expect(plan(parked, 1e12)).toEqual([]);
    expect(wakeOf(parked)).toBe(null);
    const draft = openDraft(flow, parked);
    const tasks: string[] = [];
    planDraft(draft, 1e12, null, ({ nodeId }) => tasks.push(nodeId) > 0);
    expect([due(draft, 1e12), tasks]).toEqual([null, []]);
    const unparked = apply(flow, parked, { type: "unparked", version: parked.version + 1, at: 9_000 });
    expect(unparked).toEqual({ ...waiting, version: waiting.version + 2, historyBytes: waiting.historyBytes! + 400 });
    expect(plan(unparked, 0).map(({ nodeId }) => nodeId)).toEqual(["a"]);
  });

  it("goes on by itself at its time, and what is done then ends it", () => {
    const resting = apply(flow, waiting, park(waiting, 4_000));
    expect([wakeOf(resting), plan(resting, 3_999).length, plan(resting, 4_000).length]).toEqual([4_000, 0, 1]);
    const gone = apply(flow, resting, eventOn(resting, "0", { done: 1 }, 4_100));
    expect(gone).toMatchObject({ status: "active", version: resting.version + 1 });
    expect(gone).not.toHaveProperty("parked");
  });

  it("takes what comes from outside, and stays parked", () => {
    const [version, at] = [parked.version + 1, 3_100];
    const outside: Event[] = [
      { type: "resumed", version, at, pathId: "0.1", waitId: "0.1@2", by: "payload", payload: 1 },
      { type: "signalled", version, at, name: "paid", expiresAt: 9_000 },
      { type: "cancelled", version, at, pathIds: ["0.1"] },
    ];
    for (const event of outside) expect(apply(flow, parked, event), event.type).toMatchObject({ status: "parked", version });
  });

  it("can be cancelled, and parked once more", () => {
    const [version, at] = [parked.version + 1, 3_100];
    const cancelled = apply(flow, parked, { type: "cancelled", version, at });
    expect(cancelled).toMatchObject({ status: "cancelled", version });
    expect(cancelled).not.toHaveProperty("parked");
    expect(apply(flow, parked, { ...park(parked, 9_000), at })).toMatchObject({ parked: { at, until: 9_000 } });
  });

  it("cannot be unparked when it is not parked, nor parked when it has ended", () => {
    expect(apply(flow, waiting, { type: "unparked", version: waiting.version + 1, at: 1 })).toBe(waiting);
    const ended = apply(flow, waiting, { type: "cancelled", version: waiting.version + 1, at: 1 });
    expect(apply(flow, ended, park(ended))).toBe(ended);
  });

  it("is read from outside as it was, if its status agrees", () => {
    const given = JSON.parse(JSON.stringify(parked)) as Record<string, unknown>;
    expect(readSnapshot(given, flow)).toEqual(parked);
    const refused: [Record<string, unknown>, string][] = [
      [{ ...given, parked: undefined }, "/parked"],
      [{ ...given, status: "active" }, "/parked"],
      [{ ...given, parked: { code: "", message: "", at: 1 } }, "/parked/code"],
      [{ ...given, parked: { code: "x", message: 1, at: 1 } }, "/parked/message"],
      [{ ...given, parked: { code: "x", message: "" } }, "/parked/at"],
      [{ ...given, parked: { code: "x", message: "", at: 1, until: "soon" } }, "/parked/until"],
    ];
    for (const [snapshot, pointer] of refused)
      expect(() => readSnapshot(JSON.parse(JSON.stringify(snapshot)), flow), pointer).toThrow(
        expect.objectContaining({ code: "SNAPSHOT_INVALID", details: expect.objectContaining({ pointer }) }),
      );
  });

  it("is explained: why it rests, until when, and what it would do", () => {
    const { sentence, next } = explain(parked, flow);
    expect(sentence).toMatch(/^Parked: 5 workers died \(WORKER_CRASHED\); it goes on after a retry command\. 2 places are open: /);
    expect(next).toBe(null);
    const timed = explain(apply(flow, waiting, park(waiting, 4_000)), flow);
    expect(timed.sentence).toContain("it is tried again at 1970-01-01T00:00:04.000Z");
  });
});
