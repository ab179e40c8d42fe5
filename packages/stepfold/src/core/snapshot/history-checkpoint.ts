import type { Json } from "../values/json.ts";
import { valuesInEvents } from "./large-values.ts";
import type { ChildState, Snapshot } from "./snapshot.ts";

/**
 * What an execution held at one version, beside the heads of its scopes. With it a store puts the snapshot together from the events after
 * that version, however many there were before.
 */
export interface HistoryCheckpoint
  extends Pick<Snapshot, "version" | "definition" | "incarnation" | "metadata" | "tenant" | "input" | "createdAt">,
    HeldResults {
  readonly answered?: Snapshot["answered"];
  /** Large values of heads, by where in earlier events they lie. */
  readonly values?: Readonly<Record<string, Json>>;
}

/** What `restore` otherwise reads from the events. */
export interface HeldResults extends Pick<Snapshot, "context" | "variables" | "mapItems" | "compensations" | "schemas"> {
  /** The children with what they hold. */
  readonly childStates?: Readonly<Record<string, Pick<ChildState, "context" | "variables">>>;
}

/** The checkpoint of a snapshot. */
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
  // where there are variables there is the result of the step that has set them
  const holding = Object.entries(children).filter(([, { context }]) => Object.keys(context).length > 0);
  return Object.freeze(
    Object.fromEntries(holding.map(([key, { context, variables }]) => [key, Object.freeze({ context, ...(variables && { variables }) })])),
  );
}
