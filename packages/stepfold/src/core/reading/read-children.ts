import { groupOf, itemOf, parentKey, scopedKey } from "../snapshot/address.ts";
import { type ActivePath, type ChildrenState, type ChildState, isTerminal, type Snapshot, type Status } from "../snapshot/snapshot.ts";
import type { Json, JsonObject } from "../values/json.ts";
import { mayComeAgain } from "./read-path.ts";
import { type ReadScope, readScope } from "./read-scope.ts";
import { contextIn, count, flag, into, invalid, object, oldestVersion, type ReadContext } from "./read-value.ts";

/** The children of one path. */
interface Family {
  /** The JSON pointer to `children` of the path. */
  readonly pointer: string;
  readonly children: ChildrenState;
  /** True if the path only stays for its children: children that have ended may already be deleted. */
  readonly draining: boolean;
  /** The number of children in the snapshot by status. */
  readonly counts: Record<Status, number>;
  /** The number of children in the snapshot that have begun; some may have ended. */
  present: number;
  /** The number of items that were cancelled before they began. */
  skipped: number;
  /** The number of children that are active or retrying and count for `concurrency`. */
  busy: number;
  /** The number of busy children that wait for a retry. */
  retrying: number;
  /** The number of children that are ready and wait for a place in the map. */
  queued: number;
}

interface Scope {
  /** True for a scope that has ended and is not kept, so that it cannot have children. */
  readonly isGone: boolean;
  readonly pointer: string;
  readonly state: ReadScope;
  readonly paths: ReadonlyMap<string, ActivePath>;
}

/**
 * Checks that the parts of a snapshot fit together: every child has a path that waits for it, every path has its children, every map has
 * its items, and the status of every scope follows from its paths. Returns the items of the maps.
 */
export function checkFamilies(
  root: ReadScope,
  children: ReadonlyMap<string, ChildState>,
  mapItems: Json | undefined,
  place: ReadContext,
): Snapshot["mapItems"] {
  const scopes = new Map<string, Scope>([["", scopeOf(root, "", false)]]);
  for (const [key, child] of children) scopes.set(key, scopeOf(child, contextIn(place, key).pointer, child.kept === true));
  const families = familiesOf(scopes);
  for (const [key, child] of children) join(key, child, scopes, families);
  for (const family of families.values()) checkFamily(family);
  for (const [key, scope] of scopes) checkScope(key, scope, scopes, families);
  return readItems(mapItems, families);
}

function scopeOf(state: ReadScope, pointer: string, isKept: boolean): Scope {
  return { isGone: isTerminal(state.status) && !isKept, pointer, state, paths: new Map(state.activePaths.map((path) => [path.id, path])) };
}

function familiesOf(scopes: ReadonlyMap<string, Scope>): Map<string, Family> {
  const families = new Map<string, Family>();
  for (const [scope, { pointer, state, paths }] of scopes) {
    for (const [i, { id, visit, children, draining = false }] of state.activePaths.entries()) {
      if (!children) continue;
      const at = `${pointer}/activePaths/${i}/children`;
      const key = scopedKey(scope, children.key);
      if (families.has(key)) invalid(`${at}/key`, "is the key of two paths");
      const isOwn = children.key === `${id}#${visit}`;
      if (!isOwn && mayBeginAgain(children.key, paths)) invalid(`${at}/key`, "is a key that an open path may give to other children");
      const counts = { active: 0, paused: 0, error: 0, parked: 0, completed: 0, failed: 0, cancelled: 0 };
      families.set(key, { pointer: at, children, draining, counts, present: 0, skipped: 0, busy: 0, retrying: 0, queued: 0 });
    }
  }
  return families;
}

/** Whether an open path, or a path that will fork off, can give this key to new children. */
function mayBeginAgain(group: string, paths: ReadonlyMap<string, ActivePath>): boolean {
  const [id = "", visit] = group.split("#");
  const path = paths.get(id);
  return (path !== undefined && Number(visit) >= path.visit) || mayComeAgain(id, paths);
}

/** Checks a child and adds it to the counters of the path that waits for it. A child that is kept (for undoing) needs no such path. */
function join(
  key: string,
  { status, kept, queued, workflow }: ChildState,
  scopes: ReadonlyMap<string, Scope>,
  families: ReadonlyMap<string, Family>,
): void {
  const { pointer } = scopes.get(key)!;
  const around = scopes.get(parentKey(key))!;
  if (around.isGone) invalid(pointer, "belongs to a child that has ended and is not kept");
  const family = families.get(scopedKey(parentKey(key), groupOf(key)));
  if (!family) {
    if (!kept) invalid(pointer, "has no path that waits for it");
    if (mayBeginAgain(groupOf(key), around.paths)) invalid(pointer, "has a key that an open path may give to other children");
    return;
  }
  const { map } = family.children;
  const item = itemOf(key);
  if ((item === null) !== (map === undefined) || (item !== null && item >= map!.total)) invalid(pointer, "is not an item of its map");
  const isSkipped = map !== undefined && item! >= map.next;
  if (isSkipped && status !== "cancelled") invalid(pointer, "cannot have begun before the items before it");
  if (workflow !== family.children.workflow) invalid(`${pointer}/workflow`, `must be "${family.children.workflow}", as its path says`);
  if (queued !== undefined && !map) invalid(`${pointer}/queued`, "is only allowed for an item of a map");
  family[isSkipped ? "skipped" : "present"]++;
  family.counts[status]++;
  if (queued !== undefined) family.queued++;
  else if (status === "active" || status === "error") family.busy++;
  if (queued === undefined && status === "error") family.retrying++;
}

/**
 * Checks that a path waits only while it has open children, that the counters of its map are right, and that the map runs as many items as
 * it may: otherwise nothing would ever begin the items that wait.
 */
function checkFamily({ pointer, children: { map }, draining, counts, present, skipped, busy, queued }: Family): void {
  const open = counts.active + counts.paused + counts.error;
  if (!map) {
    if (present !== 1 || open !== 1) invalid(pointer, "must have one child, which is open");
    return;
  }
  const { total, next, done, failed, cancelled } = map;
  const over = done + failed + cancelled;
  if (!draining && present !== next) invalid(`${pointer}/map/next`, `must be ${present}, the number of its items in the snapshot`);
  for (const [key, told, found] of [
    ["done", done, counts.completed],
    ["failed", failed, counts.failed],
    ["cancelled", cancelled, counts.cancelled],
  ] as const)
    if (!draining && told !== found) invalid(`${pointer}/map/${key}`, `must be ${found}, the number of its ${key} items in the snapshot`);
  const begun = over + open - skipped;
  if (begun !== next) invalid(`${pointer}/map/next`, `must be ${begun}, the number of its items that are open or have ended`);
  if (over >= total && !map.open) invalid(`${pointer}/map`, "has nothing left to wait for");
  if ((next + skipped < total || queued > 0) && busy < map.concurrency)
    invalid(`${pointer}/map/concurrency`, "allows another item to run, but items are waiting");
}

function checkScope(
  key: string,
  { pointer, state }: Scope,
  scopes: ReadonlyMap<string, Scope>,
  families: ReadonlyMap<string, Family>,
): void {
  const { status, activePaths } = state;
  if (isTerminal(status)) return;
  const derived = statusOf(key, activePaths, families);
  if (status !== derived && status !== "parked") invalid(`${pointer}/status`, `must be "${derived}", as its paths say`);
  if (activePaths.length > 0 && activePaths.every((path) => path.status === "joining" || path.status === "held"))
    invalid(`${pointer}/activePaths`, "must not wait only for each other");
  for (const [i, { nodeId, undoes }] of activePaths.entries()) {
    if (undoes?.version === undefined) continue;
    const { context } = scopes.get(undoes.scope ?? key)!.state;
    const results = Object.hasOwn(context, nodeId) ? context[nodeId]! : [];
    if (!results.some(({ version }) => version === undoes.version))
      invalid(`${pointer}/activePaths/${i}/undoes/version`, "must be the version of a result of the node");
  }
}

/** Derives the status of a scope from its paths. A ready path decides before a retrying one, and a retrying path before a suspended one. */
function statusOf(scope: string, paths: readonly ActivePath[], families: ReadonlyMap<string, Family>): Status {
  if (paths.length === 0) return "active";
  let status: Status = "paused";
  for (const { status: standing, children } of paths) {
    const family = children && families.get(scopedKey(scope, children.key))!;
    if (standing === "ready" || (family && family.busy > family.retrying)) return "active";
    if (standing === "retrying" || (family && family.retrying > 0)) status = "error";
  }
  return status;
}

/** Checks that every map has its items, and that there are no other items. Returns them. */
function readItems(value: Json | undefined, families: ReadonlyMap<string, Family>): Snapshot["mapItems"] {
  const given = object(value ?? {}, "/mapItems", "must be an object of lists, by key");
  const items: Record<string, readonly Json[]> = {};
  for (const [key, own] of Object.entries(given)) {
    const family = families.get(key);
    if (!family?.children.map) return invalid(into("/mapItems", key), "belongs to no map");
    const { total } = family.children.map;
    // if the map was ended early, there may be items that never began
    if (!Array.isArray(own) || own.length < total || (own.length > total && !family.draining))
      return invalid(into("/mapItems", key), `must be a list of ${total} items`);
    items[key] = own as readonly Json[];
  }
  for (const [key, { children }] of families)
    if (children.map && !Object.hasOwn(items, key)) return invalid(into("/mapItems", key), `must be a list of ${children.map.total} items`);
  return Object.keys(items).length > 0 ? Object.freeze(items) : undefined;
}

/** Returns the children of a snapshot from outside, by key. Each child is checked by itself; `checkFamilies` checks them together. */
export function readChildren({ childStates = {} }: JsonObject, root: ReadContext): Map<string, ChildState> {
  const children = new Map<string, ChildState>();
  for (const [key, child] of Object.entries(object(childStates, "/childStates")))
    children.set(key, readChild(child as JsonObject, contextIn(root, key)));
  return children;
}

function readChild(value: JsonObject, place: ReadContext): ChildState {
  const { pointer } = place;
  const { workflow, queued } = value;
  const scope = readScope(value, place);
  const isKept = flag(value.kept, `${pointer}/kept`);
  if (isKept && !isTerminal(scope.status)) return invalid(`${pointer}/kept`, "is only allowed for a child that has ended");
  // a queued child waits for a place since it became ready, so none of its steps can have failed in the meantime
  if (queued !== undefined && scope.status !== "active")
    return invalid(`${pointer}/queued`, "is only allowed for a child that is ready to go on");
  return Object.freeze({
    ...scope,
    workflow: workflow as string,
    version: count(value.version, `${pointer}/version`, oldestVersion, place.version),
    ...(queued !== undefined && { queued: count(queued, `${pointer}/queued`, oldestVersion, place.version) }),
    ...(isKept && { kept: true as const }),
    ...(flag(value.settled, `${pointer}/settled`) && { settled: true as const }),
  });
}
