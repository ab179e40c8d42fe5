import type { Edge, WorkflowDefinition } from "stepfold/core";
import type { GraphLayout } from "../../model/layout/graph-layout.ts";
import { cardWidth, headMiddle, type Point } from "../../model/layout/layout-request.ts";
import { type ExecutionState, nodeStateOf } from "../../model/replay/execution-state.ts";
import type { Card } from "../card/card.ts";
import { portMiddle } from "../card/ports.ts";
import { backShape, type EdgeEnds, type EdgeShape, forwardShape, heightUnder } from "./edge-path.ts";

/** `pending`: not reached. `off`: its source was left by other handles only. `running`: what it leads to runs now. */
type EdgeState = "pending" | "taken" | "off" | "running" | "error";

/** An edge as it is drawn. */
export interface DrawnEdge extends EdgeShape {
  readonly key: string;
  readonly source: string;
  readonly target: string;
  readonly handle: string;
  readonly state: EdgeState;
  /** How often it was taken. */
  readonly count: number;
}

/** The distance between two edges back. */
const track = 12;

/** Returns the edges of a workflow. @param cards by node */
export function drawnEdges(
  { edges }: WorkflowDefinition,
  layout: GraphLayout,
  cards: ReadonlyMap<string, Card>,
  state: ExecutionState | null,
): DrawnEdge[] {
  const heights = new Map([...cards].map(([id, { height }]) => [id, height]));
  const tracks = tracksOf(layout);
  let backs = 0;
  return edges.flatMap((edge, index): DrawnEdge[] => {
    const ends = endsOf(edge, layout, cards);
    if (!ends) return [];
    const isBack = ends.to.x < ends.from.x;
    const shape = isBack
      ? backShape(ends, heightUnder(ends, layout, heights) + track * backs++)
      : forwardShape(ends, layout.routes[index] ?? [], tracks.get(edge.target) ?? 0);
    const { source, target } = edge;
    const handle = edge.sourceHandle ?? "";
    return [{ ...shape, key: String(index), source, target, handle, ...stateOfEdge(edge, handle, state) }];
  });
}

/** The track of the edges into each card: its number in its column. */
function tracksOf({ places }: GraphLayout): ReadonlyMap<string, number> {
  const counts = new Map<number, number>();
  const tracks = new Map<string, number>();
  for (const [id, { x }] of [...places].sort(([, a], [, b]) => a.y - b.y)) {
    tracks.set(id, counts.get(x) ?? 0);
    counts.set(x, (counts.get(x) ?? 0) + 1);
  }
  return tracks;
}

function endsOf({ source, target, sourceHandle }: Edge, { places }: GraphLayout, cards: ReadonlyMap<string, Card>): EdgeEnds | null {
  const [from, to, card] = [places.get(source), places.get(target), cards.get(source)];
  if (!from || !to || !card) return null;
  return { from: { x: from.x + cardWidth, y: from.y + portMiddle(card.ports, sourceHandle ?? "", card.height) }, to: enter(to) };
}

function enter({ x, y }: Point): Point {
  return { x, y: y + headMiddle };
}

function stateOfEdge({ source, target }: Edge, handle: string, state: ExecutionState | null): Pick<DrawnEdge, "state" | "count"> {
  const from = nodeStateOf(state, source);
  const to = nodeStateOf(state, target);
  const count = from.handles.get(handle) ?? 0;
  if (count === 0) return { state: from.visits > 0 && !from.standing ? "off" : "pending", count };
  // of a loop only the edge by which it came last
  const runs = to.status === "active" && to.standing !== null && (from.lastHandles.includes(handle) || from.visits === 0);
  if (runs && state?.folded) return { state: "running", count };
  return { state: handle === "error" ? "error" : "taken", count };
}
