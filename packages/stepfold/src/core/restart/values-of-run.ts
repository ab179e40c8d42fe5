import { hasOlderValues, noVariables, readableOf, type Variables, wholeValues, withValues } from "../snapshot/parts/variables.ts";
import type { ChildState, Snapshot } from "../snapshot/snapshot.ts";
import type { RunHistory } from "./run-history.ts";

/**
 * Returns an execution that is opened again, with the values of variables that its paths can read. Some are older than those that it ended
 * with, because an execution keeps only what its open paths can read. The variables of the execution itself are left out if it can read
 * only those that it ended with.
 */
export function withReadableValues(history: RunHistory, { variables: _, ...reopened }: Snapshot): Snapshot {
  const values = valuesOfRun(history);
  if (values.size === 0) return reopened;
  const readable = (key: string, { activePaths }: Pick<Snapshot, "activePaths">): Variables => {
    const arrivals = activePaths.map(({ since }) => since);
    return readableOf(values.get(key) ?? noVariables, arrivals);
  };
  const { childStates = {} } = reopened;
  const children = Object.entries(childStates).map(([key, child]): [string, ChildState] => {
    const isOpen = child.activePaths.length > 0 && values.has(key);
    return [key, isOpen ? { ...child, variables: readable(key, child) } : child];
  });
  const variables = readable("", reopened);
  return {
    ...reopened,
    ...(hasOlderValues(variables) && { variables }),
    ...(reopened.childStates && { childStates: Object.fromEntries(children) }),
  };
}

/** Returns every value that variables have had in a run, by the key of their scope. */
function valuesOfRun({ events }: RunHistory): Map<string, Variables> {
  const values = new Map<string, Variables>();
  const takeOver = ({ variables, childStates = {} }: Pick<Snapshot, "variables" | "childStates">): void => {
    if (variables) values.set("", variables);
    for (const [key, child] of Object.entries(childStates)) if (child.variables) values.set(key, child.variables);
  };
  for (const event of events) {
    if (event.type === "started") takeOver(event.checkpoint?.state ?? {});
    else if (event.type === "restarted") takeOver(event.state);
    else if (event.type === "completed" || event.type === "continued") {
      const scope = ("scope" in event && event.scope) || "";
      const before = values.get(scope) ?? noVariables;
      const written = wholeValues(before, event);
      if (Object.keys(written).length > 0) values.set(scope, withValues(before, written, event.version));
    }
  }
  return values;
}
