import type { EpochMs, ErrorInfo, Event } from "stepfold/core";
import { countUpTo } from "./replay/count-up-to.ts";

/** One attempt of a node, or an end that it came to without one. */
export interface NodeStep {
  readonly version: number;
  readonly at: EpochMs;
  /** Null: it has no attempt of its own, such as the end of a map. */
  readonly startedAt: EpochMs | null;
  readonly attempt: number;
  readonly outcome: "completed" | "failed" | "waits" | "runs";
  /** What it has put out; undefined: nothing. */
  readonly output: unknown;
  readonly error: ErrorInfo | null;
  /** When the next attempt is made. */
  readonly retryAt: EpochMs | null;
  /** The handles by which the path left. */
  readonly handles: readonly string[];
  /** The step is a compensation. */
  readonly isUndo: boolean;
}

/** The steps of a node up to a version. */
export interface NodeSteps {
  /** The last ones, the latest first. */
  readonly steps: readonly NodeStep[];
  /** There were more than these. */
  readonly hasMore: boolean;
}

/** Returns the steps of a node of the execution itself, from the end of the history. @param most how many */
export function nodeSteps(events: readonly Event[], nodeId: string, version: number, most: number): NodeSteps {
  const steps: NodeStep[] = [];
  for (let index = countUpTo(events, version) - 1; index >= 0; index--) {
    const event = events[index]!;
    const step = stepOf(event, nodeId) ?? resultOf(event, nodeId);
    if (!step) continue;
    if (steps.length === most) return { steps, hasMore: true };
    steps.push(step);
  }
  return { steps, hasMore: false };
}

function stepOf(event: Event, nodeId: string): NodeStep | null {
  if (!("nodeId" in event) || event.nodeId !== nodeId || ("scope" in event && event.scope !== undefined)) return null;
  const { version, at } = event;
  const about = {
    version,
    at,
    output: undefined,
    error: null,
    retryAt: null,
    handles: [],
    isUndo: "undoes" in event && event.undoes !== undefined,
  };
  switch (event.type) {
    case "completed":
      return { ...about, ...attemptOf(event), outcome: "completed", output: event.output, handles: event.handles ?? [""] };
    case "continued":
      return { ...about, ...attemptOf(event), outcome: "completed", output: event.input };
    case "failed":
      return {
        ...about,
        ...attemptOf(event),
        outcome: "failed",
        error: event.error,
        retryAt: event.retryAt,
        handles: handlesOf(event.handle),
      };
    case "suspended":
      return { ...about, ...attemptOf(event), outcome: "waits", output: event.waits[0]?.payload };
    case "spawned":
      return { ...about, ...attemptOf(event), outcome: "runs" };
    case "timedOut":
      return { ...about, startedAt: null, attempt: event.attempt, outcome: "failed", error: event.error, handles: handlesOf(event.handle) };
    default:
      return null;
  }
}

/** A result that the event of another step has brought: of a map or a sub-workflow, a join, a skipped step. */
function resultOf({ consequences, version, at }: Event, nodeId: string): NodeStep | null {
  const placed = consequences?.results?.findLast((one) => one.scope === undefined && one.nodeId === nodeId);
  if (!placed) return null;
  const { output, error, attempt } = placed.result;
  const plain = { version, at, startedAt: null, attempt, output, retryAt: null, handles: [], isUndo: false };
  if (error === undefined) return { ...plain, outcome: "completed", error: null };
  return { ...plain, outcome: "failed", error: { name: "Error", message: error } };
}

function attemptOf({
  startedAt,
  attempt,
}: {
  readonly startedAt: EpochMs;
  readonly attempt: number;
}): Pick<NodeStep, "startedAt" | "attempt"> {
  return { startedAt, attempt };
}

function handlesOf(handle: string | undefined): readonly string[] {
  return handle === undefined ? [] : [handle];
}

/** How a wait has ended, as far as the events tell it. */
export interface WaitEnd {
  readonly at: EpochMs;
  readonly what: "answered" | "timed out" | "timer";
  /** Who has answered. */
  readonly who: string | null;
}

/** Returns how a wait has ended; null: the events do not tell it. */
export function endOfWait(events: readonly Event[], waitId: string): WaitEnd | null {
  for (let index = events.length - 1; index >= 0; index--) {
    const event = events[index]!;
    if (!("waitId" in event) || event.waitId !== waitId) continue;
    const { at, who = null } = event;
    if (event.type === "timedOut") return { at, what: "timed out", who: null };
    if (event.type === "resumed") return { at, what: event.by === "timer" ? "timer" : "answered", who };
  }
  return null;
}
