import { type EpochMs, type ErrorInfo, type Explanation, isTerminal, type Json, type Status } from "stepfold/core";
import type { ShownStatus } from "../../ui/status/shown-status.ts";
import { freshMark, type NodeMark } from "./node-mark.ts";
import type { NodeStatus } from "./node-status.ts";

/** What an execution is at one version, as the page shows it. It can be sent between threads. */
export interface ExecutionState {
  readonly version: number;
  /** When the event of this version happened. */
  readonly at: EpochMs;
  readonly run: number;
  /** The hash of the definition that it follows at this version. */
  readonly hash: string;
  /** Null: what was folded is not known, and the nodes are told from their events alone. */
  readonly folded: FoldedState | null;
  readonly nodes: ReadonlyMap<string, NodeState>;
  /** What was under way when the execution was stopped, also before it was restarted. */
  readonly stopped: readonly StoppedVisit[];
}

/** A visit of a node that the end of the execution has stopped. */
export interface StoppedVisit {
  readonly nodeId: string;
  /** When the path had arrived. */
  readonly from: EpochMs;
  readonly to: EpochMs;
  /** It ran: no event tells of it. */
  readonly ran: boolean;
}

/** What only the folded events tell. */
interface FoldedState {
  readonly status: Status;
  readonly explanation: Explanation;
  readonly error: ErrorInfo | null;
  readonly output: Json | undefined;
  /** The code for which it is parked. Null: it is not. */
  readonly parkedCode: string | null;
}

/** What a node is at one version. */
export interface NodeState extends NodeMark {
  readonly status: ShownStatus;
  /** Null: no path stands at the node. */
  readonly standing: NodeStatus | null;
}

const notYet: NodeState = Object.freeze({ ...freshMark, status: "not-yet", standing: null });
const notReached: NodeState = Object.freeze({ ...notYet, status: "not-reached" });

/** Returns the state of a node. No path comes to the others any more when the execution has ended. */
export function nodeStateOf(state: ExecutionState | null, nodeId: string): NodeState {
  return state?.nodes.get(nodeId) ?? (state?.folded && isTerminal(state.folded.status) ? notReached : notYet);
}
