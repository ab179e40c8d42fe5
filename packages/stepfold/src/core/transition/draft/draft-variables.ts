import type { Variables, WrittenVariables } from "../../snapshot/parts/variables.ts";
import { hasOlderValues, latestList, readableOf, wholeValues, withValues } from "../../snapshot/parts/variables.ts";
import { type Json, sizeOfJson } from "../../values/json.ts";
import { type Draft, isChild, type ScopeDraft } from "./draft.ts";
import { subtractSize } from "./held-size.ts";
import { sizeOfVariables } from "./result-size.ts";

/** Sets the variables of a scope that an event writes, to values that are valid from `version` on. */
export function setVariables(scope: ScopeDraft, written: WrittenVariables, version: number): void {
  // the event counts the added items only; what is held twice now is released after the event
  for (const name of Object.keys(written.appended ?? {})) scope.root.sizeBytes += sizeOfJson(latestList(scope.variables, name) as Json);
  scope.variables = withValues(scope.variables, wholeValues(scope.variables, written), version);
  noteOldValues(scope);
}

/** Adds a scope to `scopesWithOldValues` if one of its variables has older values besides the latest one. */
export function noteOldValues(scope: ScopeDraft): void {
  if (!hasOlderValues(scope.variables)) return;
  scope.root.scopesWithOldValues ??= new Set();
  scope.root.scopesWithOldValues.add(scope);
}

/**
 * Drops the values that no path can read any more. This happens after every event that can move a path, so that what an execution holds
 * depends only on its paths, and not on how often a draft of it was opened.
 */
export function releaseVariables(root: Draft): void {
  for (const scope of root.scopesWithOldValues!) {
    // a child that was deleted, or of which only the outcome is kept, holds no values any more
    if (isChild(scope) && root.children.get(scope.key) !== scope) root.scopesWithOldValues!.delete(scope);
    else release(scope);
  }
}

function release(scope: ScopeDraft): void {
  const { root, variables } = scope;
  const readable = readableOf(
    variables,
    scope.paths.map(({ since }) => since),
  );
  if (readable === variables) return;
  subtractSize(root, sizeOfVariables(variables) - sizeOfVariables(readable));
  scope.variables = readable;
  if (!hasOlderValues(readable)) root.scopesWithOldValues!.delete(scope);
}

/** Returns the latest value of each variable of a scope, by name. */
export function latestValues(variables: Variables): Readonly<Record<string, Json>> {
  return Object.freeze(Object.fromEntries(Object.entries(variables).map(([name, values]) => [name, values.at(-1)!.value])));
}
