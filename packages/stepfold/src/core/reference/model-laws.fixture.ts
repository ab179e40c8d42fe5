import type { Model } from "./model.fixture.ts";
import { isTerminal } from "./model-endings.fixture.ts";
import type { Scope, World } from "./model-state.fixture.ts";

/** A scope and all scopes below it. */
export function allScopes(scope: Scope): Scope[] {
  return [scope, ...scope.children.flatMap((child) => allScopes(child.scope))];
}

/** Whether the paths that are open are those that were born and did not end. */
export function conserved(world: World): boolean {
  const open = allScopes(world.root).flatMap((scope) => scope.paths).length;
  const ended = Object.values(world.ended).reduce((sum, number) => sum + number, 0);
  return open === world.born - ended;
}

/** Whether a scope that goes on has something to run or to wait for: never only joining or held paths. */
export function hasWake(scope: Scope): boolean {
  if (scope.ending) return scope.ending.undo.length > 0;
  return (
    scope.paths.some((path) => path.status === "ready" || path.status === "retrying" || path.waits.length > 0) ||
    scope.children.some((child) => hasWake(child.scope))
  );
}

/** Whether nothing more will happen. */
export function isOver(model: Model): boolean {
  return isTerminal(model.status);
}

/** Whether an edge of a join got two paths of one wave: then the order of outcomes may matter. */
export function overruns(model: Model): boolean {
  return model.world().overruns > 0;
}

/** What must not depend on the order of outcomes. */
export function endState(model: Model): unknown {
  const { ended, born, firings, root } = model.world();
  const sorted = (counts: Record<string, number>) => Object.entries(counts).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return { status: model.status, born, ended: sorted(ended), firings: sorted(firings), done: sorted(root.done) };
}
