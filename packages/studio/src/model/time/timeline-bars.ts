import type { ActivePath, EpochMs, Event } from "stepfold/core";

/**
 * What a bar of the timeline means. `done`, `failed`: an attempt. `running`: an attempt that may be under way. `delay`: before the next attempt.
 * `waits`: for something outside. `stopped`: an attempt that the end of the execution has stopped.
 */
export type BarKind = "done" | "failed" | "running" | "delay" | "waits" | "children" | "stopped";

/** A part of the line of a node. */
export interface Bar {
  readonly kind: BarKind;
  readonly from: EpochMs;
  /** Null: it goes on. */
  readonly to: EpochMs | null;
}

/** What happened at one node, as bars in order of their begin. */
export interface BarLine {
  readonly nodeId: string;
  readonly bars: readonly Bar[];
  /** The number of attempts. */
  readonly attempts: number;
}

interface OpenLine {
  readonly nodeId: string;
  readonly bars: Bar[];
  attempts: number;
}

/**
 * The bars of the timeline, kept up to date event by event. Only nodes of the execution itself have lines; what runs inside a map or a
 * sub-workflow is one bar. The runs before the present one stay: a run follows the other on the same lines.
 */
export class TimelineBars {
  readonly #lines = new Map<string, OpenLine>();
  /** The bar that goes on, by path: its line and its index there. */
  readonly #open = new Map<string, { readonly line: OpenLine; readonly index: number }>();
  /** The paths whose waits need several answers: an answer does not end them, the next attempt does. */
  readonly #quorums = new Set<string>();
  #begin: EpochMs | null = null;
  #end: EpochMs | null = null;

  /** The lines, in the order in which their nodes were reached. */
  get lines(): readonly BarLine[] {
    return [...this.#lines.values()];
  }
  /** The time of the first event. */
  get begin(): EpochMs | null {
    return this.#begin;
  }
  /** The time of the last event. */
  get end(): EpochMs | null {
    return this.#end;
  }

  /** Takes in the next event. */
  see(event: Event): void {
    const { at, consequences } = event;
    this.#begin ??= at;
    this.#end = at;
    for (const { scope, nodeId, result } of consequences?.results ?? []) {
      if (scope !== undefined) continue;
      this.#close(result.pathId, at);
      if (!this.#lines.has(nodeId)) this.#add(nodeId, { kind: result.error === undefined ? "done" : "failed", from: at, to: at });
    }
    for (const { scope, pathId } of consequences?.ended ?? []) if (scope === undefined) this.#close(pathId, at);
    if (event.type === "continued" || event.type === "restarted") this.#closeAll(at);
    if (event.type === "restarted") this.#reopen(event.state.activePaths, at);
    if (event.type === "started" && event.checkpoint) this.#reopen(event.checkpoint.state.activePaths, at);
    if ((event.type === "expired" || event.type === "cancelled") && event.scope === undefined && !("pathIds" in event)) this.#closeAll(at);
    this.#seeStep(event);
  }

  #seeStep(event: Event): void {
    if (!("pathId" in event) || event.scope !== undefined) return;
    const { pathId, at } = event;
    if (!("startedAt" in event)) {
      const isOver = event.type === "resumed" ? !this.#quorums.has(pathId) : event.type === "retried" || event.type === "timedOut";
      if (isOver) this.#close(pathId, at);
      return;
    }
    const { nodeId, startedAt } = event;
    this.#close(pathId, startedAt);
    this.#quorums.delete(pathId);
    if (event.type === "suspended" && event.waits.some(({ quorum }) => quorum !== undefined)) this.#quorums.add(pathId);
    const line = this.#add(nodeId, { kind: event.type === "failed" ? "failed" : "done", from: startedAt, to: at });
    line.attempts++;
    const next = barAfter(event);
    if (next) this.#open.set(pathId, { line, index: line.bars.push({ kind: next, from: at, to: null }) - 1 });
  }

  /** Paths that stand somewhere from the beginning, without an event of their own. */
  #reopen(paths: readonly ActivePath[], at: EpochMs): void {
    for (const { id, nodeId, status, children } of paths) {
      const kind = status === "retrying" ? "delay" : status !== "suspended" ? null : children ? "children" : "waits";
      if (kind === null) continue;
      const line = this.#add(nodeId, { kind, from: at, to: null });
      this.#open.set(id, { line, index: line.bars.length - 1 });
    }
  }

  #add(nodeId: string, bar: Bar): OpenLine {
    const line = this.#lines.get(nodeId) ?? { nodeId, bars: [], attempts: 0 };
    this.#lines.set(nodeId, line);
    line.bars.push(bar);
    return line;
  }

  #close(pathId: string, at: EpochMs): void {
    const open = this.#open.get(pathId);
    if (!open) return;
    const { line, index } = open;
    const bar = line.bars[index]!;
    line.bars[index] = { ...bar, to: Math.max(bar.from, at) };
    this.#open.delete(pathId);
  }

  #closeAll(at: EpochMs): void {
    for (const pathId of [...this.#open.keys()]) this.#close(pathId, at);
  }
}

/** What follows an attempt, until the next event of its path. */
function barAfter(event: Event): BarKind | null {
  if (event.type === "spawned") return "children";
  if (event.type === "suspended" || event.type === "answerRefused") return "waits";
  if (event.type !== "failed") return null;
  if (event.incident) return "waits";
  return event.retryAt === null ? null : "delay";
}
