import { sizeOfVariables } from "../../snapshot/result-size.ts";
import type { Variables } from "../../snapshot/variables.ts";
import { hasOlderValues, readableOf, withValues } from "../../snapshot/variables.ts";
import type { Json } from "../../values/json.ts";
import { type Draft, isChild, type ScopeDraft } from "./draft.ts";
import { subtractSize } from "./held-size.ts";

/** Sets variables of a scope to these values. */
export function setVariables(scope: ScopeDraft, values: Readonly<Record<string, Json>>, version: number): void {
  scope.variables = withValues(scope.variables, values, version);
  noteRevised(scope);
}

/** Remembers a scope in which a variable has values beside its latest. */
export function noteRevised(scope: ScopeDraft): void {
  if (!hasOlderValues(scope.variables)) return;
  scope.root.revised ??= new Set();
  scope.root.revised.add(scope);
}

/**
 * Lets go of the values that no path can read any more, after every event: what an execution holds depends on its paths, and not on the
 * drafts that it went through.
 */
export function releaseVariables(root: Draft): void {
  for (const scope of root.revised!) {
    // a child that is gone has let go of everything
    if (isChild(scope) && root.children.get(scope.key) !== scope) root.revised!.delete(scope);
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
  if (!hasOlderValues(readable)) root.revised!.delete(scope);
}

/** The latest values of the variables of a scope. */
export function latestValues(variables: Variables): Readonly<Record<string, Json>> {
  return Object.freeze(Object.fromEntries(Object.entries(variables).map(([name, values]) => [name, values.at(-1)!.value])));
}
