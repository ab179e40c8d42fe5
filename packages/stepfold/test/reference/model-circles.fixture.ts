import { waveAt } from "./model-graph.fixture.ts";
import { blockers, fireAnyway, missingEdges, pending, roundAt, type Unit, unitsOf } from "./model-joins.fixture.ts";
import type { Frame, ModelPath } from "./model-state.fixture.ts";

/**
 * Fires one of the joins, or closes one of the rounds, that only wait for each other ("Circles of joins"). True if there was one.
 *
 * It must be called only when no join can do anything by itself.
 */
export function breakCircle(frame: Frame): boolean {
  const stuck = stuckUnits(frame).filter((unit) => !isBlocked(frame, unit));
  const rank = (unit: Unit) => (roundAt(frame, unit) ? 1 : unit.node.join === "all" ? 0 : 2);
  const first = stuck.toSorted((left, right) => rank(left) - rank(right))[0];
  if (!first) return false;
  fireAnyway(frame, first);
  return true;
}

/** The largest set of units that wait only for paths at joins of the same set, in the order of `nodes`. */
function stuckUnits(frame: Frame): Unit[] {
  let stuck = unitsOf(frame);
  for (;;) {
    const isStuck = (join: string, wave: string) => stuck.some((unit) => unit.node.id === join && unit.wave === wave);
    const standsStill = (path: ModelPath) => path.status === "joining" && isStuck(path.nodeId, waveAt(frame.definition, path.nodeId, path));
    const kept = stuck.filter((unit) =>
      isBlocked(frame, unit)
        ? blockers(frame, unit).some((round) => isStuck(round.join, round.wave))
        : pending(frame, unit, missingEdges(frame, unit)).every(standsStill),
    );
    if (kept.length === stuck.length) return kept;
    stuck = kept;
  }
}

function isBlocked(frame: Frame, unit: Unit): boolean {
  return !roundAt(frame, unit) && blockers(frame, unit).length > 0;
}
