import { edgesInto, isJoin, isThreadMerge, type ModelNode } from "./model-definition.fixture.ts";
import { failScope } from "./model-endings.fixture.ts";
import { otherEdges, reachesEdge, waveAt } from "./model-graph.fixture.ts";
import { beginVisit, enter, failNode } from "./model-moves.fixture.ts";
import { byAge, bySeniority, endPath, type Frame, type ModelError, type ModelPath, type ModelRound } from "./model-state.fixture.ts";

/** One wave at one join. Its paths fire together ("Firing"). */
export interface Unit {
  readonly node: ModelNode;
  readonly wave: string;
}

/** The open paths of the wave that can still reach one of these edges ("Pending paths"). */
export function pending(frame: Frame, unit: Unit, edges: readonly number[]): ModelPath[] {
  const join = unit.node.id;
  return frame.scope.paths.filter(
    (path) =>
      !path.draining &&
      !(path.status === "joining" && path.nodeId === join) &&
      waveAt(frame.definition, join, path) === unit.wave &&
      reachesEdge(frame.definition, path.nodeId, join, edges),
  );
}

/** The paths that wait at the join in this wave, the oldest first. */
function waitingAt(frame: Frame, unit: Unit): ModelPath[] {
  const here = frame.scope.paths.filter((path) => path.status === "joining" && path.nodeId === unit.node.id);
  return here.filter((path) => waveAt(frame.definition, unit.node.id, path) === unit.wave).toSorted(byAge);
}

/** The first waiting path of each edge, the oldest first. */
function headsAt(frame: Frame, unit: Unit): ModelPath[] {
  const waiting = waitingAt(frame, unit);
  return waiting.filter((path, index) => waiting.findIndex((other) => other.via === path.via) === index);
}

/** The edges by which these paths came. */
function edgesOf(paths: readonly ModelPath[]): number[] {
  return paths.flatMap((path) => (path.via === null ? [] : [path.via]));
}

/** The open round of this wave at this join; undefined if there is none. */
export function roundAt(frame: Frame, unit: Unit): ModelRound | undefined {
  return frame.scope.rounds.find((round) => round.join === unit.node.id && round.wave === unit.wave);
}

/** The open rounds of other waves that keep this wave from firing (`late: "block"`). */
export function blockers(frame: Frame, unit: Unit): ModelRound[] {
  if (unit.node.late !== "block") return [];
  return frame.scope.rounds.filter((round) => round.join === unit.node.id && round.wave !== unit.wave);
}

/** All waves with a waiting path or a round: joins in the order of `nodes`, waves by their oldest path, waves without a path last. */
export function unitsOf(frame: Frame): Unit[] {
  return frame.definition.nodes.filter(isJoin).flatMap((node) => {
    const waiting = frame.scope.paths.filter((path) => path.status === "joining" && path.nodeId === node.id).toSorted(byAge);
    const rounds = frame.scope.rounds.filter((round) => round.join === node.id);
    const waves = [...waiting.map((path) => waveAt(frame.definition, node.id, path)), ...rounds.map((round) => round.wave)];
    return [...new Set(waves)].map((wave) => ({ node, wave }));
  });
}

/** Does the next thing that this wave can do at this join ("Firing"). True if it did something. */
export function examine(frame: Frame, unit: Unit): boolean {
  const round = roundAt(frame, unit);
  if (round) return takeLate(frame, unit, round) || closeIfDone(frame, unit, round);
  if (waitingAt(frame, unit).length === 0 || blockers(frame, unit).length > 0) return false;
  if (fireIfFilled(frame, unit)) return true;
  if (pending(frame, unit, missingEdges(frame, unit)).length > 0) return false;
  fireAnyway(frame, unit);
  return true;
}

/**
 * The edges that this wave still waits for: the edges that its open round has not got, all edges of a thread merge, else the edges without
 * a waiting path.
 */
export function missingEdges(frame: Frame, unit: Unit): number[] {
  const round = roundAt(frame, unit);
  if (round) return otherEdges(frame.definition, unit.node.id, round.got);
  if (isThreadMerge(frame.definition, unit.node)) return edgesInto(frame.definition, unit.node.id);
  return otherEdges(frame.definition, unit.node.id, edgesOf(headsAt(frame, unit)));
}

/** Handles a wave that no path can reach any more, or at which a circle is broken: closes its round, or fires `all`, or falls short. */
export function fireAnyway(frame: Frame, unit: Unit): void {
  const round = roundAt(frame, unit);
  if (round) frame.scope.rounds = frame.scope.rounds.filter((other) => other !== round);
  else if (unit.node.join === "all") fire(frame, unit, headsAt(frame, unit));
  else fallShort(frame, unit);
}

function takeLate(frame: Frame, unit: Unit, round: ModelRound): boolean {
  const late = waitingAt(frame, unit).find((path) => path.via !== null && !round.got.includes(path.via));
  if (!late || late.via === null) return false;
  round.got.push(late.via);
  endPath(frame, late, "late");
  return true;
}

function closeIfDone(frame: Frame, unit: Unit, round: ModelRound): boolean {
  if (pending(frame, unit, otherEdges(frame.definition, unit.node.id, round.got)).length > 0) return false;
  fireAnyway(frame, unit);
  return true;
}

function fireIfFilled(frame: Frame, unit: Unit): boolean {
  const wanted = unit.node.join;
  if (typeof wanted !== "number") return false;
  const candidates = isThreadMerge(frame.definition, unit.node) ? waitingAt(frame, unit) : headsAt(frame, unit);
  if (candidates.length < wanted) return false;
  fire(frame, unit, candidates.slice(0, wanted));
  return true;
}

function fire(frame: Frame, unit: Unit, consumed: readonly ModelPath[]): void {
  const { node, wave } = unit;
  const got = edgesOf(consumed);
  const rest = otherEdges(frame.definition, node.id, got);
  const counted = typeof node.join === "number" && !isThreadMerge(frame.definition, node);
  if (counted && node.late === "cancel") cancelRest(frame, unit, rest);
  const survivor = merge(frame, consumed);
  beginVisit(frame, survivor);
  enter(frame, survivor);
  if (counted && node.late !== "cancel") frame.scope.rounds.push({ join: node.id, wave, got });
}

/** Ends the paths that are pending for these edges, and the first waiting path of each ("Late branches"). */
function cancelRest(frame: Frame, unit: Unit, edges: readonly number[]): void {
  const heads = headsAt(frame, unit).filter((path) => path.via !== null && edges.includes(path.via));
  for (const path of [...pending(frame, unit, edges), ...heads]) endPath(frame, path, "overtaken");
}

/**
 * Fails the node of a join with JOIN_SHORT ("Firing"). The `error` edge is taken once per path and transition.
 *
 * An `error` edge that leads back to the join would otherwise be taken for ever in one transition.
 */
function fallShort(frame: Frame, unit: Unit): void {
  const survivor = merge(frame, waitingAt(frame, unit));
  const error: ModelError = { code: "JOIN_SHORT", nodeId: unit.node.id };
  const mark = `${frame.chain}${survivor.id}|${unit.node.id}`;
  const again = frame.world.shorts.includes(mark);
  frame.world.shorts.push(mark);
  beginVisit(frame, survivor);
  if (again) failScope(frame, survivor, error);
  else failNode(frame, survivor, error);
}

/** Merges paths into the senior one, which gets the results of all of them, in the order of the incoming edges. */
function merge(frame: Frame, consumed: readonly ModelPath[]): ModelPath {
  const survivor = consumed.toSorted((left, right) => bySeniority(left.id, right.id))[0];
  if (!survivor) throw new RangeError("a join fires with at least one path");
  const byEdge = consumed.toSorted((left, right) => (left.via ?? 0) - (right.via ?? 0) || byAge(left, right));
  survivor.from = byEdge.flatMap((path) => path.from);
  for (const path of consumed) if (path !== survivor) endPath(frame, path, "merged");
  return survivor;
}
