import { describe, expect, it } from "vitest";
import type { Snapshot } from "../../../src/core/snapshot/snapshot.ts";
import { bench, flow } from "../../nodes/workflow.fixture.ts";

const start = 1_000_000;
const timeout = 60_000;

/** Returns the events of an execution that is executed again after `afterMs`, each as `type scope`. */
async function eventsAt(workflow: object, afterMs: number): Promise<string[]> {
  const { engine, clock } = bench(workflow);
  clock.set(start);
  const waiting: Snapshot = await engine.execute({ workflowId: "w" });
  clock.set(start + afterMs);
  const events: string[] = [];
  for await (const { event } of engine.stream({ snapshot: waiting }))
    events.push("scope" in event ? `${event.type} ${event.scope}` : event.type);
  return events;
}

describe("timers and deadlines that are due at the same time", () => {
  const inner = flow("inner", { ask: "approval" }, [], { timeout });
  const middle = flow("middle", { call: ["workflow", { workflow: "inner" }], late: "noop" }, ["call>late@error"], { timeout });

  it("begin with the deadline of the innermost scope", async () => {
    const outer = flow("outer", { call: ["workflow", { workflow: "middle" }] }, [], { workflows: { inner, middle } });
    const [first, second] = await eventsAt(outer, timeout);
    expect([first, second]).toEqual(["expired 0#1>0#1", "expired 0#1"]);
  });

  it("begin with a timer, in whichever child it is", async () => {
    const asking = flow("asking", { ask: ["approval", { timeout }], late: "noop" }, ["ask>late@timeout"]);
    const both = flow(
      "both",
      { f: "noop", limited: ["workflow", { workflow: "inner" }], open: ["workflow", { workflow: "asking" }] },
      ["f>limited", "f>open"],
      { workflows: { inner, asking } },
    );
    const events = await eventsAt(both, timeout);
    expect(events.slice(0, 2).map((event) => event.split(" ")[0])).toEqual(["timedOut", "expired"]);
  });
});
