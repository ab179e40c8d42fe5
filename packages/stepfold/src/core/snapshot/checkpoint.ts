import type { Origin } from "./parts/lineage.ts";
import type { Snapshot } from "./snapshot.ts";

/**
 * The state with which an execution begins if it goes on from another one (its origin), instead of beginning at its first node. The
 * versions of results and paths are counted from the checkpoint: those that were taken over are 0 or negative. `from.version` added to such
 * a version gives the version in the history of the origin.
 */
export interface Checkpoint {
  readonly from: Origin;
  readonly state: CheckpointState;
}

/** The part of a snapshot that a checkpoint takes over. The input is not in it, but in the start event. */
export type CheckpointState = Pick<
  Snapshot,
  | "status"
  | "currentNodeId"
  | "activePaths"
  | "run"
  | "output"
  | "error"
  | "rounds"
  | "begun"
  | "lastStartedAt"
  | "totalExecutionTime"
  | "inbox"
  | "outbox"
  | "steps"
  | "sizeBytes"
  | "context"
  | "variables"
  | "childStates"
  | "mapItems"
  | "compensations"
  | "schemas"
  | "answered"
>;
