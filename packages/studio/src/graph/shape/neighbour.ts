import type { Edge } from "stepfold/core";
import type { Point } from "../../model/layout/layout-request.ts";

/** A key that moves from one card to another. */
export type Direction = "ArrowLeft" | "ArrowRight" | "ArrowUp" | "ArrowDown";

/**
 * Returns the card to which a key moves: left and right follow the edges, up and down go to the next card of the column. Null: there is none.
 */
export function neighbour(from: string, direction: Direction, edges: readonly Edge[], places: ReadonlyMap<string, Point>): string | null {
  const here = places.get(from);
  if (!here) return null;
  if (direction === "ArrowRight" || direction === "ArrowLeft") {
    const isRight = direction === "ArrowRight";
    const others = edges.flatMap(({ source, target }) => (isRight ? (source === from ? [target] : []) : target === from ? [source] : []));
    const ahead = others.filter((id) => id !== from && places.has(id));
    const isAhead = (id: string): number => (places.get(id)!.x > here.x === isRight ? 0 : 1);
    return nearest(ahead, (id) => isAhead(id) * 1e9 + Math.abs(places.get(id)!.y - here.y) + Math.abs(places.get(id)!.x - here.x) / 1e3);
  }
  const isDown = direction === "ArrowDown";
  const column = [...places].filter(([id, { x, y }]) => id !== from && Math.abs(x - here.x) < 40 && (isDown ? y > here.y : y < here.y));
  return nearest(
    column.map(([id]) => id),
    (id) => Math.abs(places.get(id)!.y - here.y),
  );
}

function nearest(ids: readonly string[], far: (id: string) => number): string | null {
  let best: string | null = null;
  for (const id of ids) if (best === null || far(id) < far(best)) best = id;
  return best;
}
