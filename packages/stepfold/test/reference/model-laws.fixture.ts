import type { Model } from "./model.fixture.ts";
import { nodeOf } from "./model-definition.fixture.ts";
import { isTerminal } from "./model-endings.fixture.ts";
import type { Scope, World } from "./model-state.fixture.ts";

/** A scope and all scopes below it. */
function allScopes(scope: Scope): Scope[] {
  return [scope, ...scope.children.flatMap((child) => allScopes(child.scope))];
}

/** True if the number of open paths is the number of born paths minus the number of ended paths. */
function conserved(world: World): boolean {
  const open = allScopes(world.root).flatMap((scope) => scope.paths).length;
  const ended = Object.values(world.ended).reduce((sum, number) => sum + number, 0);
  return open === world.born - ended;
}

/** True if a scope that has not ended has a path that can run or that waits, and not only joining or held paths. */
function hasWake(scope: Scope): boolean {
  if (scope.ending) return scope.ending.undo.length > 0;
  return (
    scope.paths.some((path) => path.status === "ready" || path.status === "retrying" || path.waits.length > 0) ||
    scope.children.some((child) => hasWake(child.scope))
  );
}

/** True if the execution has ended. */
export function isOver(model: Model): boolean {
  return isTerminal(model.status);
}

/** True if an edge of a join got two paths of one wave, because then the order of outcomes may matter. */
export function overruns(model: Model): boolean {
  return model.world().overruns > 0;
}

/** The parts of the end that must not depend on the order of outcomes. */
export function endState(model: Model): unknown {
  const { ended, born, firings, root } = model.world();
  const sorted = (counts: Record<string, number>) => Object.entries(counts).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return { status: model.status, born, ended: sorted(ended), firings: sorted(firings), done: sorted(root.done) };
}

/** The names of the laws of docs/path-semantics.md ("What tests hold") that are broken. The list should be empty. */
export function brokenLaws(model: Model): string[] {
  const world = model.world();
  const paths = model.paths();
  const inside = paths.flatMap((path) => {
    const { mutex } = nodeOf(model.definitionAt(path.chain), path.nodeId);
    const has = path.status !== "held" && path.status !== "joining" && !path.draining;
    return mutex !== undefined && has ? [`${path.chain}${mutex}`] : [];
  });
  const laws: Readonly<Record<string, boolean>> = {
    "open paths are those born and not ended": conserved(world),
    "what goes on has something to run or to wait for": isOver(model) || hasWake(world.root),
    "ids have at most 32 characters": paths.every(({ id }) => id.length <= 32),
    "a scope that has ended leaves nothing": allScopes(world.root).every(
      ({ paths: open, rounds, children }) => open.length > 0 || rounds.length + children.length === 0,
    ),
    "one path at a time has a mutex": new Set(inside).size === inside.length,
  };
  return Object.keys(laws).filter((law) => !laws[law]);
}
