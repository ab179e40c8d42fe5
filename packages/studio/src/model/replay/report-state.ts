import { type CompiledWorkflow, explain, isTerminal, type Snapshot } from "stepfold/core";
import type { ShownStatus } from "../../ui/status/shown-status.ts";
import type { ExecutionState, NodeState, StoppedVisit } from "./execution-state.ts";
import { freshMark, type NodeMark } from "./node-mark.ts";
import { type NodeStatus, standingsOf } from "./node-status.ts";

/** What is needed to tell a state. */
export interface StateParts extends Pick<ExecutionState, "version" | "at" | "run" | "hash"> {
  readonly marks: ReadonlyMap<string, NodeMark>;
  readonly stopped: readonly StoppedVisit[];
  /** Null: it could not be folded. */
  readonly snapshot: Snapshot | null;
  readonly workflow: CompiledWorkflow | undefined;
}

/** Tells the state of an execution from its marks, and from its snapshot if there is one. */
export function stateOf({ marks, snapshot, workflow, ...about }: StateParts): ExecutionState {
  if (!snapshot) return { ...about, folded: null, nodes: nodesOf(marks, new Map(), null) };
  const explanation = explain(snapshot, workflow);
  const { status, error = null, output, parked } = snapshot;
  const standings = standingsOf(snapshot, explanation);
  return {
    ...about,
    folded: { status, explanation, error, output, parkedCode: parked?.code ?? null },
    nodes: nodesOf(marks, standings, {
      hasEnded: isTerminal(status),
      stopped: isEnding(snapshot) ? stoppedNow(about.stopped) : noneStopped,
    }),
  };
}

function nodesOf(
  marks: ReadonlyMap<string, NodeMark>,
  standings: ReadonlyMap<string, NodeStatus>,
  folded: { readonly hasEnded: boolean; readonly stopped: ReadonlySet<string> } | null,
): Map<string, NodeState> {
  const nodes = new Map<string, NodeState>();
  for (const nodeId of new Set([...marks.keys(), ...standings.keys(), ...(folded?.stopped ?? [])])) {
    const mark = marks.get(nodeId) ?? freshMark;
    const standing = standings.get(nodeId) ?? null;
    nodes.set(nodeId, {
      ...mark,
      standing,
      status: statusOf(mark, standing, folded !== null, folded?.stopped.has(nodeId) ?? false, folded?.hasEnded ?? false),
    });
  }
  return nodes;
}

const noneStopped: ReadonlySet<string> = new Set();

/** True if its end is decided: nothing of its paths before goes on. */
export function isEnding({ status, ending, closing }: Snapshot): boolean {
  return isTerminal(status) || ending !== undefined || closing !== undefined;
}

/** The nodes at which something was stopped by the last end. */
function stoppedNow(stopped: readonly StoppedVisit[]): ReadonlySet<string> {
  const last = stopped.at(-1)?.to;
  return new Set(stopped.filter(({ to }) => to === last).map(({ nodeId }) => nodeId));
}

function statusOf(mark: NodeMark, standing: NodeStatus | null, isFolded: boolean, isStopped: boolean, hasEnded: boolean): ShownStatus {
  if (standing) return standing.status === "not-yet" && mark.outcome !== null ? mark.outcome : standing.status;
  // a visit that no path stands at any more has ended together with its scope
  if (mark.open !== null) return isFolded ? "cancelled" : mark.open;
  if (isStopped) return "cancelled";
  return mark.outcome ?? (hasEnded ? "not-reached" : "not-yet");
}
