import type { Context, Origin, Snapshot } from "./snapshot.ts";

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
  | "steps"
  | "sizeBytes"
  | "context"
  | "childStates"
  | "mapItems"
  | "compensations"
>;

/**
 * What an execution held at one version, beside the heads of its scopes. With it a store puts the snapshot together from the events after
 * that version, however many there were before.
 */
export interface HistoryCheckpoint
  extends Pick<Snapshot, "version" | "definition" | "incarnation" | "metadata" | "tenant" | "input" | "createdAt">,
    HeldResults {
  readonly answered?: Snapshot["answered"];
}

/** What `restore` otherwise reads from the events. */
export interface HeldResults extends Pick<Snapshot, "context" | "mapItems" | "compensations"> {
  /** The children with what they hold. */
  readonly childStates?: Readonly<Record<string, { readonly context: Context }>>;
}

/** The checkpoint of a snapshot. */
export function historyCheckpoint(snapshot: Snapshot): HistoryCheckpoint {
  const { version, definition, incarnation, metadata, tenant, input, createdAt } = snapshot;
  const { context, childStates, mapItems, compensations, answered } = snapshot;
  return Object.freeze({
    ...{ version, definition, metadata, context },
    ...(incarnation !== undefined && { incarnation }),
    ...(tenant !== undefined && { tenant }),
    ...(input !== undefined && { input }),
    ...(createdAt !== undefined && { createdAt }),
    ...(childStates && { childStates: heldContexts(childStates) }),
    ...(mapItems && { mapItems }),
    ...(compensations && { compensations }),
    ...(answered && { answered }),
  });
}

function heldContexts(children: NonNullable<Snapshot["childStates"]>): NonNullable<HeldResults["childStates"]> {
  const holding = Object.entries(children).filter(([, { context }]) => Object.keys(context).length > 0);
  return Object.freeze(Object.fromEntries(holding.map(([key, { context }]) => [key, Object.freeze({ context })])));
}
