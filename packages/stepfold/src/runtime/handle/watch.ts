import { begin } from "../../core/draft/begin.ts";
import { closeDraft } from "../../core/draft/close-draft.ts";
import type { Draft } from "../../core/draft/draft.ts";
import { evolve } from "../../core/draft/evolve.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { type WaitInfo, waitsOf } from "../../core/explaining/waits.ts";
import { addresses } from "../../core/explaining/waits-address.ts";
import { openScopes, pathsOf } from "../../core/snapshot/address.ts";
import { childKey } from "../../core/snapshot/child-key.ts";
import type { Event } from "../../core/snapshot/event.ts";
import type { ActivePath, Snapshot } from "../../core/snapshot/snapshot.ts";
import type { Json } from "../../core/values/json.ts";
import type { PreparedWorkflow } from "../../engine/prepared-workflow.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";
import type { News } from "../context/changes.ts";

/** A place where the execution stands. */
export interface ActiveNode {
  readonly status: ActivePath["status"];
  /** What the step told the world when it suspended. */
  readonly suspendPayload?: Json | undefined;
  /** What it waits for: `run.resume({ waitId: waits[0].id, ... })` answers this very wait. */
  readonly waits: readonly WaitInfo[];
  /** The nodes it came through, in its own workflow. */
  readonly stepPath: readonly string[];
}

/** One event of an execution, and the execution after it. */
export interface Watched {
  readonly event: Event;
  readonly snapshot: Snapshot;
  /**
   * Where it stands, by address: the id of a node, in children with what is around it (`map[3]/approve`). Of several paths
   * at one node the oldest. To look at one place costs the same however many there are; to go through all of them does not.
   */
  readonly activePaths: ReadonlyMap<string, ActiveNode>;
}

const pageSize = 500;

/** Every event after a version, those to come included, until the execution ends. */
export async function* watch(
  store: SnapshotStore,
  workflow: PreparedWorkflow,
  workflowId: string,
  afterVersion: number,
  nextNews: () => News,
): AsyncGenerator<Watched, void, void> {
  let draft: Draft | null = null;
  let seen = -1;
  for (;;) {
    const news = nextNews();
    try {
      const rows = await store.events(workflowId, seen, pageSize);
      for (const { event, version } of rows) {
        seen = version;
        draft = after(draft, event, workflow, store);
        if (version <= afterVersion) continue;
        const snapshot = closeDraft(draft);
        yield { event, snapshot, activePaths: new ActivePaths(snapshot) };
      }
      if (draft?.ended) return;
      if (rows.length < pageSize) await news.come;
    } finally {
      news.cancel();
    }
  }
}

function after(draft: Draft | null, event: Event, workflow: PreparedWorkflow, store: SnapshotStore): Draft {
  if (!draft) {
    if (event.type === "started") return begin(workflow.compiled, event);
    throw new StepfoldError("STORE_REJECTED", { store: store.name, reason: "a history does not begin with its start" });
  }
  evolve(draft, event);
  return draft;
}

/** The execution's own paths are there from the beginning. Those of children are looked up when they are asked for. */
class ActivePaths extends Map<string, ActiveNode> {
  readonly #snapshot: Snapshot;
  #complete: boolean;

  constructor(snapshot: Snapshot) {
    super();
    this.#snapshot = snapshot;
    this.#complete = snapshot.childStates === undefined;
    for (const path of snapshot.activePaths) if (!super.has(path.nodeId)) this.#add(path.nodeId, path);
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
    for (const [scope, paths] of openScopes(this.#snapshot)) for (const { nodeId } of paths) this.get(address(scope, nodeId));
    this.#complete = true;
  }

  #add(address: string, path: ActivePath): ActiveNode {
    const waits = waitsOf(path, address);
    const node: ActiveNode = { status: path.status, suspendPayload: waits[0]?.payload, waits, stepPath: path.stepPath };
    super.set(address, node);
    return node;
  }
}

/** The oldest path at a place: `["map[3]", "approve"]`. */
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
