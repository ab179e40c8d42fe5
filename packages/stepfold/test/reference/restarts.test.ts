import fc from "fast-check";
import { expect, it } from "vitest";
import { effort } from "../../../../scripts/test/effort.ts";
import { groupOf, itemOf, openScopes, parentKey, scopedKey } from "../../src/core/snapshot/address.ts";
import { type ActivePath, isTerminal, type Snapshot } from "../../src/core/snapshot/snapshot.ts";
import { plan } from "../../src/core/transition/plan.ts";
import { expectEqual } from "../testing/expect-equal.fixture.ts";
import { Engine } from "./lockstep.fixture.ts";
import type { ModelEvent } from "./model.fixture.ts";
import { type ModelDefinition, nodeOf } from "./model-definition.fixture.ts";
import { withoutCompensations } from "./model-lives.fixture.ts";
import { type Chance, chance, pick, randomGraph } from "./random-graph.fixture.ts";

const maxEvents = 60;
const mostRestarts = 4;
const seeds = fc.integer({ min: 0, max: 2 ** 30 });

/** The open paths of a snapshot, by the key of the step at which each stands: `0#1/3>0.1#4`, and its node. */
function openIn(snapshot: Snapshot): Map<string, ActivePath> {
  const open = new Map<string, ActivePath>();
  for (const [scope, paths] of openScopes(snapshot))
    for (const path of paths) open.set(`${scopedKey(scope, path.id)}#${path.visit} ${path.nodeId}`, path);
  return open;
}

/** The keys of the steps that could be performed now. */
function dueIn(snapshot: Snapshot): string[] {
  const open = openIn(snapshot);
  const tasks = new Set(plan(snapshot, -1).map(({ scope = "", pathId, nodeId }) => `${scopedKey(scope, pathId)} ${nodeId}`));
  return [...open.keys()].filter((key) => tasks.has(`${key.slice(0, key.lastIndexOf("#"))} ${open.get(key)!.nodeId}`));
}

/** What is known of an execution from its events alone. */
class Witness {
  readonly completed: Set<string>;
  /** The steps that have stood open when a step failed for good, also before earlier restarts. */
  readonly known: Set<string>;
  /** The steps that have failed for good since the last restart, without an edge that takes it. */
  readonly failed = new Set<string>();
  /**
   * What stood open before the event that decided the end, and whether that event is itself the failure or the cancellation. `map` is the
   * key of the items, if the execution has failed because a step of one of them has.
   */
  decided: { readonly open: ReadonlySet<string>; readonly isDirect: boolean; readonly map: string | null } | null = null;

  constructor({ completed, known }: Pick<Witness, "completed" | "known">) {
    this.completed = completed;
    this.known = known;
  }

  see(before: Snapshot, event: ModelEvent, after: Snapshot, definition: ModelDefinition | null): void {
    const open = openIn(before);
    const key = "task" in event ? keyOf(open, event.task) : null;
    if (event.type === "completed" && key) this.completed.add(key);
    const isFailure = event.type === "failed" && !event.retry && !isCaught(definition!, open.get(key!)!.nodeId);
    if (isFailure && key) {
      this.failed.add(key);
      for (const other of open.keys()) this.known.add(other);
    }
    if (!isTerminal(after.status) || this.decided) return;
    const scope = key ? parentKey(key) : "";
    const ofMap = isFailure && after.error?.code === "MAP_FAILED" && isItemOf(scope, groupOf(scope));
    const isDirect = event.type === "cancelled" || (isFailure && (scope === "" || ofMap));
    this.decided = { open: new Set(open.keys()), isDirect, map: ofMap ? groupOf(scope) : null };
  }
}

function keyOf(open: ReadonlyMap<string, ActivePath>, task: string): string | null {
  const path = task.slice(0, task.lastIndexOf("@"));
  return [...open.keys()].find((key) => key.startsWith(`${path}#`) && !key.slice(path.length + 1).includes(">")) ?? null;
}

function isCaught({ edges }: ModelDefinition, nodeId: string): boolean {
  return edges.some(({ source, sourceHandle }) => source === nodeId && sourceHandle === "error");
}

/** Chooses an event that could happen now; null if none can. */
function nextEvent(engine: Engine, random: Chance, failing: number): ModelEvent | null {
  const { snapshot } = engine;
  if (random() < 0.02) return { type: "cancelled" };
  const events: ModelEvent[] = plan(snapshot, -1).map(({ scope = "", pathId, turn, nodeId }): ModelEvent => {
    const task = `${scopedKey(scope, pathId)}@${turn}`;
    const definition = engine.definitionAt(scope);
    const node = nodeOf(definition, nodeId);
    if (random() < failing) return { type: "failed", task, retry: random() < 0.2 };
    const { resumed } = openPath(snapshot, scope, pathId);
    if ((node.type === "wait" || node.type === "signal") && !resumed) return { type: "suspended", task, waits: [{ kind: "external" }] };
    if (node.children && !resumed) return { type: "spawned", task };
    if (node.type === "end") return { type: "completed", task, handles: [], terminate: true };
    const names = new Set(definition.edges.flatMap((edge) => (edge.source === nodeId ? [edge.sourceHandle ?? ""] : [])));
    names.delete("error");
    const handles = [...names].filter((name) => random() < (name === "back" ? 0.2 : 0.8));
    return { type: "completed", task, handles };
  });
  for (const [scope, paths] of openScopes(snapshot))
    for (const { id, status, waits = [] } of paths) {
      for (const wait of waits) if (wait.kind === "external") events.push({ type: "resumed", wait: wait.id });
      if (status === "retrying") events.push({ type: "retried", path: scopedKey(scope, id) });
    }
  return events.length === 0 ? null : pick(random, events);
}

function openPath(snapshot: Snapshot, scope: string, pathId: string): ActivePath {
  for (const [key, paths] of openScopes(snapshot)) if (key === scope) return paths.find(({ id }) => id === pathId)!;
  throw new RangeError(`no scope ${scope}`);
}

/** Whether a scope is an item of a map in the execution itself. */
function isItemOf(scope: string, map: string | null): boolean {
  return map !== null && itemOf(scope) !== null && parentKey(scope) === "" && groupOf(scope) === map;
}

/** Compares what is open after a restart with what its history says. */
function checkRestart(before: Snapshot, after: Snapshot, { completed, known, failed, decided }: Witness, told: () => string): void {
  const open = openIn(after);
  const due = dueIn(after);
  expectEqual(
    due.filter((key) => completed.has(key)),
    [],
    told,
  );
  const { open: stood, isDirect, map } = decided!;
  const scopes = new Set([...openScopes(after)].map(([scope]) => scope));
  // paths that waited at a join may have met others that failed there before
  const joined = new Set([...open.values()].flatMap(({ nodeId, inputs }) => (inputs ? [nodeId] : [])));
  if (isDirect)
    expectEqual(
      [...stood].filter((key) => !open.has(key) && !joined.has(key.slice(key.indexOf(" ") + 1))),
      [],
      told,
    );
  // what failed is open again, where its scope goes on, and in every item of a map that failed
  const lost = [...failed].filter((key) => (scopes.has(parentKey(key)) || isItemOf(parentKey(key), map)) && !open.has(key));
  expectEqual(lost, [], told);
  // a join to which too few paths came is judged again, with the paths of all its failures
  if (isDirect)
    expectEqual(
      [...open].flatMap(([key, { status, inputs }]) => (known.has(key) || stood.has(key) || status === "joining" || inputs ? [] : [key])),
      [],
      told,
    );
  expect(after.restarts, told()).toBe((before.restarts ?? 0) + 1);
}

/** Lets an execution run to its end and restarts it, again and again. Returns the number of restarts. */
function restartsOf(graph: number, schedule: number): number {
  const definition = withoutCompensations(randomGraph(graph));
  const random = chance(schedule);
  const engine = new Engine(definition, Math.floor(random() * 3));
  const trail: unknown[] = [];
  const told = (): string => JSON.stringify({ definition, trail }).slice(0, 8_000);
  let witness = new Witness({ completed: new Set(), known: new Set() });
  let restarts = 0;
  for (let i = 0; i < maxEvents; i++) {
    const { snapshot } = engine;
    if (snapshot.status === "completed") break;
    if (isTerminal(snapshot.status)) {
      if (restarts === mostRestarts) break;
      engine.restart();
      trail.push("restart");
      // nothing could go on: the runtime refuses such a restart
      if (isTerminal(engine.snapshot.status)) break;
      checkRestart(snapshot, engine.snapshot, witness, told);
      expectEqual(engine.restored, engine.snapshot, told);
      witness = new Witness(witness);
      restarts++;
      continue;
    }
    const event = nextEvent(engine, random, restarts === mostRestarts ? 0 : 0.15);
    if (!event) break;
    trail.push(event);
    const scope = "task" in event ? parentKey(event.task) : "";
    const around = "task" in event ? engine.definitionAt(scope) : null;
    if (!engine.apply(event)) continue;
    witness.see(snapshot, event, engine.snapshot, around);
  }
  expectEqual(engine.folded(), engine.snapshot, told);
  return restarts;
}

const { graphs } = effort;

it(`a restart opens what failed and what was under way, under its keys, and performs nothing else again, on ${graphs} random graphs`, {
  timeout: 900_000,
}, () => {
  let restarts = 0;
  const property = fc.property(seeds, seeds, (graph, schedule) => {
    restarts += restartsOf(graph, schedule);
  });
  fc.assert(property, { numRuns: graphs });
  expect(restarts).toBeGreaterThan(graphs / 2);
});
