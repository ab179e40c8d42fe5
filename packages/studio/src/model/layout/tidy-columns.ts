import { headMiddle, type LayoutRequest, type Point, rowGap } from "./layout-request.ts";

/** So far a card is moved to be on one line with a neighbour, and with the only one that it leads to. */
const [maxShift, maxChainShift] = [40, 140];
/** How often all columns are gone through, and the most pairs of edges that are compared for two cards. */
const [passes, maxPairs] = [3, 2_000];

type Positions = Map<string, Point>;
type Heights = ReadonlyMap<string, number>;
type Edges = LayoutRequest["edges"];

/**
 * Exchanges neighbours of a column if fewer edges cross then. The layout before knows cards as points; here it counts from which handle an edge
 * leaves.
 */
export function untangle(positions: Positions, heights: Heights, edges: Edges): void {
  const incident = edgesByNode(edges, positions);
  for (let pass = 0; pass < passes; pass++) {
    let hasChanged = false;
    for (const column of columnsOf(positions).values()) {
      column.sort((a, b) => positions.get(a)!.y - positions.get(b)!.y);
      for (let index = 0; index + 1 < column.length; index++) {
        const [upper, lower] = [column[index]!, column[index + 1]!];
        if (crossings(upper, lower, incident, positions) <= crossings(lower, upper, incident, positions)) continue;
        exchange(upper, lower, positions, heights);
        [column[index], column[index + 1]] = [lower, upper];
        hasChanged = true;
      }
    }
    if (!hasChanged) return;
  }
}

/** Both keep the room that they have together. */
function exchange(upper: string, lower: string, positions: Positions, heights: Heights): void {
  const [above, below] = [positions.get(upper)!, positions.get(lower)!];
  positions.set(lower, above);
  positions.set(upper, { x: below.x, y: below.y + heights.get(lower)! - heights.get(upper)! });
}

/** The other end of an edge, and by how much lower a card has to stand than that end, so that the edge is straight. */
interface Neighbour {
  readonly id: string;
  readonly shift: number;
}

/** The other ends of the edges of a node. */
interface Incident {
  readonly before: readonly Neighbour[];
  readonly after: readonly Neighbour[];
}

function edgesByNode(edges: Edges, positions: Positions): ReadonlyMap<string, Incident> {
  const incident = new Map<string, { before: Neighbour[]; after: Neighbour[] }>();
  for (const id of positions.keys()) incident.set(id, { before: [], after: [] });
  for (const { source, target, port } of edges) {
    const [from, to] = [positions.get(source), positions.get(target)];
    // edges back run under the cards
    if (!from || !to || to.x <= from.x) continue;
    incident.get(target)!.before.push({ id: source, shift: port - headMiddle });
    incident.get(source)!.after.push({ id: target, shift: headMiddle - port });
  }
  return incident;
}

/** How many edges of two cards cross, if the first one stands above the second one. */
function crossings(upper: string, lower: string, incident: ReadonlyMap<string, Incident>, positions: Positions): number {
  const [a, b] = [incident.get(upper)!, incident.get(lower)!];
  if (a.before.length * b.before.length + a.after.length * b.after.length > maxPairs) return 0;
  // edges into a card end at one place, and leave it in the order of their handles
  const before = ({ id, shift }: Neighbour): number => positions.get(id)!.y + shift;
  const after = ({ id }: Neighbour): number => positions.get(id)!.y;
  let count = 0;
  for (const one of a.before) for (const other of b.before) if (before(one) > before(other)) count++;
  for (const one of a.after) for (const other of b.after) if (after(one) > after(other)) count++;
  return count;
}

/** Moves cards that nearly are on one line with a neighbour onto this line, if they then do not touch others of their column. */
export function straighten(positions: Positions, heights: Heights, edges: Edges): void {
  const incident = edgesByNode(edges, positions);
  const columns = columnsOf(positions);
  for (const [id, { x, y }] of [...positions].sort(([, a], [, b]) => a.x - b.x)) {
    const { before, after } = incident.get(id)!;
    const isChain = before.length === 0 && after.length === 1;
    const reach = isChain ? maxChainShift : maxShift;
    const lines = [...before, ...after].map(({ id: other, shift }) => positions.get(other)!.y + shift);
    const [line = y] = lines.filter((one) => Math.abs(one - y) <= reach).sort((a, b) => Math.abs(a - y) - Math.abs(b - y));
    const isFree = columns.get(x)!.every((other) => {
      const { y: top } = positions.get(other)!;
      return other === id || top + heights.get(other)! + rowGap / 2 <= line || line + heights.get(id)! + rowGap / 2 <= top;
    });
    if (isFree) positions.set(id, { x, y: line });
  }
}

function columnsOf(positions: Positions): Map<number, string[]> {
  const columns = new Map<number, string[]>();
  for (const [id, { x }] of positions) columns.set(x, [...(columns.get(x) ?? []), id]);
  return columns;
}
