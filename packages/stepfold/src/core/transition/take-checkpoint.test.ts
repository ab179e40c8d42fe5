import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tries } from "../../../../../scripts/test/effort.ts";
import { keptHistory, randomDefinition } from "../../../test/core/restore.fixture.ts";
import type { CompiledWorkflow } from "../definition/compiled.ts";
import { readSnapshot } from "../reading/read-snapshot.ts";
import type { Event, StartedEvent } from "../snapshot/event.ts";
import { restore } from "../snapshot/restore.ts";
import type { ChildHead, Snapshot } from "../snapshot/snapshot.ts";
import { fold } from "./apply.ts";
import { begin } from "./begin.ts";
import { closeDraft, closedHead, takeChanges } from "./draft/close-draft.ts";
import { evolve } from "./evolve.ts";
import { takeCheckpoint } from "./take-checkpoint.ts";

const dice = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 20, maxLength: 80 });
const seeds = fc.integer({ min: 0, max: 2 ** 31 - 1 });
const throughJson = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

type History = readonly [StartedEvent, ...Event[]];

/** The history, and what it is of, that the dice give. */
function historyOf(seed: number, thrown: readonly number[]): { workflow: CompiledWorkflow; events: History } {
  let last: { workflow: CompiledWorkflow; events: History } | null = null;
  keptHistory(randomDefinition(seed), thrown, ({ workflow, events }) => {
    last = { workflow, events: [...events] };
  });
  return last!;
}

/** Every version in a value, counted from another one. */
function countedFrom<T>(value: T, base: number): T {
  const move = (part: unknown, key: string): unknown => {
    if (typeof part === "number") return ["version", "since", "queued"].includes(key) ? part - base : part;
    // the path of compensations that are tried again is named after the version at which the first try ended
    if (typeof part === "string")
      return part.replace(/^(undo)-(-?\d+)$/, (_, name: string, version: string) => `${name}-${Number(version) - base}`);
    if (Array.isArray(part)) return part.map((one) => move(one, key));
    if (typeof part !== "object" || part === null) return part;
    // what users made is none of the engine's versions
    return Object.fromEntries(
      Object.entries(part).map(([name, one]) => [name, ["output", "payload", "input", "mapItems"].includes(name) ? one : move(one, name)]),
    );
  };
  return move(value, "") as T;
}

/** The start of an execution that goes on from a version of a history. */
function forkedStart(workflow: CompiledWorkflow, events: History, version: number): StartedEvent | null {
  const [started, ...others] = events;
  const snapshot = fold(workflow, [started, ...others.slice(0, version)]);
  if (snapshot.activePaths.length === 0 || snapshot.ending) return null;
  const checkpoint = takeCheckpoint(snapshot, { reason: "fork", laterMs: 0 });
  return throughJson({ ...started, checkpoint });
}

const withoutOrigin = ({ from: _, createdAt: __, ...rest }: Snapshot): object => rest;

describe("an execution that goes on from any version of another one", () => {
  it("comes to where that one came, if the same happens to it", () => {
    let forks = 0;
    fc.assert(
      fc.property(seeds, dice, fc.nat(), (seed, thrown, chosen) => {
        const { workflow, events } = historyOf(seed, thrown);
        const version = chosen % events.length;
        const started = forkedStart(workflow, events, version);
        if (!started) return;
        forks++;
        const rest = countedFrom(events.slice(version + 1), version);
        const forked = fold(workflow, [started, ...rest]);
        expect(forked.from).toEqual({ workflowId: started.workflowId, incarnation: started.incarnation, version, reason: "fork" });
        expect(forked.version).toBe(rest.length);
        expect(withoutOrigin(forked)).toEqual(withoutOrigin(countedFrom(fold(workflow, events), version)));
      }),
      { numRuns: tries(200) },
    );
    expect(forks).toBeGreaterThan(10);
  });

  it("is the same from the parts that a store keeps, and is read from outside", () => {
    fc.assert(
      fc.property(seeds, dice, fc.nat(), (seed, thrown, chosen) => {
        const { workflow, events } = historyOf(seed, thrown);
        const version = chosen % events.length;
        const started = forkedStart(workflow, events, version);
        if (!started) return;
        const draft = begin(workflow, started);
        const children = new Map<string, ChildHead>();
        for (const { key, head } of takeChanges(draft)) if (head) children.set(key, throughJson(head));
        for (const event of countedFrom(events.slice(version + 1), version)) evolve(draft, event);
        for (const { key, head } of takeChanges(draft)) {
          if (head) children.set(key, throughJson(head));
          else children.delete(key);
        }
        const snapshot = closeDraft(draft);
        const history = [started, ...countedFrom(events.slice(version + 1), version)];
        expect(restore({ head: throughJson(closedHead(draft)), children, events: history })).toEqual(snapshot);
        expect(readSnapshot(throughJson(snapshot), workflow)).toEqual(snapshot);
      }),
      { numRuns: tries(150) },
    );
  });
});
