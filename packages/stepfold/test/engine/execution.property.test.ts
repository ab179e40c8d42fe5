import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tries } from "../../../../scripts/test/effort.ts";
import type { Event, StartedEvent } from "../../src/core/snapshot/event.ts";
import { isTerminal, type Snapshot } from "../../src/core/snapshot/snapshot.ts";
import { fold } from "../../src/core/transition/apply.ts";
import { openWaits } from "../../src/core/transition/find-wait.ts";
import type { NodeDefinition } from "../../src/engine/node/node-definition.ts";
import { WorkflowEngine } from "../../src/engine/workflow-engine.ts";
import { maxAttempts, picker, type RandomFlow, randomFlow, unordered } from "../core/random-graph.fixture.ts";
import { viaJson } from "./engine.fixture.ts";
import { VirtualEnvironment } from "./virtual-environment.fixture.ts";

const dice = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 5, maxLength: 40 });

/** The node type of random flows; some of its executors are asynchronous. */
function randomNode(flow: RandomFlow): NodeDefinition {
  return {
    executor(_data, step) {
      const { nodeId, pathId, attempt, idempotencyKey } = step;
      const visit = Number(idempotencyKey.split("#").at(-1));
      const act = flow.act({ nodeId, pathId, visit, attempt, resumed: step.resumed !== undefined });
      if (act.does === "suspend") {
        // the tests move the clock by hand, so the timer is set to a time that the clock always reaches
        if (act.how === "timer") return step.suspend({ nodeId }, { resumeAt: 2_000_000 });
        return step.suspend({ nodeId }, act.how === "timeout" ? { timeout: 5_000 } : {});
      }
      if (act.does === "fail") throw new Error(`attempt ${attempt} of ${maxAttempts}`);
      const data = { nodeId, visit, seen: Object.keys(step.context).length > 0, vars: act.vars ? step.vars : null };
      const output = { data, nextHandles: act.handles, vars: act.vars };
      return visit % 2 ? output : Promise.resolve(output);
    },
  };
}

function engineFor(flow: RandomFlow, limits: object = {}) {
  const clock = new VirtualEnvironment();
  // all handles are declared, so that a step may name a handle without an edge
  const random = { ...randomNode(flow), handles: ["", "x", "y"] };
  return { clock, engine: new WorkflowEngine({ workflow: flow.definition, nodeDefinitions: { random }, environment: clock, limits }) };
}

/** Drives an execution until it ends or waits for the last time. The dice choose the length of each slice and the answers. */
async function drive(
  flow: RandomFlow,
  thrown: readonly number[],
  through: (snapshot: Snapshot) => Snapshot | object,
  limits?: object,
): Promise<Snapshot> {
  const { engine, clock } = engineFor(flow, limits);
  const pick = picker(thrown);
  let snapshot = await engine.execute({ workflowId: "w", stepLimit: pick([1, 2, 7, 1_000]) });
  for (let turns = 0; !isTerminal(snapshot.status); turns++) {
    expect(turns).toBeLessThan(2_000);
    const given = through(snapshot);
    const [wait] = openWaits(snapshot);
    const slice = { stepLimit: pick([1, 3, 1_000]), concurrency: pick([1, 2, 16]) };
    if (snapshot.status === "active")
      snapshot = pick([true, false]) ? await engine.execute({ snapshot: given, ...slice }) : await engine.executeStep(given);
    else if (snapshot.status === "error") snapshot = await engine.execute({ snapshot: given, ...slice });
    else if (wait && pick([true, false]))
      snapshot = await engine.execute({ snapshot: given, target: wait.wait.id, externalPayload: { ok: 1 }, ...slice });
    else {
      clock.set(clock.now() + 3_000_000);
      const { version } = snapshot;
      snapshot = await engine.execute({ snapshot: given, ...slice });
      // nothing was due, so the test answers the first open wait
      if (snapshot.version === version)
        snapshot = await engine.execute({ snapshot: given, target: openWaits(snapshot)[0]!.wait.id, ...slice });
    }
  }
  return snapshot;
}

describe("any execution of any graph", () => {
  it("ends the same if it is stored as JSON between any two calls", async () => {
    await fc.assert(
      fc.asyncProperty(randomFlow(false), dice, async (flow, thrown) => {
        const kept = await drive(flow, thrown, (snapshot) => snapshot);
        expect(await drive(flow, thrown, viaJson)).toEqual(kept);
        expect(viaJson(kept)).toEqual(kept);
      }),
      { numRuns: tries(160) },
    );
  });

  it("always ends, and never hangs, whatever fails on the way", async () => {
    const statuses = new Set<string>();
    await fc.assert(
      fc.asyncProperty(randomFlow(false), dice, async (flow, thrown) => {
        const { status, steps, error, context } = await drive(flow, thrown, (snapshot) => snapshot, { steps: 60 });
        statuses.add(status);
        expect(["completed", "failed"]).toContain(status);
        expect(error !== undefined).toBe(status === "failed");
        expect(steps).toBeLessThanOrEqual(61);
        for (const results of Object.values(context)) for (const { attempt } of results) expect(attempt).toBeLessThanOrEqual(maxAttempts);
      }),
      { numRuns: tries(240) },
    );
    expect([...statuses].sort()).toEqual(["completed", "failed"]);
  });

  it("streams events that rebuild each snapshot it gives", async () => {
    await fc.assert(
      fc.asyncProperty(randomFlow(false), async (flow) => {
        const { engine } = engineFor(flow);
        const events: Event[] = [];
        for await (const { event, snapshot } of engine.stream({ workflowId: "w", stepLimit: 25 })) {
          events.push(event);
          expect(event.version).toBe(events.length - 1);
          expect(snapshot).toEqual(fold(engine.workflow, events as [StartedEvent, ...Event[]]));
        }
      }),
      { numRuns: tries(160) },
    );
  });

  it("does not change the snapshot that it goes on from", async () => {
    await fc.assert(
      fc.asyncProperty(randomFlow(false), dice, async (flow, thrown) => {
        const texts = new Map<Snapshot, string>();
        await drive(flow, thrown, (snapshot) => {
          texts.set(snapshot, JSON.stringify(snapshot));
          return snapshot;
        });
        for (const [snapshot, text] of texts) expect(JSON.stringify(snapshot)).toBe(text);
      }),
      { numRuns: tries(120) },
    );
  });
});

describe("a graph in which nothing depends on time", () => {
  it("comes to the same end by whatever slices and with whatever concurrency it is driven", async () => {
    await fc.assert(
      fc.asyncProperty(randomFlow(true), dice, dice, async (flow, one, other) => {
        const first = await drive(flow, one, (snapshot) => snapshot);
        const second = await drive(flow, other, viaJson);
        expect(first.status).toBe("completed");
        expect(unordered(first)).toEqual(unordered(second));
      }),
      { numRuns: tries(160) },
    );
  });
});
