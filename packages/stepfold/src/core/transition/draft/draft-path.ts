import type { CompiledNode } from "../../definition/compiled.ts";
import type { ResumedEvent } from "../../snapshot/event.ts";
import { isLargeIn, referring } from "../../snapshot/large-values.ts";
import type { ActivePath, Answer, ChildrenState, MapState, Reopening, ResultRef, Resumed, Undo, Wait } from "../../snapshot/snapshot.ts";
import type { EpochMs } from "../../values/json.ts";
import { sizeOfResumed, sizeOfWaits, subtractSize } from "./held-size.ts";

/** A path that its draft may change. Constant shape: every field is always there. */
export interface DraftPath {
  /** False once it has ended. */
  open: boolean;
  id: string;
  nodeId: string;
  /** The node with that id; of a compensation in a child, the child's. */
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
  undoes: Undo | undefined;
  /** The draft's own list. */
  stepPath: string[];
}

/** The children of a path, with what is counted of them. */
export interface DraftChildren {
  /** The path that waits for them. */
  path: DraftPath;
  readonly key: string;
  readonly workflow: string;
  map: MapState | undefined;
  /** The map as it was when last asked whether it is complete. */
  judged: MapState | undefined;
  /** Children that are active or retrying; for a map those that count against its `concurrency`. */
  busy: number;
  /** Busy children that only wait for a retry. */
  retrying: number;
  /** Keys of children that are ready and wait for room in the map, oldest first. */
  queue: string[];
}

/** A path at the first node of a scope. */
export function firstPath(node: CompiledNode, since: number): DraftPath {
  return {
    open: true,
    id: "0",
    nodeId: node.node.id,
    node,
    status: "ready",
    turn: 1,
    visit: 1,
    attempts: 0,
    since,
    forks: 0,
    via: undefined,
    waves: undefined,
    inputs: undefined,
    waits: undefined,
    children: undefined,
    draining: false,
    nextRetryAt: undefined,
    resumed: undefined,
    begun: false,
    undoes: undefined,
    stepPath: [],
  };
}

/** Begins a new visit of a path at the node where it is: what the last one has begun stays apart from it. */
export function visitAgain(path: DraftPath): void {
  path.turn++;
  path.visit = path.turn;
}

/** Opens a path of a snapshot for changes. Its children are counted later. */
export function openPath(path: ActivePath, nodes: ReadonlyMap<string, CompiledNode>): DraftPath {
  const { id, nodeId, status, turn, visit, attempts, since, forks = 0, via, waves, inputs, waits, draining = false } = path;
  const { nextRetryAt, resumed, begun = false, undoes, stepPath } = path;
  const opened: DraftPath = {
    open: true,
    id,
    nodeId,
    node: nodes.get(nodeId)!,
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
    undoes,
    stepPath: [...stepPath],
  };
  if (path.children) opened.children = openChildren(opened, path.children);
  return opened;
}

/** Begins a new visit of a path, at this node (docs/path-semantics.md, "Paths and their names"). */
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
}

/** Counters of children before the first one is known. */
export function openChildren(path: DraftPath, { key, workflow, map }: ChildrenState): DraftChildren {
  return { path, key, workflow, map, judged: undefined, busy: 0, retrying: 0, queue: [] };
}

/** The path as a snapshot holds it: what is empty is absent. */
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
  if (path.undoes) active.undoes = path.undoes;
  return Object.freeze(active);
}

function closeChildren({ key, workflow, map }: DraftChildren): ChildrenState {
  return Object.freeze(map ? { key, workflow, map } : { key, workflow });
}

/** What is read of a path; drafts have it too. */
type Retried = Pick<ActivePath, "status"> & { readonly nextRetryAt?: ActivePath["nextRetryAt"] | undefined };

/** The retry that comes first, by path; null if none is pending. */
export function earliestRetry<P extends Retried>(paths: readonly P[]): P | null {
  let first: P | null = null;
  for (const path of paths) {
    if (path.status === "retrying" && (first === null || (path.nextRetryAt ?? 0) < (first.nextRetryAt ?? 0))) first = path;
  }
  return first;
}

/** What of the execution the change of a path depends on, and changes. */
interface Root {
  readonly incarnation?: string;
  sizeBytes: number;
}

/** Lets go of what a path has waited for and was resumed with: it is no longer held. */
export function letGo(root: { sizeBytes: number }, path: DraftPath): void {
  const { waits, resumed } = path;
  if (waits) subtractSize(root, sizeOfWaits(waits));
  if (resumed) subtractSize(root, sizeOfResumed(resumed));
  path.waits = undefined;
  path.resumed = undefined;
}

/** The status of a path that has come to a node: it may have to wait for its turn, or until an expression holds. */
export function statusAtEntry({ node: { node, when } }: Pick<DraftPath, "node">): "held" | "ready" {
  return when || node.mutex !== undefined ? "held" : "ready";
}

/** Makes a suspended path perform its node again, and withdraws all its waits. @param version of the answer; absent for a signal that was kept */
export function wake(root: Root, path: DraftPath, wait: Wait, given: Resumed, version?: number): void {
  const heldBytes = sizeOfWaits(path.waits!);
  const reopens = given.by === "timer" ? null : reopeningOf(path.waits!, wait, version);
  const why: Resumed = reopens ? { ...given, reopens } : given;
  path.status = wait.begins ? statusAtEntry(path) : "ready";
  path.turn++;
  path.waits = undefined;
  if (wait.begins) return;
  path.resumed = Object.freeze(wait.payload === undefined ? why : { ...why, suspendPayload: wait.payload });
  const at = wait.inEvents?.payload;
  if (at !== undefined) path.resumed = { ...path.resumed, inEvents: { ...why.inEvents, suspendPayload: at } };
  const { payload: _, ...kept } = path.resumed;
  // the payload is counted with its event
  subtractSize(root, heldBytes - sizeOfResumed(kept));
}

/** What opens again if the code of the node refuses the answer; null where that has nothing to say. */
function reopeningOf(waits: readonly Wait[], { id, typeSchema }: Wait, version: number | undefined): Reopening | null {
  if (typeSchema === undefined) return null;
  return Object.freeze({ waitId: id, waits: Object.freeze(waits.map(withoutPayload)), ...(version !== undefined && { version }) });
}

function withoutPayload({ payload: _, inEvents, ...wait }: Wait): Wait {
  if (!inEvents) return Object.freeze(wait);
  const { payload: __, ...places } = inEvents;
  return Object.freeze(Object.keys(places).length > 0 ? { ...wait, inEvents: Object.freeze(places) } : wait);
}

/** Records an answer to a wait. The path wakes unless the wait needs more answers. */
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
 * True if no further answer can change the result of a wait: its quorum is reached or, where answers differ in kind,
 * can no longer be reached.
 */
function isDecided({ quorum = 1, tally, responders }: Wait, answers: readonly Answer[]): boolean {
  if (tally === undefined) return answers.length >= quorum;
  const favourable = answers.filter((given) => isFor(given, tally)).length;
  const against = answers.length - favourable;
  return favourable >= quorum || against >= (responders ? responders.length - quorum + 1 : quorum);
}

/** True if an answer counts for the quorum. */
export function isFor({ payload }: Answer, tally: string): boolean {
  return (
    typeof payload === "object" && payload !== null && Object.hasOwn(payload, tally) && (payload as Record<string, unknown>)[tally] === true
  );
}
