import type { Json } from "../values/json.ts";
import { valuesInEvents } from "./large-values.ts";
import type { ChildState, Snapshot } from "./snapshot.ts";

/**
 * What an execution held at one version, except the heads of its scopes, which the store has anyhow. With it, a store restores the snapshot
 * from the events after that version only, however many there were before.
 */
export interface HistoryCheckpoint
  extends Pick<Snapshot, "version" | "definition" | "incarnation" | "metadata" | "tenant" | "input" | "createdAt">,
    HeldResults {
  /** The idempotency keys that the execution remembers. */
  readonly answered?: Snapshot["answered"];
  /** Large values of heads, by their places in earlier events (see `InEvents`). */
  readonly values?: Readonly<Record<string, Json>>;
}

/** What `restore` reads from the events if there is no checkpoint. */
export interface HeldResults extends Pick<Snapshot, "context" | "variables" | "mapItems" | "compensations" | "schemas"> {
  /** The results and variables of the children, by key. */
  readonly childStates?: Readonly<Record<string, Pick<ChildState, "context" | "variables">>>;
}

/** Makes the checkpoint of a snapshot. */
export function historyCheckpoint(snapshot: Snapshot): HistoryCheckpoint {
  const { version, definition, incarnation, metadata, tenant, input, createdAt } = snapshot;
  const { context, variables, childStates, mapItems, compensations, answered, schemas } = snapshot;
  const values = [snapshot, ...Object.values(childStates ?? {})].flatMap((scope) => [...valuesInEvents(scope)] as [string, Json][]);
  return Object.freeze({
    ...{ version, definition, metadata, context },
    ...(incarnation !== undefined && { incarnation }),
    ...(tenant !== undefined && { tenant }),
    ...(input !== undefined && { input }),
    ...(createdAt !== undefined && { createdAt }),
    ...(variables && { variables }),
    ...(childStates && { childStates: heldResults(childStates) }),
    ...(mapItems && { mapItems }),
    ...(compensations && { compensations }),
    ...(answered && { answered }),
    ...(schemas && { schemas }),
    ...(values.length > 0 && { values: Object.freeze(Object.fromEntries(values)) }),
  });
}

function heldResults(children: NonNullable<Snapshot["childStates"]>): NonNullable<HeldResults["childStates"]> {
  // a child that has variables also has a result: that of the step that set them
  const holding = Object.entries(children).filter(([, { context }]) => Object.keys(context).length > 0);
  return Object.freeze(
    Object.fromEntries(holding.map(([key, { context, variables }]) => [key, Object.freeze({ context, ...(variables && { variables }) })])),
  );
}
