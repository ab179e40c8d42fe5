import { safeMember } from "../errors/safe-member.ts";
import { StepfoldError } from "../errors/stepfold-error.ts";
import { addressOf, childKey, itemOf, openScopes, ownerOf, parentKey, type Scopes, scopedKey } from "./address.ts";
import type { ActivePath, Snapshot } from "./snapshot.ts";

/**
 * A place in an execution: a node, a node in an item of a map, a wait or a path by its id; or as text any of these, or an address such as
 * `map[3]/approve`. Text such as `0` means a node, so this path needs `{ pathId: "0" }`. A node without an item or address means a node of
 * the execution itself; if no path stands there, the nodes of children with this id.
 */
export type Target =
  | string
  | { readonly node: string; readonly item?: number | undefined }
  | { readonly waitId: string }
  | { readonly pathId: string };

/** The parts of a target. */
export interface Wanted {
  readonly waitId?: string;
  /** Id of a path, with the children around it. */
  readonly pathId?: string;
  /** A node by its id, or by its address. */
  readonly node?: string;
  /** Index of the item that contains the node or, if `node` is a map, of an item of that map. */
  readonly item?: number;
}

/** A path, and the child that it is in. */
export interface FoundPath {
  /** Empty for the execution itself. */
  readonly scope: string;
  readonly path: ActivePath;
}

/** Reads the parts of a target; there are none if the target is undefined. @throws StepfoldError `OPTION_INVALID` */
export function readTarget(target: Target | undefined): Wanted {
  if (target === undefined) return {};
  if (typeof target === "string") return readText(target);
  // a target may come from outside, for example from the body of a request
  const [node, waitId, pathId, item] = ["node", "waitId", "pathId", "item"].map((key) => safeMember(target, key));
  if (typeof waitId === "string") return { waitId };
  if (typeof pathId === "string") return { pathId };
  if (typeof node !== "string" || (item !== undefined && !(Number.isSafeInteger(item) && (item as number) >= 0)))
    throw new StepfoldError("OPTION_INVALID", {
      option: "target",
      reason: "must be text, { node }, { node, item }, { waitId } or { pathId }",
    });
  return item === undefined ? readText(node) : { node, item: item as number };
}

/** Reads a target that is text. Ids of nodes have only letters, digits, `_` and `-`, so other characters show a wait or a path. */
function readText(text: string): Wanted {
  if (text.includes("@")) return { waitId: text };
  if (/[#>.~]/.test(text)) return { pathId: text };
  const item = /^(.+)\[(\d+)\]$/.exec(text);
  return item ? { node: item[1]!, item: Number(item[2]) } : { node: text };
}

/** Returns a target as text, for messages. */
export function targetText({ waitId, pathId, node, item }: Wanted): string {
  return waitId ?? pathId ?? (node === undefined ? "any node" : item === undefined ? node : `${node}[${item}]`);
}

/** Picks the paths that a target means. */
export function select<P extends FoundPath>(snapshot: Snapshot, wanted: Wanted, paths: Iterable<P>): P[] {
  const named: P[] = [];
  for (const found of paths) if (isNamed(snapshot, found, wanted)) named.push(found);
  const own = wanted.node !== undefined && wanted.item === undefined ? named.filter(({ scope }) => scope === "") : [];
  return own.length > 0 ? own : named;
}

/** Returns the open paths that a target means. @throws StepfoldError `OPTION_INVALID` */
export function findPaths(snapshot: Snapshot, target: Target): FoundPath[] {
  return select(snapshot, readTarget(target), openPaths(snapshot));
}

/** Yields every open path: first those of the execution itself, then those of its children. */
export function* openPaths(snapshot: Scopes): Generator<FoundPath> {
  for (const [scope, paths] of openScopes(snapshot)) for (const path of paths) yield { scope, path };
}

/** Returns the keys of the items of maps that a target means, also of items that have not begun. */
export function findItems(snapshot: Snapshot, { node, item }: Wanted): string[] {
  const found: string[] = [];
  if (item === undefined) return found;
  for (const { scope, path } of openPaths(snapshot)) {
    const { children } = path;
    if (children?.map && item < children.map.total && isAt(snapshot, scope, path, node!)) found.push(childKey(scope, children.key, item));
  }
  return found;
}

/** Returns the address of an item of a map, such as `map[3]`. */
export function itemAddress(snapshot: Snapshot, key: string): string {
  return `${addressOf(snapshot, parentKey(key), ownerOf(snapshot, key)!.nodeId)}[${itemOf(key)}]`;
}

function isNamed(snapshot: Snapshot, { scope, path }: FoundPath, { waitId, pathId, node, item }: Wanted): boolean {
  if (waitId !== undefined) return path.waits?.some(({ id }) => id === waitId) === true;
  if (pathId !== undefined) return scopedKey(scope, path.id) === pathId;
  if (node === undefined) return true;
  if (item === undefined) return isAt(snapshot, scope, path, node);
  if (scope === "" || itemOf(scope) !== item) return false;
  const owner = ownerOf(snapshot, scope);
  return path.nodeId === node || (owner !== undefined && isAt(snapshot, parentKey(scope), owner, node));
}

function isAt(snapshot: Snapshot, scope: string, { nodeId }: ActivePath, node: string): boolean {
  if (!node.includes("/")) return nodeId === node;
  return node.endsWith(`/${nodeId}`) && addressOf(snapshot, scope, nodeId) === node;
}
