import type { ActivePath, CompletedEvent, EpochMs, Event, FailedEvent, PlacedResult, StartedEvent, TimedOutEvent } from "stepfold/core";
import { freshMark, type MarkError, type NodeMark } from "./node-mark.ts";

/**
 * The marks of the nodes of the present run, kept up to date event by event. The cost of an event does not depend on the length of the
 * history. Only nodes of the execution itself have marks: what happens inside a map or a sub-workflow shows in its progress.
 */
export class NodeMarks {
  #marks: Map<string, NodeMark>;
  /** The node that each open path of the execution itself was seen at. */
  #nodes: Map<string, string>;
  /** The paths whose waits need several answers: one answer does not end them. */
  #quorums: Set<string>;
  #run: number;

  constructor() {
    this.#marks = new Map();
    this.#nodes = new Map();
    this.#quorums = new Set();
    this.#run = 1;
  }

  /** The number of the run that the marks are of. */
  get run(): number {
    return this.#run;
  }

  /** The marks by node. Nodes without a mark were not reached. The map changes with the next event. */
  get marks(): ReadonlyMap<string, NodeMark> {
    return this.#marks;
  }

  /** Returns marks that go on from here by themselves. */
  copy(): NodeMarks {
    const copied = new NodeMarks();
    copied.#marks = new Map(this.#marks);
    copied.#nodes = new Map(this.#nodes);
    copied.#quorums = new Set(this.#quorums);
    copied.#run = this.#run;
    return copied;
  }

  /** Takes in the next event. */
  see(event: Event): void {
    const { at, consequences } = event;
    this.#seeOwn(event);
    for (const placed of consequences?.results ?? []) if (placed.scope === undefined) this.#seeResult(placed, at);
    for (const { scope, nodeId, reason } of consequences?.ended ?? [])
      if (scope === undefined && reason === "cancelled") this.#change(nodeId, { outcome: "cancelled", ...closed });
  }

  #seeOwn(event: Event): void {
    if (event.type === "started") this.#begin(event);
    else if (event.type === "continued") this.#clear(event.run);
    else if (event.type === "restarted") this.#reopen(event.state.activePaths);
    else if ("pathId" in event && event.scope === undefined) this.#seePath(event);
  }

  #seePath(event: Event & { readonly pathId: string }): void {
    const nodeId = "nodeId" in event && event.nodeId !== undefined ? event.nodeId : this.#nodes.get(event.pathId);
    if (nodeId === undefined) return;
    this.#nodes.set(event.pathId, nodeId);
    switch (event.type) {
      case "completed":
        this.#complete(event);
        break;
      case "failed":
        this.#fail(event);
        break;
      case "timedOut":
        this.#timeOut(event);
        break;
      case "suspended":
        if (event.waits.some(({ quorum }) => quorum !== undefined)) this.#quorums.add(event.pathId);
        else this.#quorums.delete(event.pathId);
        this.#open(nodeId, "paused", event);
        break;
      case "answerRefused":
        this.#open(nodeId, "paused", event);
        break;
      case "spawned":
        this.#open(nodeId, "active", event);
        this.#change(nodeId, { items: event.children.map ? sizeOf(event.children.map.items) : null });
        break;
      case "itemAdded":
        this.#change(nodeId, { items: (this.#markOf(nodeId).items ?? 0) + 1 });
        break;
      case "resumed":
        if (!this.#quorums.has(event.pathId)) this.#change(nodeId, { open: "active" });
        break;
      case "retried":
        this.#change(nodeId, { open: "active", retryAt: null });
    }
  }

  #begin({ checkpoint }: StartedEvent): void {
    this.#clear(checkpoint?.state.run?.number ?? 1);
    if (!checkpoint) return;
    const { context, activePaths } = checkpoint.state;
    for (const [nodeId, results] of Object.entries(context)) {
      const last = results.at(-1);
      if (!last) continue;
      const hasFailed = last.error !== undefined;
      const error = hasFailed ? { name: "Error", message: last.error ?? "" } : null;
      this.#change(nodeId, { visits: results.length, attempt: last.attempt, outcome: hasFailed ? "failed" : "completed", error });
    }
    this.#reopen(activePaths);
  }

  #reopen(paths: readonly ActivePath[]): void {
    this.#nodes.clear();
    for (const { id, nodeId, status, children, nextRetryAt = null } of paths) {
      this.#nodes.set(id, nodeId);
      if (status === "retrying") this.#change(nodeId, { open: "retrying", retryAt: nextRetryAt });
      else if (status === "ready") this.#change(nodeId, { open: "active" });
      else if (status === "suspended") this.#change(nodeId, { open: children ? "active" : "paused" });
    }
  }

  #clear(run: number): void {
    this.#marks.clear();
    this.#nodes.clear();
    this.#run = run;
  }

  #open(nodeId: string, open: NodeMark["open"], { attempt, startedAt }: { readonly attempt: number; readonly startedAt: EpochMs }): void {
    const { begunAt } = this.#markOf(nodeId);
    this.#change(nodeId, { open, attempt, begunAt: begunAt ?? startedAt, retryAt: null, error: null });
  }

  #complete({ nodeId, attempt, startedAt, at, handles = [""], undoes }: CompletedEvent): void {
    if (undoes) this.#undo(nodeId, undoes.scope, "undone");
    else this.#leave(nodeId, { outcome: "completed", attempt, error: null }, handles, at, startedAt);
  }

  #fail({ nodeId, attempt, startedAt, at, error, retryAt, handle, incident, undoes }: FailedEvent): void {
    const told = markError(error);
    if (undoes) this.#undo(nodeId, undoes.scope, retryAt === null ? "not undone" : null);
    else if (retryAt === null && !incident)
      this.#leave(nodeId, { outcome: "failed", attempt, error: told }, handlesOf(handle), at, startedAt);
    else {
      const begunAt = this.#markOf(nodeId).begunAt ?? startedAt;
      this.#change(nodeId, { open: incident ? "paused" : "retrying", attempt, begunAt, retryAt, error: told });
    }
  }

  #timeOut({ nodeId, attempt, error, handle, at, undoes }: TimedOutEvent): void {
    if (undoes) this.#undo(nodeId, undoes.scope, "not undone");
    else this.#leave(nodeId, { outcome: "failed", attempt, error: markError(error) }, handlesOf(handle), at, at);
  }

  /** A result without an event of its own: of a map or sub-workflow, of a step that an answer skips, of a join that came short. */
  #seeResult({ nodeId, result }: PlacedResult, at: EpochMs): void {
    const hasFailed = result.error !== undefined;
    const error = hasFailed ? { name: "Error", message: result.error ?? "" } : null;
    const end = { outcome: hasFailed ? "failed" : "completed", attempt: result.attempt, error } as const;
    this.#leave(nodeId, end, [hasFailed ? "error" : ""], at, at);
  }

  #leave(nodeId: string, end: Partial<NodeMark>, handles: readonly string[], at: EpochMs, startedAt: EpochMs): void {
    const { visits, handles: before, begunAt } = this.#markOf(nodeId);
    const taken = new Map(before);
    for (const handle of handles) taken.set(handle, (taken.get(handle) ?? 0) + 1);
    const tookMs = Math.max(0, at - (begunAt ?? startedAt));
    this.#change(nodeId, { ...end, ...closed, visits: visits + 1, handles: taken, lastHandles: handles, tookMs });
  }

  #undo(nodeId: string, scope: string | undefined, undo: NodeMark["undo"]): void {
    if (scope === undefined && undo !== null) this.#change(nodeId, { undo });
  }

  #markOf(nodeId: string): NodeMark {
    return this.#marks.get(nodeId) ?? freshMark;
  }

  #change(nodeId: string, change: Partial<NodeMark>): void {
    this.#marks.set(nodeId, { ...this.#markOf(nodeId), ...change });
  }
}

/** What is true of a node when no visit is open. */
const closed = { open: null, begunAt: null, retryAt: null } as const;

function handlesOf(handle: string | undefined): readonly string[] {
  return handle === undefined ? [] : [handle];
}

function markError({ code, name, message }: MarkError): MarkError {
  return { name, message, ...(code !== undefined && { code }) };
}

/** The number of items; 0 if the list may not be seen. */
function sizeOf(items: unknown): number {
  return Array.isArray(items) ? items.length : 0;
}
