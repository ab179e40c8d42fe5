import type { CompiledWorkflow } from "../definition/compiled.ts";
import { groupOf, heldUp, isResting, openScopes, parentKey, scopedKey } from "../snapshot/address.ts";
import type { ActivePath, ChildState, Snapshot } from "../snapshot/snapshot.ts";
import { deadlineIn, earliestTimer } from "../transition/draft/draft-status.ts";
import type { EpochMs } from "../values/json.ts";

/** What an open path, or an item of a map, does or waits for. */
export type OpenStatus =
  /** A step can run or is running. */
  | "running"
  | "retrying"
  /** The path waits for an answer from outside, or a decision about a failed step. */
  | "somebody"
  | "signal"
  /** The path waits for the end of a detached execution, or the arrival of its signal at one. */
  | "execution"
  | "time"
  /** The path waits at a join. */
  | "branches"
  /** The path is held by a `mutex` or a `when`. */
  | "turn"
  /** The item is ready, but its map already runs as many items as it may. */
  | "place"
  /** The path waits for its children. */
  | "children";

/** A path and its scope. */
export interface Placed {
  /** The key of the child that the path is in; empty for the execution itself. */
  readonly scope: string;
  readonly path: ActivePath;
}

/** The open children of one path. */
export interface Group {
  /** The number of open children with each status. */
  readonly counts: Record<OpenStatus, number>;
  /** The keys of the children that are explained one by one, the most important one first. */
  readonly first: readonly string[];
}

/** Everything that is open in an execution, collected in one pass. */
export interface Survey {
  /** The number of open paths with each status. */
  readonly counts: Record<OpenStatus, number>;
  /** The open children of each path, by the scoped key of `ChildrenState`, such as `0#1/3>0#2`. */
  readonly groups: ReadonlyMap<string, Group>;
  /** The first step that can run; if there is none, the first code; null if there is none either. */
  readonly ready: Placed | null;
  /** The path with the earliest retry or timer; null if there is none. */
  readonly first: (Placed & { readonly at: EpochMs }) | null;
  /** The deadline that comes first, and the scope that must have ended by then; null if there is none. */
  readonly deadline: { readonly scope: string; readonly at: EpochMs } | null;
  /** The only open place, apart from paths that wait for children; if there are only such paths, the first. Null if there are several. */
  readonly only: Placed | null;
}

/** The largest number of children of one path that are explained one by one. */
const maxChildren = 5;

/** The order in which paths and children are explained. */
const interest: readonly OpenStatus[] = ["somebody", "signal", "retrying", "running", "execution", "time", "branches", "turn", "place"];

/**
 * Collects everything that is open, with one look at each open path of each scope and at each child. The path of code is no place while steps of
 * the code are open.
 *
 * @param workflowOf returns the workflow of a scope, if it is known: without it, only code that rests is recognised
 */
export function survey(
  snapshot: Pick<Snapshot, "activePaths" | "childStates" | "deadlineAt" | "ending" | "closing">,
  workflowOf: (scope: string) => CompiledWorkflow | undefined,
): Survey {
  const counts = noCounts();
  const asking = new Map<string, "somebody" | "signal">();
  let ready: Placed | null = null;
  let going: Placed | null = null;
  let first: (Placed & { at: EpochMs }) | null = null;
  let deadline = { scope: "", at: deadlineIn(snapshot) };
  let only: Placed | null = null;
  let leaves = 0;
  for (const [scope, paths] of openScopes(snapshot)) {
    const endsBy = scope === "" ? deadline.at : deadlineIn(snapshot.childStates![scope]!);
    if (endsBy < deadline.at) deadline = { scope, at: endsBy };
    const isHeldUp = heldUp(snapshot, scope);
    const frame = frameIn(paths, () => workflowOf(scope));
    if (frame?.status === "ready" && !isHeldUp) going ??= { scope, path: frame };
    for (const path of paths) {
      if (path === frame) continue;
      const standing = openStatusOf(path, isHeldUp);
      counts[standing]++;
      if (standing === "children") {
        // if there are only maps without items, the first of them is the place to show
        if (leaves === 0) only ??= { scope, path };
        continue;
      }
      if (++leaves === 1) only = { scope, path };
      if (standing === "running") ready ??= { scope, path };
      if (standing === "somebody" || standing === "signal") mark(asking, scope, standing);
      const at = isHeldUp ? null : movesAt(path);
      if (at !== null && (!first || at < first.at)) first = { scope, path, at };
    }
  }
  const next = { ready: ready ?? going, first, deadline: deadline.at === Number.POSITIVE_INFINITY ? null : deadline };
  return { counts, groups: groupsOf(snapshot, asking), ...next, only: leaves > 1 ? null : only };
}

/** Returns the path of the code of a scope if steps of the code are open: they are the places then, and the code is their frame. */
export function frameIn(paths: readonly ActivePath[], workflow: () => CompiledWorkflow | undefined): ActivePath | undefined {
  const first = paths.length > 1 ? paths[0] : undefined;
  return first && (isResting(first) || holdsCode(first, workflow())) ? first : undefined;
}

/** Whether a path holds the code of its scope. @param workflow the workflow of the scope; undefined if it is not known */
export function holdsCode({ nodeId, undoes }: ActivePath, workflow: CompiledWorkflow | undefined): boolean {
  return workflow?.code === true && nodeId === workflow.starts[0] && !undoes;
}

/** Returns the time at which a path moves by itself, because of a retry or a timer; null if there is no such time. */
export function movesAt(path: ActivePath): EpochMs | null {
  return path.status === "retrying" ? (path.nextRetryAt ?? 0) : earliestTimer([path]);
}

/** Returns what a path does or waits for. @param isHeldUp true if its item, or an item around it, waits for a place in its map */
function openStatusOf({ status, waits = [], children }: ActivePath, isHeldUp: boolean): OpenStatus {
  if (status === "ready") return isHeldUp ? "place" : "running";
  if (status === "retrying") return "retrying";
  if (status === "joining") return "branches";
  if (status === "held") return "turn";
  if (children) return "children";
  const has = (kind: string): boolean => waits.some((wait) => wait.kind === kind);
  return has("external") || has("incident")
    ? "somebody"
    : has("signal")
      ? "signal"
      : has("child") || has("delivery")
        ? "execution"
        : "time";
}

/** Chooses the paths to explain. If there are too many: paths with children come first, then the others in the order of `interest`. */
export function byImportance(paths: readonly ActivePath[], maxCount: number): readonly ActivePath[] {
  if (paths.length <= maxCount) return paths;
  const buckets = new Map<OpenStatus, ActivePath[]>();
  for (const path of paths) put(buckets, openStatusOf(path, false), path, maxCount);
  return [...(buckets.get("children") ?? []), ...inOrder(buckets)].slice(0, maxCount);
}

/** Marks a child that waits for an answer or a signal, and every child around it. */
function mark(asking: Map<string, "somebody" | "signal">, scope: string, what: "somebody" | "signal"): void {
  for (let key = scope; key !== ""; key = parentKey(key)) {
    const known = asking.get(key);
    if (known === "somebody" || known === what) return;
    asking.set(key, what);
  }
}

function groupsOf(snapshot: Pick<Snapshot, "childStates">, asking: ReadonlyMap<string, OpenStatus>): ReadonlyMap<string, Group> {
  const found = new Map<string, { counts: Record<OpenStatus, number>; buckets: Map<OpenStatus, string[]> }>();
  for (const [key, child] of Object.entries(snapshot.childStates ?? {})) {
    if (child.activePaths.length === 0) continue;
    const name = scopedKey(parentKey(key), groupOf(key));
    let group = found.get(name);
    if (!group) {
      group = { counts: noCounts(), buckets: new Map() };
      found.set(name, group);
    }
    const standing = openStatusOfChild(child, asking.get(key));
    group.counts[standing]++;
    put(group.buckets, standing, key, maxChildren);
  }
  return new Map([...found].map(([name, { counts, buckets }]) => [name, { counts, first: inOrder(buckets).slice(0, maxChildren) }]));
}

function openStatusOfChild({ status, queued }: ChildState, asked: OpenStatus | undefined): OpenStatus {
  if (queued !== undefined) return "place";
  if (status === "active") return "running";
  return status === "error" ? "retrying" : (asked ?? "time");
}

function put<T>(buckets: Map<OpenStatus, T[]>, standing: OpenStatus, entry: T, maxCount: number): void {
  const bucket = buckets.get(standing);
  if (!bucket) buckets.set(standing, [entry]);
  else if (bucket.length < maxCount) bucket.push(entry);
}

function inOrder<T>(buckets: ReadonlyMap<OpenStatus, readonly T[]>): T[] {
  return interest.flatMap((standing) => buckets.get(standing) ?? []);
}

function noCounts(): Record<OpenStatus, number> {
  return {
    running: 0,
    retrying: 0,
    somebody: 0,
    signal: 0,
    execution: 0,
    time: 0,
    branches: 0,
    turn: 0,
    place: 0,
    children: 0,
  };
}
