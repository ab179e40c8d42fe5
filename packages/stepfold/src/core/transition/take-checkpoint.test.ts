import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tries } from "../../../../../scripts/test/effort.ts";
import { graph, startedAt } from "../../../test/core/execution.fixture.ts";
import { keptHistory, randomDefinition } from "../../../test/core/restore.fixture.ts";
import type { CompiledWorkflow } from "../definition/compiled.ts";
import { readSnapshot } from "../reading/read-snapshot.ts";
import type { Event, StartedEvent } from "../snapshot/event.ts";
import type { Wait } from "../snapshot/parts/wait.ts";
import { restore } from "../snapshot/restore.ts";
import type { ActivePath, ChildHead, ChildState, Snapshot } from "../snapshot/snapshot.ts";
import { fold } from "./apply.ts";
import { begin } from "./begin.ts";
import { closeDraft, closedHead, takeChanges } from "./draft/close-draft.ts";
import { openDraft } from "./draft/open-draft.ts";
import { evolve } from "./evolve.ts";
import { takeCheckpoint } from "./take-checkpoint.ts";

const dice = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 20, maxLength: 80 });
const seeds = fc.integer({ min: 0, max: 2 ** 31 - 1 });
const throughJson = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

type History = readonly [StartedEvent, ...Event[]];

/** Makes a random workflow from a seed, and a random history of an execution of it from the dice. */
function historyOf(seed: number, thrown: readonly number[]): { workflow: CompiledWorkflow; events: History } {
  let last: { workflow: CompiledWorkflow; events: History } | null = null;
  keptHistory(randomDefinition(seed), thrown, ({ workflow, events }) => {
    last = { workflow, events: [...events] };
  });
  return last!;
}

/**
 * Subtracts `base` from every version in a value. It removes `inEvents`, because the places of large values differ in each history, and what
 * tells a key of the origin apart from one of the fork.
 */
function countedFrom<T>(value: T, base: number): T {
  const move = (part: unknown, key: string): unknown => {
    if (typeof part === "number") return ["version", "since", "queued", "answer"].includes(key) ? part - base : part;
    // the path of compensations that are tried again is named after the version at which the execution was parked
    if (typeof part === "string")
      return part.replace(/^(undo)-(-?\d+)$/, (_, name: string, version: string) => `${name}-${Number(version) - base}`);
    if (Array.isArray(part)) return part.map((one) => move(one, key));
    if (typeof part !== "object" || part === null) return part;
    // numbers in the values of users are not versions
    return Object.fromEntries(
      Object.entries(part)
        .filter(([name]) => name !== "inEvents" && name !== "by")
        .map(([name, one]): [string, unknown] => ("stepPath" in part && name === "acted" ? ["begun", true] : [name, one]))
        .map(([name, one]) => [name, ["output", "payload", "input", "mapItems"].includes(name) ? one : move(one, name)]),
    );
  };
  return move(value, "") as T;
}

/** A fork of an execution at a version of its history, and the later events of the original, which happen to the fork too. */
interface Fork {
  readonly workflow: CompiledWorkflow;
  readonly events: History;
  readonly version: number;
  readonly started: StartedEvent;
  readonly rest: readonly Event[];
}

/** Random forks of random histories, only at versions from which an execution can go on. */
const forks: fc.Arbitrary<Fork> = fc
  .tuple(seeds, dice, fc.nat())
  .map(([seed, thrown, chosen]): Fork | null => {
    const { workflow, events } = historyOf(seed, thrown);
    const version = chosen % events.length;
    const [started, ...others] = events;
    const snapshot = fold(workflow, [started, ...others.slice(0, version)]);
    if (snapshot.activePaths.length === 0 || snapshot.ending || snapshot.closing) return null;
    const checkpoint = takeCheckpoint(snapshot, { reason: "fork", laterMs: 0, runsCode: false });
    const rest = countedFrom(events.slice(version + 1), version);
    return { workflow, events, version, started: throughJson({ ...started, checkpoint }), rest };
  })
  .filter((fork): fork is Fork => fork !== null);

const withoutOrigin = ({ from: _, createdAt: __, answered: ___, historyBytes: ____, ...rest }: Snapshot): object => rest;

describe("an execution that goes on from any version of another one", () => {
  it("comes to where that one came, if the same happens to it", () => {
    fc.assert(
      fc.property(forks, ({ workflow, events, version, started, rest }) => {
        const forked = fold(workflow, [started, ...rest]);
        expect(forked.from).toEqual({ workflowId: started.workflowId, incarnation: started.incarnation, version, reason: "fork" });
        expect(forked.version).toBe(rest.length);
        expect(withoutOrigin(countedFrom(forked, 0))).toEqual(withoutOrigin(countedFrom(fold(workflow, events), version)));
      }),
      { numRuns: tries(100) },
    );
  });

  it("is the same from the parts that a store keeps, and is read from outside", () => {
    fc.assert(
      fc.property(forks, ({ workflow, started, rest }) => {
        const draft = begin(workflow, started);
        const children = new Map<string, ChildHead>();
        const keepChanges = (): void => {
          for (const { key, head } of takeChanges(draft)) {
            if (head) children.set(key, throughJson(head));
            else children.delete(key);
          }
        };
        keepChanges();
        for (const event of rest) evolve(draft, event);
        keepChanges();
        const snapshot = closeDraft(draft);
        const restored = restore({ head: throughJson(closedHead(draft)), children, events: [started, ...rest] });
        // a store does not know `keep` of the nodes, so the result is opened and closed, which drops results
        // the events are those of the origin, so they name no key as one of the origin
        expect(countedFrom(closeDraft(openDraft(workflow, restored)), 0)).toEqual(countedFrom(snapshot, 0));
        expect(readSnapshot(throughJson(snapshot), workflow)).toEqual(snapshot);
      }),
      { numRuns: tries(100) },
    );
  });
});

describe("a checkpoint", () => {
  const path = (more: Partial<ActivePath>): ActivePath => ({
    ...{ id: "0", nodeId: "step", status: "ready", turn: 3, visit: 2, attempts: 2, since: 7, stepPath: [] },
    ...more,
  });
  const result = (version: number) => ({ output: version, timestamp: 1, attempt: 1, pathId: "0", version });
  const wait = (more: Partial<Wait> = {}): Wait => ({ id: "0@3", kind: "external", ...more });
  const undone = { nodeId: "step", pathId: "0" };
  const snapshot = (more: Partial<Snapshot>): Snapshot => ({
    ...{ schema: 1, workflowId: "w", definition: { id: "d", hash: "h" }, status: "active", currentNodeId: "step", activePaths: [path({})] },
    ...{ version: 10, metadata: {}, steps: 4, sizeBytes: 9, context: {} },
    ...more,
  });

  it("moves every time by as much as it goes on later, and none beyond the last date", () => {
    const waits = [wait({ openedAt: 50, resumeAt: 100, timeoutAt: 200 })];
    const given = snapshot({
      status: "paused",
      activePaths: [path({ status: "suspended", waits }), path({ id: "0.1", status: "retrying", nextRetryAt: 8.64e15 - 1 })],
      inbox: [{ name: "go", expiresAt: 300 }],
    });
    const { state } = takeCheckpoint(given, { reason: "fork", laterMs: 1_000, runsCode: false });
    expect(state.activePaths).toMatchObject([
      { since: -3, status: "suspended", waits: [{ openedAt: 1_050, resumeAt: 1_100, timeoutAt: 1_200 }] },
      { status: "retrying", nextRetryAt: 8.64e15, attempts: 2 },
    ]);
    expect(state.inbox).toEqual([{ name: "go", expiresAt: 1_300 }]);
  });

  it("performs again what waits for a detached execution, and wakes all around it", () => {
    const child = (more: Partial<ChildState>): ChildState => ({
      ...{ workflow: "inner", status: "paused", currentNodeId: "step", activePaths: [], version: 8, context: {} },
      ...more,
    });
    const given = snapshot({
      status: "paused",
      activePaths: [path({ status: "suspended", children: { key: "0#1", workflow: "inner" } })],
      childStates: {
        "0#1": child({ activePaths: [path({ status: "suspended", children: { key: "0#1", workflow: "inner" } })], input: 1, output: 2 }),
        "0#1>0#1": child({ activePaths: [path({ status: "suspended", waits: [wait({ kind: "child", workflowId: "other" })] })] }),
        "0#2": child({ queued: 9, ending: { status: "failed", nodeId: "step", begun: [{ ...undone, version: 4 }], again: [undone] } }),
        "0#3": child({
          ending: { status: "failed", nodeId: "step", begun: [] },
          activePaths: [path({ undoes: { pathId: "0", version: 3 } })],
        }),
      },
    });
    const { state } = takeCheckpoint(given, { reason: "fork", laterMs: 0, runsCode: false });
    expect(state).toMatchObject({
      status: "active",
      childStates: {
        "0#1": { status: "active", version: -2, input: 1, output: 2 },
        "0#1>0#1": { status: "active", activePaths: [{ status: "ready", turn: 4, attempts: 0 }] },
        "0#2": { status: "paused", queued: -1, ending: { begun: [{ version: -6 }], again: [undone] } },
        "0#3": { activePaths: [{ undoes: { version: -7 } }] },
      },
    });
    expect(state.childStates!["0#1>0#1"]!.activePaths[0]).not.toHaveProperty("waits");
  });

  it("leaves behind where values of answers lie in the events of the other execution", () => {
    const answers = [{ by: "ada", at: 1, payload: 2, inEvents: { payload: "3/payload" } }] as unknown as Wait["answers"];
    const given = snapshot({ status: "paused", activePaths: [path({ status: "suspended", waits: [wait({ answers: answers! })] })] });
    const { state } = takeCheckpoint(given, { reason: "fork", laterMs: 0, runsCode: false });
    expect(state.activePaths[0]!.waits![0]!.answers).toEqual([{ by: "ada", at: 1, payload: 2 }]);
  });

  it("keeps results and what was undone in their order, and the number of the run", () => {
    const compensations = [{ nodeId: "step", undoes: { pathId: "0", version: 2 }, output: null, timestamp: 1, attempt: 1, version: 9 }];
    const given = snapshot({
      incarnation: "i",
      status: "parked",
      context: { step: [result(2), result(5)] },
      compensations,
      rounds: { "step|": { got: ["e"] } },
      begun: [{ pathId: "0", nodeId: "step" }],
      error: { name: "Error", message: "no" },
      lastStartedAt: 3,
      totalExecutionTime: 4,
      mapItems: { "0#1": [1] },
      run: { number: 3, since: 7, at: 5, quick: 2 },
      activePaths: [path({ inputs: [{ nodeId: "step", version: 5 }] })],
    });
    const { from, state } = takeCheckpoint(given, { reason: "fork", laterMs: 0, runsCode: false });
    expect(from).toEqual({ workflowId: "w", incarnation: "i", version: 10, reason: "fork" });
    expect(state).toMatchObject({
      status: "active",
      context: { step: [{ version: -8 }, { version: -5 }] },
      compensations: [{ version: -1, undoes: { version: -8 } }],
      activePaths: [{ inputs: [{ nodeId: "step", version: -5 }] }],
      ...{
        rounds: given.rounds,
        begun: given.begun,
        error: given.error,
        lastStartedAt: 3,
        totalExecutionTime: 4,
        mapItems: { "0#1": [1] },
        run: { number: 3, since: 0, at: 5 },
      },
    });
  });

  it("begins an execution that has a tenant, a parent and a permit of its own", () => {
    const workflow = graph(["step>end"]);
    const { state, from } = takeCheckpoint(snapshot({}), { reason: "fork", laterMs: 0, runsCode: false });
    const parent = { workflowId: "p", depth: 1 };
    const permit = { key: "k", limit: 2 };
    const more = { checkpoint: { from, state }, tenant: "t", unnamed: true as const, parent, permit, taskQueue: "gpu", input: { a: 1 } };
    expect(fold(workflow, [startedAt(workflow, "step", more)])).toMatchObject({
      from,
      tenant: "t",
      unnamed: true,
      parent,
      permit,
      taskQueue: "gpu",
      input: { a: 1 },
    });
    const { input: _, incarnation: __, ...bare } = startedAt(workflow, "step", { checkpoint: { from, state } });
    expect(fold(workflow, [bare])).not.toHaveProperty("input");
  });
});
