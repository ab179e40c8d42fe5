import {
  type ActivePath,
  type EpochMs,
  type Explanation,
  groupOf,
  type ItemCounts,
  parentKey,
  type Snapshot,
  scopedKey,
} from "stepfold/core";
import type { ShownStatus } from "../../ui/status/shown-status.ts";

/** How far the items of a map are. */
export interface ItemProgress {
  readonly total: number;
  readonly done: number;
  readonly failed: number;
  readonly cancelled: number;
  /** Items that run or are to be retried. Null: not counted, because the execution has too many places. */
  readonly underWay: number | null;
  /** Items that wait for something. Null: not counted. */
  readonly waiting: number | null;
  /** The most items at once. */
  readonly concurrency: number;
}

/** Where an execution stands at one node of its own graph. */
export interface NodeStatus {
  readonly status: ShownStatus;
  /** The number of open paths at the node. */
  readonly paths: number;
  /** How many of them wait for other branches at a join. */
  readonly joining: number;
  /** A path waits for its turn, or until a condition holds. */
  readonly isHeld: boolean;
  /** When a path moves by itself. Null: no time is set. */
  readonly until: EpochMs | null;
  /** The number of the next attempt, or the present one. */
  readonly attempt: number;
  /** How many answers have come, and how many there must be at least. Null: one answer is enough. */
  readonly quorum: { readonly came: number; readonly wanted: number } | null;
  readonly items: ItemProgress | null;
  /** The version at which the last of them arrived, or began to run. */
  readonly since: number;
}

/** The more urgent state wins if several paths stand at one node. */
const urgency: readonly ShownStatus[] = ["not-yet", "active", "retrying", "paused", "parked"];

/** Returns where an execution stands, by node of its own graph. */
export function standingsOf(snapshot: Snapshot, explanation: Explanation): Map<string, NodeStatus> {
  const counts = new Map<string, ItemCounts>();
  for (const { pathId, items } of explanation.places) if (items) counts.set(pathId, items);
  const inside = new Map<string, ShownStatus>();
  for (const [key, child] of Object.entries(snapshot.childStates ?? {})) {
    const outermost = outermostKey(key);
    for (const path of child.activePaths) inside.set(outermost, urgent(inside.get(outermost) ?? "not-yet", ownStatus(path) ?? "active"));
  }
  const standings = new Map<string, NodeStatus>();
  for (const path of snapshot.activePaths) {
    if (path.draining) continue;
    const one = nodeStatusOf(path, counts.get(path.id) ?? null, inside, snapshot.parked !== undefined);
    const before = standings.get(path.nodeId);
    standings.set(path.nodeId, before ? together(before, one) : one);
  }
  return standings;
}

/** The group of children of the execution itself that a child lies in. */
function outermostKey(key: string): string {
  let outermost = key;
  for (let around = parentKey(key); around !== ""; around = parentKey(around)) outermost = around;
  return groupOf(outermost);
}

function nodeStatusOf(
  path: ActivePath,
  counts: ItemCounts | null,
  inside: ReadonlyMap<string, ShownStatus>,
  isParked: boolean,
): NodeStatus {
  const { children, waits = [], attempts, status } = path;
  // a map is always under way; a sub-workflow is what the most urgent of its paths is
  const own = ownStatus(path) ?? (children?.map ? "active" : (inside.get(scopedKey("", children?.key ?? "")) ?? "active"));
  const quorum = waits.find(({ quorum: wanted }) => wanted !== undefined);
  return {
    status: isParked && own !== "not-yet" ? "parked" : own,
    paths: 1,
    joining: status === "joining" ? 1 : 0,
    isHeld: status === "held",
    until: timeOf(path),
    attempt: attempts + 1,
    quorum: quorum ? { came: quorum.answers?.length ?? 0, wanted: quorum.quorum! } : null,
    items: progressOf(path, counts),
    since: path.since,
  };
}

/** Returns what a path does by itself; null if that depends on its children. */
function ownStatus({ status, children }: ActivePath): ShownStatus | null {
  if (status === "ready") return "active";
  if (status === "retrying") return "retrying";
  if (status === "joining" || status === "held") return "not-yet";
  return children ? null : "paused";
}

function progressOf({ children }: ActivePath, counts: ItemCounts | null): ItemProgress | null {
  const map = children?.map;
  if (!map) return null;
  const { total, done, failed, cancelled, concurrency } = map;
  const open = counts && { underWay: counts.underWay + counts.retrying, waiting: counts.waiting + counts.timed };
  return { total, done, failed, cancelled, concurrency, underWay: open?.underWay ?? null, waiting: open?.waiting ?? null };
}

function timeOf({ nextRetryAt, waits = [] }: ActivePath): EpochMs | null {
  const times = waits.flatMap(({ resumeAt, timeoutAt }) => [resumeAt, timeoutAt]).filter((time) => time !== undefined);
  const first = Math.min(nextRetryAt ?? Number.POSITIVE_INFINITY, ...times);
  return first === Number.POSITIVE_INFINITY ? null : first;
}

function together(one: NodeStatus, other: NodeStatus): NodeStatus {
  const lead = urgent(one.status, other.status) === one.status ? one : other;
  return {
    ...lead,
    paths: one.paths + other.paths,
    joining: one.joining + other.joining,
    isHeld: one.isHeld || other.isHeld,
    items: one.items ?? other.items,
    since: Math.max(one.since, other.since),
  };
}

function urgent(one: ShownStatus, other: ShownStatus): ShownStatus {
  return urgency.indexOf(other) > urgency.indexOf(one) ? other : one;
}
