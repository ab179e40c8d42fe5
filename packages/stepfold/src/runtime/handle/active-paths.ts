import { type WaitInfo, waitsOf } from "../../core/explain/waits.ts";
import { addresses } from "../../core/explain/waits-address.ts";
import { childKey, isResting, openScopes, pathsOf } from "../../core/snapshot/address.ts";
import type { ActivePath, Snapshot } from "../../core/snapshot/snapshot.ts";
import type { Json } from "../../core/values/json.ts";

/** A node at which a path is open. */
export interface ActiveNode {
  readonly status: ActivePath["status"];
  /** What the step passed to `suspend`: the payload of its first wait. */
  readonly suspendPayload?: Json | undefined;
  /** The waits of the path: `run.resume({ waitId: waits[0].id, ... })` answers the first of them. */
  readonly waits: readonly WaitInfo[];
  /** The nodes that the path came through, in its own workflow. */
  readonly stepPath: readonly string[];
}

/** Open nodes by address. Those of the execution itself are added at the beginning; those of children are added when they are asked for. */
export class ActivePaths extends Map<string, ActiveNode> {
  readonly #snapshot: Snapshot;
  /** The open nodes of all children have been added. */
  #complete: boolean;

  constructor(snapshot: Snapshot) {
    super();
    this.#snapshot = snapshot;
    this.#complete = snapshot.childStates === undefined;
    for (const path of snapshot.activePaths) if (!isResting(path) && !super.has(path.nodeId)) this.#add(path.nodeId, path);
  }

  override get(address: string): ActiveNode | undefined {
    const known = super.get(address);
    if (known || this.#complete || !address.includes("/")) return known;
    const path = pathAt(this.#snapshot, "", address.split("/"));
    return path && this.#add(address, path);
  }

  override has(address: string): boolean {
    return this.get(address) !== undefined;
  }

  override get size(): number {
    this.#fill();
    return super.size;
  }

  override forEach(visit: (node: ActiveNode, address: string, all: Map<string, ActiveNode>) => void, self?: unknown): void {
    this.#fill();
    super.forEach(visit, self);
  }

  override keys(): MapIterator<string> {
    this.#fill();
    return super.keys();
  }

  override values(): MapIterator<ActiveNode> {
    this.#fill();
    return super.values();
  }

  override entries(): MapIterator<[string, ActiveNode]> {
    this.#fill();
    return super.entries();
  }

  override [Symbol.iterator](): MapIterator<[string, ActiveNode]> {
    return this.entries();
  }

  #fill(): void {
    if (this.#complete) return;
    const address = addresses(this.#snapshot);
    for (const [scope, paths] of openScopes(this.#snapshot))
      for (const path of paths) if (!isResting(path)) this.get(address(scope, path.nodeId));
    this.#complete = true;
  }

  #add(address: string, path: ActivePath): ActiveNode {
    const waits = waitsOf(path, address, this.#snapshot.schemas);
    const node: ActiveNode = { status: path.status, suspendPayload: waits[0]?.payload, waits, stepPath: path.stepPath };
    super.set(address, node);
    return node;
  }
}

/** Returns the oldest path at an address, which is given by its parts: `["map[3]", "approve"]`. */
function pathAt(snapshot: Snapshot, scope: string, [next = "", ...inside]: readonly string[]): ActivePath | undefined {
  const paths = pathsOf(snapshot, scope);
  if (inside.length === 0) return paths.find(({ nodeId }) => nodeId === next);
  const [, owner, item] = /^([^[]*)(?:\[(\d+)\])?$/.exec(next) ?? [];
  for (const { nodeId, children } of paths) {
    if (nodeId !== owner || !children) continue;
    const key = childKey(scope, children.key, item === undefined ? null : Number(item));
    const found = pathAt(snapshot, key, inside);
    if (found) return found;
  }
  return undefined;
}
