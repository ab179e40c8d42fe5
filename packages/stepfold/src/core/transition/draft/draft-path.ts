import { stepNode } from "../../definition/code-nodes.ts";
import type { CompiledNode } from "../../definition/compiled.ts";
import type { ResumedEvent } from "../../snapshot/event.ts";
import { isLargeIn, referring } from "../../snapshot/large-values.ts";
import type { Acted } from "../../snapshot/parts/acted.ts";
import type { PresentRun } from "../../snapshot/parts/lineage.ts";
import type { UndoneBy } from "../../snapshot/parts/undone-by.ts";
import type { Answer, Reopening, Resumed, Wait } from "../../snapshot/parts/wait.ts";
import type { ActivePath, ChildrenState, MapState, NodeResult, ResultRef, Undo } from "../../snapshot/snapshot.ts";
import type { EpochMs } from "../../values/json.ts";
import { sizeOfResumed, sizeOfWaits, subtractSize } from "./held-size.ts";

/**
 * The changeable form of a path. Every object has all fields, because JavaScript engines access objects of one shape faster. For fields
 * without a comment see `ActivePath`.
 */
export interface DraftPath {
  /** False once `endPath` has removed the path from its scope. */
  open: boolean;
  id: string;
  nodeId: string;
  /** The node with the id `nodeId`. If the path undoes a step of a child, it is a node of the child's workflow. */
  node: CompiledNode;
  status: ActivePath["status"];
  turn: number;
  visit: number;
  attempts: number;
  since: number;
  forks: number;
  via: string | undefined;
  waves: Readonly<Record<string, string>> | undefined;
  inputs: readonly ResultRef[] | undefined;
  waits: readonly Wait[] | undefined;
  children: DraftChildren | undefined;
  draining: boolean;
  nextRetryAt: EpochMs | undefined;
  resumed: Resumed | undefined;
  begun: boolean;
  acted: Acted | undefined;
  undoes: Undo | undefined;
  undo: UndoneBy | undefined;
  /** The nodes that the path came through, at most the last 8. The list is a copy, so it may be changed. */
  stepPath: string[];
}

/** The children of a path, and counters of them. For fields without a comment see `ChildrenState`. */
export interface DraftChildren {
  /** The path that waits for the children, or that drains: it stays until they have ended. */
  path: DraftPath;
  readonly key: string;
  readonly workflow: string;
  map: MapState | undefined;
  /** The value of `map` when it was last checked whether the map is complete; while it is the same object, no new check is needed. */
  judged: MapState | undefined;
  /** The number of children that are active or retrying, without queued items: the number that `concurrency` limits. */
  busy: number;
  /** The number of busy children with the status `error`: they have no ready path, only a pending retry. */
  retrying: number;
  /** The keys of children that are ready and wait for a place in the map, in the order in which they began to wait. */
  queue: string[];
}

/**
 * Returns a new path at its first node. It has the id of the first path of a scope; paths that undo or run `finally` get another one.
 *
 * @param ahead by how much its turns and forks are raised, because a path of this id had begun before a restart
 */
export function firstPath(node: CompiledNode, since: number, ahead = 0): DraftPath {
  return {
    open: true,
    id: "0",
    nodeId: node.node.id,
    node,
    status: "ready",
    turn: 1 + ahead,
    visit: 1 + ahead,
    attempts: 0,
    since,
    forks: ahead,
    via: undefined,
    waves: undefined,
    inputs: undefined,
    waits: undefined,
    children: undefined,
    draining: false,
    nextRetryAt: undefined,
    resumed: undefined,
    begun: false,
    acted: undefined,
    undoes: undefined,
    undo: undefined,
    stepPath: [],
  };
}

/** Begins a new visit of a path at its present node. The new visit number keeps new children apart from those of the visit before. */
export function visitAgain(path: DraftPath): void {
  path.turn++;
  path.visit = path.turn;
}

/** Returns what the result of a step keeps if the step can be undone: the key under which it has acted, and what undoes it. */
export function actedBy({ node, visit: visited, undo }: DraftPath): Pick<NodeResult, "acted" | "undo"> {
  return node.compensation ? { acted: Object.freeze({ visit: visited }), ...(undo && { undo }) } : {};
}

/** Returns a node; with `undo`, that of a step which code has asked for. */
export function nodeWith(nodes: ReadonlyMap<string, CompiledNode>, nodeId: string, undo: UndoneBy | undefined): CompiledNode {
  return undo ? stepNode(nodeId, { undo }) : nodes.get(nodeId)!;
}

/** Opens a path of a snapshot for changes. The counters of its children are set later (see `openChildCollections`). */
export function openPath(path: ActivePath, nodes: ReadonlyMap<string, CompiledNode>): DraftPath {
  const { id, nodeId, status, turn, visit, attempts, since, forks = 0, via, waves, inputs, waits, draining = false } = path;
  const { nextRetryAt, resumed, begun = false, acted, undoes, undo, stepPath } = path;
  const opened: DraftPath = {
    open: true,
    id,
    nodeId,
    node: nodeWith(nodes, nodeId, undo ?? undoes?.undo),
    status,
    turn,
    visit,
    attempts,
    since,
    forks,
    via,
    waves,
    inputs,
    waits,
    children: undefined,
    draining,
    nextRetryAt,
    resumed,
    begun,
    acted,
    undoes,
    undo,
    stepPath: [...stepPath],
  };
  if (path.children) opened.children = openChildren(opened, path.children);
  return opened;
}

/** Moves a path to a node and begins a new visit there (docs/path-semantics.md, "Paths and their names"). */
export function visit(path: DraftPath, node: CompiledNode, version: number): void {
  path.nodeId = node.node.id;
  path.node = node;
  path.turn++;
  path.visit = path.turn;
  path.attempts = 0;
  path.since = version;
  path.waits = undefined;
  path.nextRetryAt = undefined;
  path.resumed = undefined;
  path.begun = false;
  path.acted = undefined;
}

/** Returns the children of a path with all counters at 0. */
export function openChildren(path: DraftPath, { key, workflow, map }: ChildrenState): DraftChildren {
  return { path, key, workflow, map, judged: undefined, busy: 0, retrying: 0, queue: [] };
}

/** Returns the path in the form that a snapshot holds: fields without a value are absent. */
export function closePath(path: DraftPath): ActivePath {
  const { id, nodeId, status, turn, visit, attempts, since, children } = path;
  const active: { -readonly [K in keyof ActivePath]: ActivePath[K] } = {
    id,
    nodeId,
    status,
    turn,
    visit,
    attempts,
    since,
    stepPath: Object.freeze([...path.stepPath]),
  };
  if (path.forks > 0) active.forks = path.forks;
  if (path.via !== undefined) active.via = path.via;
  if (path.waves) active.waves = path.waves;
  if (path.inputs) active.inputs = path.inputs;
  if (path.waits) active.waits = path.waits;
  if (children) active.children = closeChildren(children);
  if (path.draining) active.draining = true;
  if (path.nextRetryAt !== undefined) active.nextRetryAt = path.nextRetryAt;
  if (path.resumed) active.resumed = path.resumed;
  if (path.begun) active.begun = true;
  if (path.acted) active.acted = path.acted;
  if (path.undoes) active.undoes = path.undoes;
  if (path.undo) active.undo = path.undo;
  return Object.freeze(active);
}

function closeChildren({ key, workflow, map }: DraftChildren): ChildrenState {
  return Object.freeze(map ? { key, workflow, map } : { key, workflow });
}

/** The fields of a path from which its retry follows. Paths of a snapshot and of a draft both have them. */
type Retried = Pick<ActivePath, "status"> & { readonly nextRetryAt?: ActivePath["nextRetryAt"] | undefined };

/** Returns the path whose retry is due first; null if no retry is pending. */
export function earliestRetry<P extends Retried>(paths: readonly P[]): P | null {
  let first: P | null = null;
  for (const path of paths) {
    if (path.status === "retrying" && (first === null || (path.nextRetryAt ?? 0) < (first.nextRetryAt ?? 0))) first = path;
  }
  return first;
}

/** The fields of the execution that a change of a path reads or changes. */
interface Root {
  readonly incarnation?: string | undefined;
  sizeBytes: number;
  run: PresentRun | undefined;
}

/** Removes the waits of a path and the data with which it was resumed, and subtracts their size. */
export function clearWaits(root: { sizeBytes: number }, path: DraftPath): void {
  const { waits, resumed } = path;
  if (waits) subtractSize(root, sizeOfWaits(waits));
  if (resumed) subtractSize(root, sizeOfResumed(resumed));
  path.waits = undefined;
  path.resumed = undefined;
}

/** Returns the status of a path that has come to a node. `held`: it may have to wait for its turn (`mutex`) or for a condition (`when`). */
export function statusAtEntry({ node: { node, when } }: Pick<DraftPath, "node">): "held" | "ready" {
  return when || node.mutex !== undefined ? "held" : "ready";
}

/**
 * Makes a suspended path perform its node again (after a wait for `startAt`: for the first time), and removes all its waits.
 *
 * @param version the version of the answer; undefined for a signal from the inbox
 */
export function wake(root: Root, path: DraftPath, wait: Wait, given: Resumed, version?: number): void {
  const heldBytes = sizeOfWaits(path.waits!);
  // a timer brings no payload that the code of the node could refuse
  const reopens = given.by === "timer" ? null : reopeningOf(path.waits!, wait, version);
  const told: Resumed = reopens ? { ...given, reopens } : given;
  const why: Resumed = wait.yields && isChecked(wait, given, version) ? { ...told, yields: true } : told;
  path.status = wait.begins ? statusAtEntry(path) : "ready";
  path.turn++;
  path.waits = undefined;
  if (wait.begins) return;
  if (root.run?.quick !== undefined && given.by !== "child" && given.by !== "delivery") root.run = withoutQuick(root.run);
  path.resumed = Object.freeze(wait.payload === undefined ? why : { ...why, suspendPayload: wait.payload });
  const at = wait.inEvents?.payload;
  if (at !== undefined) path.resumed = { ...path.resumed, inEvents: { ...why.inEvents, suspendPayload: at } };
  const { payload: _, ...kept } = path.resumed;
  // the size of the payload is added with its event
  subtractSize(root, heldBytes - sizeOfResumed(kept));
}

/**
 * Whether nothing is left to check in an answer. A signal that came before the wait (without `version`) was not checked against the schema of
 * the wait or of the type; neither was any answer that only the code of the type can check.
 */
function isChecked({ typeSchema }: Wait, { by, schema }: Resumed, version: number | undefined): boolean {
  return by === "timer" || typeSchema === undefined ? schema === undefined : version !== undefined && typeSchema !== "code";
}

/** A run that an answer, a signal or a timer has moved does not count as quick: the loop waits for something, and needs no brake. */
function withoutQuick({ quick: _, ...run }: PresentRun): PresentRun {
  return Object.freeze(run);
}

/** Returns what opens again if the code of the node refuses the answer; null if the type of the node says nothing about the payload. */
function reopeningOf(waits: readonly Wait[], { id, typeSchema }: Wait, version: number | undefined): Reopening | null {
  if (typeSchema === undefined) return null;
  return Object.freeze({ waitId: id, waits: Object.freeze(waits.map(withoutPayload)), ...(version !== undefined && { version }) });
}

function withoutPayload({ payload: _, inEvents, ...wait }: Wait): Wait {
  if (!inEvents) return Object.freeze(wait);
  const { payload: __, ...places } = inEvents;
  return Object.freeze(Object.keys(places).length > 0 ? { ...wait, inEvents: Object.freeze(places) } : wait);
}

/** Records an answer to a wait. The path wakes, unless the wait needs more answers. */
export function recordAnswer(root: Root, path: DraftPath, wait: Wait, event: ResumedEvent): void {
  const { by, payload, who, at } = event;
  const held = <H extends Resumed | Answer>(holder: H): H =>
    isLargeIn(root, event) ? referring(holder, `${event.version}`, "payload") : Object.freeze(holder);
  const why: Resumed = held({ by, ...(payload !== undefined && { payload }), ...(who !== undefined && { who }) });
  if (by === "timer" || wait.quorum === undefined) {
    wake(root, path, wait, why, event.version);
    return;
  }
  const given: Answer = held(payload === undefined ? { by: who!, at } : { by: who!, at, payload });
  const answers = Object.freeze([...(wait.answers ?? []), given]);
  if (isDecided(wait, answers)) {
    wake(root, path, wait, { ...why, answers }, event.version);
    return;
  }
  path.waits = Object.freeze(path.waits!.map((open) => (open === wait ? Object.freeze({ ...wait, answers }) : open)));
}

/**
 * True if no further answer can change the result of a wait: its quorum is reached or, if only answers with a true `tally` member count,
 * can no longer be reached.
 */
function isDecided({ quorum = 1, tally, responders }: Wait, answers: readonly Answer[]): boolean {
  if (tally === undefined) return answers.length >= quorum;
  const favourable = answers.filter((given) => countsForQuorum(given, tally)).length;
  const against = answers.length - favourable;
  return favourable >= quorum || against >= (responders ? responders.length - quorum + 1 : quorum);
}

/** True if the member `tally` of an answer's payload is true, so that the answer counts for the quorum. */
export function countsForQuorum({ payload }: Answer, tally: string): boolean {
  return (
    typeof payload === "object" && payload !== null && Object.hasOwn(payload, tally) && (payload as Record<string, unknown>)[tally] === true
  );
}
