import type { ActivePath, CompiledWorkflow, Snapshot } from "stepfold";

type Scopes = Pick<Snapshot, "activePaths" | "childStates">;

/** The child in which a path, a wait or another child is, by its name: `0#1/3` of `0#1/3>0@2`; empty for the execution itself. */
export function scopeOf(name: string): string {
  return name.slice(0, Math.max(0, name.lastIndexOf(">")));
}

/** The name of something in a scope. */
export function inScope(scope: string | undefined, name: string): string {
  return scope === undefined || scope === "" ? name : `${scope}>${name}`;
}

/** Every open path, with the child that it is in. */
export function* openPaths({ activePaths, childStates = {} }: Scopes): Generator<readonly [scope: string, path: ActivePath]> {
  for (const path of activePaths) yield ["", path];
  for (const scope of Object.keys(childStates)) for (const path of childStates[scope]!.activePaths) yield [scope, path];
}

/** The path of a name such as `0#1/3>0`. */
export function pathNamed({ activePaths, childStates }: Scopes, name: string): ActivePath | undefined {
  const scope = scopeOf(name);
  const paths = scope === "" ? activePaths : childStates?.[scope]?.activePaths;
  const id = scope === "" ? name : name.slice(scope.length + 1);
  return paths?.find((path) => path.id === id);
}

/** The workflow that a scope runs; null if it is not known. */
export function workflowIn(
  workflow: CompiledWorkflow | null,
  snapshot: Pick<Snapshot, "childStates">,
  scope: string,
): CompiledWorkflow | null {
  if (scope === "" || !workflow) return workflow;
  const name = snapshot.childStates?.[scope]?.workflow;
  return (name !== undefined && workflowIn(workflow, snapshot, scopeOf(scope))?.workflows.get(name)) || null;
}
