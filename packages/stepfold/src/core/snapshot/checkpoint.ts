import type { Origin, Snapshot } from "./snapshot.ts";

/**
 * What an execution holds that goes on from another one, instead of beginning at its first node. Results and paths keep their order:
 * their versions are counted from the checkpoint, so those that were taken over are 0 or negative, and `from.version` added to them
 * gives the version in the history of the origin.
 */
export interface Checkpoint {
  readonly from: Origin;
  readonly state: CheckpointState;
}

/** The part of a snapshot that a checkpoint takes over. The input is that of the start event. */
export type CheckpointState = Pick<
  Snapshot,
  | "status"
  | "currentNodeId"
  | "activePaths"
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
>;
