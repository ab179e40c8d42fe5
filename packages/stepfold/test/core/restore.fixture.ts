import { compile } from "../../src/core/definition/compile/compile.ts";
import type { CompiledWorkflow } from "../../src/core/definition/compiled.ts";
import type { Edge, Node, WorkflowDefinition } from "../../src/core/definition/definition.ts";
import { scopedKey } from "../../src/core/snapshot/address.ts";
import type { Event, StartedEvent } from "../../src/core/snapshot/event.ts";
import { type HistoryCheckpoint, historyCheckpoint } from "../../src/core/snapshot/history-checkpoint.ts";
import type { Spawn } from "../../src/core/snapshot/parts/spawn.ts";
import type { Wait } from "../../src/core/snapshot/parts/wait.ts";
import { restore } from "../../src/core/snapshot/restore.ts";
import type { ChildHead, Snapshot, SnapshotHead } from "../../src/core/snapshot/snapshot.ts";
import { begin } from "../../src/core/transition/begin.ts";
import { closeDraft, closedHead, takeChanges } from "../../src/core/transition/draft/close-draft.ts";
import { deadlineOf } from "../../src/core/transition/draft/deadline.ts";
import { type Draft, isChild, isHeldUp, type ScopeDraft } from "../../src/core/transition/draft/draft.ts";
import type { DraftPath } from "../../src/core/transition/draft/draft-path.ts";
import { deadlineIn } from "../../src/core/transition/draft/draft-status.ts";
import { scopeAt } from "../../src/core/transition/draft/open-draft.ts";
import { evolve, withConsequences } from "../../src/core/transition/evolve.ts";
import { hash32 } from "../../src/core/values/hash/seeded.ts";
import type { Json } from "../../src/core/values/json.ts";
import { expressionLanguage } from "../../src/expressions/expression-language.ts";
import { startedAt } from "./execution.fixture.ts";

/** What a store keeps of an execution, as JSON. */
class Kept {
  readonly events: Event[] = [];
  readonly children = new Map<string, ChildHead>();
  #head: SnapshotHead | undefined;
  #checkpoint: HistoryCheckpoint | null = null;

  /** Takes a commit of these events, as `runtime/context/make-commit.ts` makes it. */
  commit(draft: Draft, events: readonly Event[]): void {
    this.events.push(...events.map(throughJson));
    for (const { key, head } of takeChanges(draft)) {
      if (head) this.children.set(key, throughJson(head));
      else this.children.delete(key);
    }
    this.#head = throughJson(closedHead(draft));
  }

  /** Keeps a checkpoint of what was committed last. */
  checkpoint(draft: Draft): void {
    this.#checkpoint = throughJson(historyCheckpoint(closeDraft(draft)));
  }

  /** Restores the snapshot from all that is kept, without a checkpoint. */
  restored(): Snapshot {
    return restore({ head: this.#head!, children: this.children, events: this.events });
  }

  /** Restores the snapshot from the last checkpoint and the events after it. */
  restoredFromCheckpoint(): Snapshot {
    const checkpoint = this.#checkpoint;
    const events = this.events.filter(({ version }) => version > (checkpoint?.version ?? -1));
    return restore({ head: this.#head!, children: this.children, events, checkpoint });
  }
}

function throughJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

/** The data that a check gets after a commit. */
interface Moment {
  readonly workflow: CompiledWorkflow;
  readonly draft: Draft;
  readonly events: readonly [StartedEvent, ...Event[]];
  readonly restored: Snapshot;
  readonly restoredFromCheckpoint: Snapshot;
}

/** Runs at most 60 events that `thrown` chooses, commits them in groups of random size and calls `check` after each commit. */
export function keptHistory(definition: WorkflowDefinition, thrown: readonly number[], check: (moment: Moment) => void): void {
  let throws = 0;
  const roll = (): number => hash32(`${thrown[throws++ % thrown.length]} ${throws}`) / 2 ** 32;
  const workflow = compile(definition, expressionLanguage);
  const deadlineAt = deadlineOf(workflow, { metadata: {}, at: 1_000 });
  const started = startedAt(workflow, workflow.starts[0]!, { input: "start", ...(deadlineAt !== undefined && { deadlineAt }) });
  const kept = new Kept();
  const draft = begin(workflow, started);
  let pending: Event[] = [withConsequences(draft, started)];
  const commit = (): void => {
    kept.commit(draft, pending);
    pending = [];
    const { events } = kept;
    const [restored, restoredFromCheckpoint] = [kept.restored(), kept.restoredFromCheckpoint()];
    check({ workflow, draft, events: events as [StartedEvent, ...Event[]], restored, restoredFromCheckpoint });
    if (roll() < 0.3) kept.checkpoint(draft);
  };
  for (let count = 0; count < 60 && !draft.ended; count++) {
    if (pending.length > 0 && roll() < 0.6) commit();
    const moves = movesOf(draft);
    const event = moves[Math.floor(roll() * moves.length)]!(roll);
    if (evolve(draft, event)) pending.push(throughJson(withConsequences(draft, event)));
  }
  commit();
}

type Move = (roll: () => number) => Event;

/** The events that could happen next. */
function movesOf(draft: Draft): Move[] {
  const stamp = { version: draft.version + 1, at: 1_000 + draft.version };
  const moves: Move[] = [];
  for (const key of ["", ...draft.children.keys()]) {
    const scope = scopeAt(draft, key)!;
    if (scope.ended) continue;
    const placed = isChild(scope) ? { ...stamp, scope: key } : stamp;
    for (const path of scope.paths) moves.push(...movesOfPath(scope, path, placed));
    if (deadlineIn(scope) <= stamp.at) moves.push(() => ({ ...placed, type: "expired" }));
  }
  const scopes = [...draft.children.keys()].map((scope) => ({ scope }));
  moves.push((roll) => {
    if (roll() < 0.7)
      return { ...stamp, type: "signalled", name: "go", payload: draft.version, expiresAt: 8e15, ...keyed(roll), ...sized(roll) };
    return { ...stamp, ...(roll() < 0.8 && scopes[Math.floor(roll() * scopes.length)]), type: "cancelled" };
  });
  return moves;
}

function movesOfPath(scope: ScopeDraft, path: DraftPath, stamp: { readonly version: number; readonly at: number }): Move[] {
  const { id: pathId, nodeId, attempts, turn, status, waits, children } = path;
  const moves: Move[] = [];
  const step = {
    ...stamp,
    pathId,
    turn,
    nodeId,
    attempt: attempts + 1,
    startedAt: stamp.at - 1,
    ...(path.undoes && { undoes: path.undoes }),
  };
  const error = { name: "Error", message: `no luck at ${nodeId}`, nodeId };
  const { compensation } = scope.workflow.nodes.get(nodeId) ?? {};
  if (status === "ready" && !path.undoes && compensation && !path.begun) {
    const begun = (): Event => ({ ...stamp, type: "begun", pathId, turn, nodeId });
    moves.push(begun, begun);
  }
  const mayHaveActed = path.begun ? { begun: true as const } : {};
  // an item performs nothing while its map already runs as many items as it may
  if (status === "ready" && !(isChild(scope) && isHeldUp(scope))) {
    const work = (roll: () => number): Event => {
      const spawn = path.undoes ? null : spawnOf(scope.workflow, nodeId, roll);
      const dice = roll();
      if (dice < 0.07) return { ...step, type: "failed", error, retryAt: stamp.at, ...mayHaveActed };
      // a path that undoes a step may stand at a node of another scope, and it takes no edge
      const handle = !path.undoes && scope.workflow.nodes.get(nodeId)!.edges.has("error") ? { handle: "error" as const } : {};
      if (dice < 0.14) return { ...step, type: "failed", error, retryAt: null, ...handle, ...mayHaveActed };
      if (spawn) return { ...step, type: "spawned", visit: path.visit, children: roll() < 0.3 ? { ...spawn, timeoutAt: 8e15 } : spawn };
      if (dice < 0.3 && !path.undoes)
        return {
          ...step,
          type: "suspended",
          waits: [waitOf(scopedKey(scope.key, `${pathId}@${turn + 1}`), stamp.version, roll)],
          ...(roll() < 0.5 && { schemas: { [roll() < 0.5 ? "one" : "other"]: { title: "A" } } }),
          ...sized(roll),
        };
      if (path.resumed?.reopens && dice < 0.5) {
        const { waitId, version: answer } = path.resumed.reopens;
        const issues = [{ pointer: "/a", message: `is refused at ${stamp.version}` }];
        return { ...step, type: "answerRefused", waitId, ...(answer !== undefined && { answer }), issues, sizeBytes: 60 };
      }
      const moved = {
        ...step,
        type: "completed",
        output: { at: stamp.version },
        ...(dice < 0.4 && { handles: ["back"] }),
        ...sized(roll),
      } as const;
      return path.undoes ? moved : { ...moved, ...written(stamp.version, roll) };
    };
    // `work` is added four times, so that it is chosen most often
    moves.push(work, work, work, work);
  }
  if (status === "retrying") moves.push(() => ({ ...stamp, type: "retried", pathId }));
  const wait = waits?.[0];
  if (wait?.kind === "children") {
    moves.push(() => ({ ...stamp, type: "timedOut", pathId, nodeId, attempt: attempts + 1, waitId: wait.id, error }));
  } else if (wait) {
    moves.push((roll) => {
      const waitId = wait.id;
      if (roll() < 0.7)
        return {
          ...stamp,
          type: "resumed",
          pathId,
          waitId,
          by: "payload",
          who: `person ${roll()}`,
          payload: stamp.version,
          ...keyed(roll),
          ...sized(roll),
        };
      return { ...stamp, type: "timedOut", pathId, nodeId, attempt: attempts + 1, waitId, error };
    });
  }
  if (children?.map?.open) {
    moves.push((roll) => {
      if (roll() < 0.6) return { ...stamp, type: "itemAdded", pathId, item: { added: stamp.version, text: text(roll) } };
      return { ...stamp, type: "mapClosed", pathId, ...(roll() < 0.4 && { completes: true as const }) };
    });
  }
  return moves;
}

function spawnOf(workflow: CompiledWorkflow, nodeId: string, roll: () => number): Spawn | null {
  const { type, data } = workflow.nodes.get(nodeId)!.node;
  if (type !== "map" && type !== "workflow") return null;
  const { workflow: name } = data as { workflow: string };
  if (type === "workflow") return roll() < 0.5 ? { workflow: name } : { workflow: name, input: { given: nodeId, text: text(roll) } };
  const items: Json[] = Array.from({ length: Math.floor(roll() * 5) }, (_, index) => ({ item: index, text: text(roll) }));
  const remaining = roll() < 0.5 ? "finish" : "cancel";
  const early = roll() < 0.5 ? { completeWhen: 1 + Math.floor(roll() * 2) } : {};
  const open = roll() < 0.4 ? { open: true as const } : {};
  return {
    workflow: name,
    map: { items, concurrency: 1 + Math.floor(roll() * 3), remaining, tolerated: Math.floor(roll() * 3), ...early, ...open },
  };
}

function waitOf(id: string, version: number, roll: () => number): Wait {
  const typed = roll() < 0.5 && { typeSchema: "one" };
  const wait: Wait = { id, kind: "signal", signal: "go", timeoutAt: 8e15, ...(roll() < 0.5 && { payload: { asked: version } }), ...typed };
  return roll() < 0.1 ? { ...wait, quorum: 2, schema: { type: "number", title: `at ${version}` } } : wait;
}

/** Gives some events a size above 1 KiB, so that later heads only refer to their values and do not repeat them. */
function sized(roll: () => number): { readonly sizeBytes?: number } {
  return roll() < 0.4 ? { sizeBytes: 2_000 } : {};
}

/** Makes about half of the steps set some of three variables. */
function written(version: number, roll: () => number): { readonly variables?: Readonly<Record<string, Json>> } {
  if (roll() < 0.5) return {};
  const names = ["x", "y", "z"].filter(() => roll() < 0.5);
  return names.length > 0 ? { variables: Object.fromEntries(names.map((name) => [name, `${name} at ${version}`])) } : {};
}

function keyed(roll: () => number): { readonly idempotencyKey?: string } {
  return roll() < 0.3 ? { idempotencyKey: `key ${roll()}` } : {};
}

function text(roll: () => number): string {
  return "x".repeat(roll() < 0.3 ? 1_100 : 3);
}

/** A workflow with forks, joins, circles, things to undo and, two levels deep, maps and sub-workflows. */
export function randomDefinition(seed: number): WorkflowDefinition {
  let drawn = 0;
  const roll = (): number => hash32(`${seed}/${drawn++}`) / 2 ** 32;
  const item = randomGraph("item", 1 + Math.floor(roll() * 2), [], roll);
  const inner = randomGraph("inner", 1 + Math.floor(roll() * 3), ["item"], roll);
  const outer = randomGraph("outer", 2 + Math.floor(roll() * 4), ["inner", "item"], roll);
  return { ...(roll() < 0.4 ? withLast(outer, roll() < 0.5) : outer), workflows: { inner, item } };
}

/** Adds two nodes that run at the end of the execution (`finally`). */
function withLast({ nodes, edges, ...rest }: WorkflowDefinition, runsInner: boolean): WorkflowDefinition {
  const first: Node = runsInner ? { id: "last", type: "workflow", data: { workflow: "inner" } } : { id: "last", type: "noop" };
  return {
    ...rest,
    finally: "last",
    nodes: [...nodes, first, { id: "after", type: "noop" }],
    edges: [...edges, { source: "last", target: "after" }],
  };
}

function randomGraph(id: string, size: number, inner: readonly string[], roll: () => number): WorkflowDefinition {
  const place = (below: number): number => Math.floor(roll() * below);
  const edges: Edge[] = [];
  for (let to = 1; to < size; to++) {
    for (let times = 1 + place(2); times > 0; times--) edges.push({ source: `n${place(to)}`, target: `n${to}` });
  }
  if (roll() < 0.3) edges.push({ source: `n${size - 1}`, target: `n${place(size)}`, sourceHandle: "back" });
  if (size > 1 && roll() < 0.4) edges.push({ source: `n${place(size - 1)}`, target: `n${size - 1}`, sourceHandle: "error" });
  const nodes = Array.from({ length: size }, (_, index): Node => {
    const incoming = edges.filter(({ target }) => target === `n${index}`).length;
    const join = incoming > 1 && roll() < 0.7 ? { join: roll() < 0.5 ? ("all" as const) : 1 + place(incoming) } : {};
    const named = inner.length > 0 && roll() < 0.6 ? inner[place(inner.length)]! : null;
    const compensate = named === null && roll() < 0.3 ? { compensate: { type: "undo" } } : {};
    const work = named === null ? { type: "noop" } : { type: roll() < 0.7 ? "map" : "workflow", data: { workflow: named } };
    const keep = id === "outer" && roll() < 0.3 ? { keep: 1 + place(2) } : {};
    const retryPolicy = { maxAttempts: 1 + place(2), interval: 100, backoff: "fixed" } as const;
    const again = named !== null && roll() < 0.3 ? { retryPolicy } : {};
    return { id: `n${index}`, ...work, ...join, ...compensate, ...keep, ...again };
  });
  const timeout = roll() < (id === "outer" ? 0.2 : 0.4) ? { timeout: (id === "outer" ? 20 : 2) + place(20) } : {};
  return { id, start: "n0", nodes, edges, onFailure: roll() < 0.3 ? "finish" : "stop", ...timeout };
}
