import { describe, expect, it } from "vitest";
import { engineOf, played } from "../../../test/core/explain.fixture.ts";
import { flow } from "../../../test/nodes/workflow.fixture.ts";
import type { Event, SignalledEvent } from "../snapshot/event.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { trail } from "./trail.ts";

const inner = flow("inner", { approve: "approval", paid: ["signal", { name: "paid", key: "{{ input }}" }] }, ["approve>paid@rejected"], {
  start: "approve",
});
const middle = flow("middle", { sub: ["workflow", { workflow: "inner" }] });
const nested = engineOf(flow("w", { each: ["map", { workflow: "middle", items: "{{ input }}" }] }, [], { workflows: { middle, inner } }));
const race = engineOf(flow("w", { settle: ["race", { signals: [{ name: "paid", key: "o-1" }, { name: "revoked" }] }] }));

const signalOf = (name: string, key?: string): SignalledEvent => ({
  type: "signalled",
  version: 9,
  at: 0,
  expiresAt: 1,
  name,
  ...(key === undefined ? {} : { key }),
});

describe("trail", () => {
  it("knows addresses from events alone, and from a snapshot alone", async () => {
    const told = await played(nested, [1, 2]);
    const fromEvents = trail();
    for (const { event } of told) fromEvents.see(event);
    const { snapshot } = told.at(-1)!;
    for (const places of [fromEvents, trail(snapshot)]) {
      const scope = Object.keys(snapshot.childStates!).at(-1)!;
      expect(places.at(scope, "0")).toBe("each[1]/sub/approve");
      expect(places.child(scope)).toBe("each[1]/sub");
      expect(places.crowd(scope)).toBe(2);
      expect(places.at(undefined, "0")).toBe("each");
      expect(places.at(undefined, "7")).toBe("7");
      expect(places.child("9#9/4")).toBe("?[4]");
      expect(places.crowd(undefined)).toBe(0);
    }
  });

  it("knows who took a signal, as far as that can be told", async () => {
    const told = await played(race);
    const before = told.at(-1)!.snapshot;
    const seen = (): ReturnType<typeof trail> => {
      const places = trail();
      for (const { event } of told) places.see(event);
      return places;
    };
    const after = await race.send(before, { type: "signal", name: "paid", key: "o-1" });
    for (const places of [seen(), trail(before)]) {
      expect(places.taker(signalOf("paid", "o-1"), after)).toBe("settle");
      expect(places.taker(signalOf("paid", "o-1"), null)).toBe(null);
    }
    expect(seen().taker(signalOf("paid", "o-1"), null)).toBe("settle");
    const kept = await race.send(before, { type: "signal", name: "paid", key: "o-2" });
    expect(seen().taker(signalOf("paid", "o-2"), kept)).toBe("kept");
    expect(seen().taker(signalOf("paid", "o-2"), null)).toBe(null);
  });

  it("forgets who listened once the path has ended or gone on", async () => {
    const told = await played(race);
    for (const end of [
      { type: "cancelled", version: 3, at: 0, consequences: { ended: [{ pathId: "0", nodeId: "settle", reason: "cancelled" }] } },
      { type: "resumed", version: 3, at: 0, pathId: "0", waitId: "x", by: "timer" },
    ] satisfies Event[]) {
      const places = trail(told.at(-1)!.snapshot);
      places.see(end);
      expect(places.taker(signalOf("revoked"), {} as Snapshot)).toBe(null);
    }
  });

  it("forgets the waits of a run that has ended, and knows those of a restart", async () => {
    const told = await played(race);
    const places = trail();
    for (const { event } of told) places.see(event);
    const { snapshot } = told.at(-1)!;
    const stamp = { version: 3, at: 0, definition: { id: "w", hash: "x" } };
    const step = {
      pathId: "0",
      turn: 1,
      nodeId: "settle",
      attempt: 1,
      startedAt: 0,
      run: 2,
      firstNodeId: "settle",
      metadata: {},
      totalExecutionTime: 0,
    };
    places.see({ ...stamp, ...step, type: "continued" });
    expect(places.taker(signalOf("revoked"), null)).toBe(null);
    places.see({ ...stamp, version: 4, type: "restarted", state: { activePaths: snapshot.activePaths, sizeBytes: 0 } });
    expect(places.taker(signalOf("revoked"), null)).toBe("settle");
  });

  it("learns from what an execution was made of, and knows no crowd around what it has not seen", () => {
    const state = { activePaths: [{ id: "0", nodeId: "wait", waits: [{ id: "0@1", kind: "signal", signal: "paid" }] }] };
    const places = trail();
    places.see({ type: "started", version: 0, at: 0, checkpoint: { state } } as unknown as Event);
    expect(places.at(undefined, "0")).toBe("wait");
    const refused = { type: "answerRefused", version: 1, at: 0, pathId: "0", turn: 1, nodeId: "wait", attempt: 1, startedAt: 0 } as const;
    // it has not seen what the path waited for before
    places.see({ ...refused, waitId: "0@1", issues: [] });
    expect(places.taker(signalOf("paid"), null)).toBeNull();
    expect(places.crowd("9#1/3")).toBe(0);
  });

  it("knows a path that waits for a signal once more", () => {
    const places = trail();
    const step = { version: 1, at: 0, pathId: "0", turn: 1, nodeId: "wait", attempt: 1, startedAt: 0 } as const;
    places.see({ ...step, type: "suspended", waits: [{ id: "0@1", kind: "signal", signal: "paid" }] });
    places.see({ ...step, type: "answerRefused", waitId: "0@1", issues: [] });
    expect(places.taker(signalOf("paid"), null)).toBe("wait");
  });
});

describe("a trail that begins later", () => {
  it("takes a path that forked off one which has moved for no step of code", () => {
    const path = { status: "ready", turn: 1, visit: 1, attempts: 0, since: 0 } as const;
    const asked = (stepPath: readonly string[]): boolean => {
      const activePaths = ["0", "0.1"].map((id) => ({ ...path, id, nodeId: `at${id.length}`, stepPath }));
      return trail({ activePaths, context: {} } as unknown as Snapshot).isAskedFor(undefined, "0.1");
    };
    expect([asked([]), asked(["before"])]).toEqual([true, false]);
  });
});
