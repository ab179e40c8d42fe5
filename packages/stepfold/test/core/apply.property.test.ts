import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tries } from "../../../../scripts/test/effort.ts";
import { compile } from "../../src/core/definition/compile/compile.ts";
import type { CompiledWorkflow } from "../../src/core/definition/compiled.ts";
import { readSnapshot } from "../../src/core/reading/read-snapshot.ts";
import type { Event, StartedEvent } from "../../src/core/snapshot/event.ts";
import { type ActivePath, isTerminal, type Snapshot } from "../../src/core/snapshot/snapshot.ts";
import { apply, fold } from "../../src/core/transition/apply.ts";
import { openDraft } from "../../src/core/transition/draft/open-draft.ts";
import { due } from "../../src/core/transition/plan.ts";
import { Replay } from "../../src/core/transition/replay.ts";
import { expressionLanguage } from "../../src/expressions/expression-language.ts";
import { deepFreeze, startedAt } from "./execution.fixture.ts";
import { maxAttempts, picker, type RandomFlow, randomFlow, unordered } from "./random-graph.fixture.ts";

interface Run {
  readonly workflow: CompiledWorkflow;
  readonly started: StartedEvent;
  readonly events: Event[];
  /** The snapshots, indexed by version. */
  readonly snapshots: Snapshot[];
}

/** Runs a flow until it ends, waits for ever or has had `most` events. The dice pick the path of the next event. */
function run(flow: RandomFlow, dice: readonly number[], { most = 400, between = (snapshot: Snapshot) => snapshot } = {}): Run {
  const pick = picker(dice);
  const workflow = compile(flow.definition, expressionLanguage);
  const started = startedAt(workflow, "n0");
  const snapshots = [fold(workflow, [started])];
  const events: Event[] = [];
  for (let snapshot = snapshots[0]!; !isTerminal(snapshot.status) && events.length < most; snapshot = between(snapshots.at(-1)!)) {
    const event = eventOf(flow, workflow, snapshot, pick(snapshot.activePaths));
    events.push(event);
    snapshots.push(apply(workflow, snapshot, event));
  }
  return { workflow, started, events, snapshots };
}

/** Returns the next event of a path: the outcome of its task, its retry, or the end of its wait. */
function eventOf(flow: RandomFlow, workflow: CompiledWorkflow, snapshot: Snapshot, path: ActivePath): Event {
  const { id: pathId, nodeId, turn, visit } = path;
  const version = snapshot.version + 1;
  const at = 1_000 + version;
  if (path.status === "suspended") {
    const wait = path.waits![0]!;
    const timer = wait.timeoutAt === undefined ? null : due(openDraft(workflow, { ...snapshot, activePaths: [path] }), 9e15);
    return timer ? { ...timer, at } : { type: "resumed", version, at, pathId, waitId: wait.id, by: "payload", payload: { by: "dice" } };
  }
  if (path.status === "retrying" && turn % 2 === 0) return { type: "retried", version, at, pathId };
  const attempt = path.attempts + 1;
  const act = flow.act({ nodeId, pathId, visit, attempt, resumed: path.resumed !== undefined });
  const step = { version, at, pathId, turn, nodeId, attempt, startedAt: at - 1 };
  if (act.does === "suspend") {
    const wait = { id: `${pathId}@${turn + 1}`, kind: "external" as const, payload: { nodeId } };
    return { type: "suspended", ...step, waits: [act.how === "timeout" ? { ...wait, timeoutAt: at + 5 } : wait], sizeBytes: 3 };
  }
  if (act.does === "complete")
    return {
      ...{ type: "completed", ...step, output: { nodeId, visit }, sizeBytes: 5 },
      ...(act.handles && { handles: act.handles }),
      ...(act.vars && { variables: act.vars }),
    };
  const retryAt = attempt < maxAttempts ? at + 10 : null;
  const handle = retryAt === null && workflow.nodes.get(nodeId)!.edges.has("error") ? { handle: "error" as const } : {};
  return { type: "failed", ...step, error: { name: "Error", message: "dice", nodeId }, retryAt, ...handle };
}

const dice = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 5, maxLength: 40 });

describe("any execution of any graph", () => {
  it("adds one to its version with every event, and folding its events rebuilds every snapshot on the way", () => {
    fc.assert(
      fc.property(randomFlow(false), dice, (flow, thrown) => {
        const { workflow, started, events, snapshots } = run(flow, thrown, { most: 40 });
        snapshots.forEach((snapshot, version) => {
          expect(snapshot.version).toBe(version);
          expect(fold(workflow, [started, ...events.slice(0, version)])).toEqual(snapshot);
        });
        const [replay, unseen] = [new Replay(workflow), new Replay(workflow)];
        for (const [version, event] of [started, ...events].entries()) {
          expect([replay.add(event), unseen.add(event), replay.add(event)]).toEqual([true, true, false]);
          expect([replay.version, replay.snapshot()]).toEqual([version, snapshots[version]]);
        }
        expect(unseen.snapshot()).toEqual(snapshots.at(-1));
      }),
      { numRuns: tries(240) },
    );
  });

  it("never changes what it was given, and what it gives is frozen", () => {
    fc.assert(
      fc.property(randomFlow(false), dice, (flow, thrown) => {
        const texts: string[] = [];
        const { snapshots } = run(flow, thrown, {
          most: 40,
          between(snapshot) {
            texts.push(JSON.stringify(snapshot));
            return deepFreeze(snapshot);
          },
        });
        expect(
          snapshots
            .slice(1)
            .map((snapshot) => JSON.stringify(snapshot))
            .slice(0, texts.length),
        ).toEqual(texts);
        for (const { activePaths, context } of snapshots)
          for (const part of [activePaths, ...activePaths, context, ...Object.values(context)]) expect(Object.isFrozen(part)).toBe(true);
      }),
      { numRuns: tries(160) },
    );
  });

  it("ends the same if every snapshot goes through JSON on the way", () => {
    fc.assert(
      fc.property(randomFlow(false), dice, (flow, thrown) => {
        const plain = run(flow, thrown);
        const stored = run(flow, thrown, { between: (snapshot) => readSnapshot(JSON.parse(JSON.stringify(snapshot)), plain.workflow) });
        expect(stored.snapshots.at(-1)).toEqual(plain.snapshots.at(-1));
        expect(stored.events).toEqual(plain.events);
      }),
      { numRuns: tries(240) },
    );
  });

  it("is not moved by an event that comes late or twice: the very same snapshot comes back", () => {
    fc.assert(
      fc.property(randomFlow(false), dice, (flow, thrown) => {
        const { workflow, events, snapshots } = run(flow, thrown, { most: 30 });
        snapshots.forEach((snapshot, version) => {
          for (const event of events.slice(0, version)) {
            expect(apply(workflow, snapshot, event)).toBe(snapshot);
            if (event.type !== "retried") expect(apply(workflow, snapshot, { ...event, version: version + 1 })).toBe(snapshot);
          }
        });
      }),
      { numRuns: tries(160) },
    );
  });

  it("keeps count of its paths: none is lost, no id and no task name is given twice", () => {
    fc.assert(
      fc.property(randomFlow(false), dice, (flow, thrown) => {
        const { workflow, events, snapshots } = run(flow, thrown);
        const ids = new Set(["0"]);
        const tasks = new Set<string>();
        events.forEach((event, i) => {
          const before = snapshots[i]!.activePaths.map(({ id }) => id);
          const after = snapshots[i + 1]!.activePaths.map(({ id }) => id);
          const born = after.filter((id) => !before.includes(id));
          for (const id of born) {
            expect(ids.has(id)).toBe(false);
            expect(id.length).toBeLessThanOrEqual(32);
            ids.add(id);
          }
          expect(after.length).toBe(before.length + born.length - before.filter((id) => !after.includes(id)).length);
          expect(new Set(after).size).toBe(after.length);
          if (event.type === "completed" && !isTerminal(snapshots[i + 1]!.status))
            expect(after.length).toBe(before.length - 1 + leaving(workflow, event.nodeId, event.handles));
          if (!("turn" in event)) return;
          expect(tasks.has(`${event.pathId}@${event.turn}`)).toBe(false);
          tasks.add(`${event.pathId}@${event.turn}`);
        });
      }),
      { numRuns: tries(300) },
    );
  });

  it("has the status that its paths say", () => {
    fc.assert(
      fc.property(randomFlow(false), dice, (flow, thrown) => {
        for (const { status, activePaths, currentNodeId, retryState, version, steps } of run(flow, thrown).snapshots) {
          const has = (what: ActivePath["status"]): boolean => activePaths.some((path) => path.status === what);
          if (activePaths.length > 0) expect(status).toBe(has("ready") ? "active" : has("retrying") ? "error" : "paused");
          else expect(["completed", "failed"]).toContain(status);
          expect(currentNodeId === null).toBe(status === "completed");
          if (activePaths[0]) expect(currentNodeId).toBe(activePaths[0].nodeId);
          expect(retryState !== undefined).toBe(has("retrying"));
          expect(steps).toBeLessThanOrEqual(version);
        }
      }),
      { numRuns: tries(200) },
    );
  });
});

describe("a graph in which nothing depends on time", () => {
  it("comes to the same end in whatever order its paths move", () => {
    let ended = 0;
    fc.assert(
      fc.property(randomFlow(true), dice, dice, (flow, one, other) => {
        const first = run(flow, one, { most: 2_000 }).snapshots.at(-1)!;
        const second = run(flow, other, { most: 2_000 }).snapshots.at(-1)!;
        expect(first.status).toBe("completed");
        expect(unordered(first)).toEqual(unordered(second));
        expect(first.version).toBe(second.version);
        ended++;
      }),
      { numRuns: tries(240) },
    );
    expect(ended).toBeGreaterThan(tries(240) * 0.8);
  });
});

function leaving(workflow: CompiledWorkflow, nodeId: string, handles: readonly string[] = [""]): number {
  const { edges } = workflow.nodes.get(nodeId)!;
  return handles.reduce((sum, handle) => sum + (edges.get(handle)?.length ?? 0), 0);
}
