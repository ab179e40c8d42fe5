import dagre from "@dagrejs/dagre";
import { cardWidth, type LayoutRequest, type Point, plainHeight, rowGap } from "./layout-request.ts";
import { straighten, untangle } from "./tidy-columns.ts";

/** The distance between two columns. */
const columnGap = 64;
/** Room for what a state may add to a card: a meter, a note. */
const reserve = 34;
/** A taller card grows downwards only, so that the heads of a row stay on one line. */
const tallest = 160;

/** Where everything stands. */
export interface GraphLayout {
  /** The upper left corner of each card. */
  readonly places: ReadonlyMap<string, Point>;
  /** For each edge of the request: the places between two columns that it passes on its way; empty for an edge to the next column, or back. */
  readonly routes: readonly (readonly Point[])[];
}

/**
 * Places the cards in columns from left to right. Heads of cards in a row are on one line, whatever stands below them. The result depends on
 * the definition alone: no state of an execution moves a card.
 */
export function layoutOf({ nodes, edges }: LayoutRequest): GraphLayout {
  const heights = new Map(nodes.map(({ id, height }) => [id, height + reserve]));
  const unit = Math.min(tallest, Math.max(plainHeight + reserve, ...heights.values()));
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: "LR", ranksep: columnGap, nodesep: rowGap, edgesep: 24, ranker: "tight-tree" });
  // dagre gets names of its own: ids such as "constructor" would be members that its objects have anyway
  const names = new Map([...heights.keys()].map((id, index) => [id, `n${index}`]));
  for (const [id, height] of heights) graph.setNode(names.get(id)!, { width: cardWidth, height: Math.max(unit, 2 * height - unit) });
  const drawn = edges.map(({ source, target }, index) => {
    const [v, w] = [names.get(source), names.get(target)];
    if (v === undefined || w === undefined || v === w) return null;
    const edge = { v, w, name: String(index) };
    graph.setEdge(edge, {});
    return edge;
  });
  dagre.layout(graph);
  const places = new Map<string, Point>();
  for (const [id, name] of names) {
    const { x, y } = graph.node(name) as unknown as Point;
    places.set(id, { x: Math.round(x - cardWidth / 2), y: Math.round(y - unit / 2) });
  }
  untangle(places, heights, edges);
  straighten(places, heights, edges);
  const columns = new Set([...places.values()].map(({ x }) => x + cardWidth / 2));
  const routes = edges.map(({ source, target }, index) => {
    const edge = drawn[index];
    if (!edge || places.get(target)!.x <= places.get(source)!.x) return [];
    const { points = [] } = graph.edge(edge) as { readonly points?: readonly Point[] };
    return passages(points, columns, places.get(source)!.x, places.get(target)!.x);
  });
  return { places, routes };
}

/** The points of a route that lie in the columns between its ends. Between two columns it has points too. */
function passages(points: readonly Point[], columns: ReadonlySet<number>, from: number, to: number): Point[] {
  const placed = points.map(({ x, y }) => ({ x: Math.round(x), y: Math.round(y) }));
  return placed.filter(({ x }) => columns.has(x) && x > from + cardWidth && x < to).sort((a, b) => a.x - b.x);
}
