import type { GraphLayout } from "../../model/layout/graph-layout.ts";
import { cardWidth, type Point } from "../../model/layout/layout-request.ts";

/** The radius of corners, and the length of the arrowhead with its distance from the card. */
const [radius, headLength, headGap] = [12, 8.5, 2];
/** How far before a column its edges turn, by lane. */
const bends: readonly number[] = [32, 24, 40];
/** How far an edge back goes out, and the distance between edges back and cards. */
const [out, under] = [20, 18];

/** A line on the graph, with its arrowhead and the place for a count. */
export interface EdgeShape {
  readonly line: string;
  readonly head: string;
  readonly middle: Point;
}

/** The ends of an edge. */
export interface EdgeEnds {
  /** On the right side of the source. */
  readonly from: Point;
  /** On the left side of the target. */
  readonly to: Point;
}

/**
 * Returns an edge that leads to the right, through the given places in the columns between.
 *
 * @param lane edges to one target share a lane, in which they turn; those to its neighbours have others
 */
export function forwardShape({ from, to }: EdgeEnds, passages: readonly Point[], lane: number): EdgeShape {
  const points: Point[] = [from];
  for (const { x, y } of [...passages, { x: to.x + cardWidth / 2, y: to.y }]) {
    const turnX = Math.max(x - cardWidth / 2 - (bends[lane % bends.length] ?? 0), points.at(-1)!.x);
    points.push({ x: turnX, y: points.at(-1)!.y }, { x: turnX, y });
  }
  return shapeOf([...points, lineEnd(to)], to);
}

/** Returns an edge that leads back: it runs under the cards, at the given height. */
export function backShape({ from, to }: EdgeEnds, low: number): EdgeShape {
  const [right, left] = [from.x + out, to.x - out];
  const points = [from, { x: right, y: from.y }, { x: right, y: low }, { x: left, y: low }, { x: left, y: to.y }, lineEnd(to)];
  return { ...shapeOf(points, to), middle: { x: (right + left) / 2, y: low } };
}

/**
 * Returns the height under all cards that an edge back would touch: below its ends, and below each card that lies in its way.
 *
 * @param heights the heights of the cards
 */
export function heightUnder({ from, to }: EdgeEnds, { places }: GraphLayout, heights: ReadonlyMap<string, number>): number {
  const [left, right] = [to.x - out, from.x + out];
  const boxes = [...places].map(([id, { x, y }]) => ({ x, top: y, bottom: y + (heights.get(id) ?? 0) }));
  const inWay = boxes.filter(({ x }) => x < right && x + cardWidth > left).sort((a, b) => a.top - b.top);
  let low = Math.max(from.y, to.y) + under;
  for (const { top, bottom } of inWay) if (top - under < low && bottom + under > low) low = bottom + under;
  return low;
}

function lineEnd({ x, y }: Point): Point {
  return { x: x - headGap - headLength + 1.5, y };
}

function shapeOf(points: readonly Point[], to: Point): EdgeShape {
  const tip = to.x - headGap;
  return { line: rounded(withoutRepeats(points)), head: `M${tip} ${to.y}l${-headLength} -4.5v9z`, middle: middleOf(points) };
}

function withoutRepeats(points: readonly Point[]): Point[] {
  return points.filter(({ x, y }, index) => index === 0 || x !== points[index - 1]!.x || y !== points[index - 1]!.y);
}

/** A path of straight lines with round corners. A corner has at most half of each of its lines. */
function rounded(points: readonly Point[]): string {
  const parts = [`M${points[0]!.x} ${points[0]!.y}`];
  for (let index = 1; index < points.length - 1; index++) {
    const [before, corner, after] = [points[index - 1]!, points[index]!, points[index + 1]!];
    const reach = Math.min(radius, distance(before, corner) / 2, distance(corner, after) / 2);
    const [begin, end] = [towards(corner, before, reach), towards(corner, after, reach)];
    parts.push(`L${begin.x} ${begin.y}Q${corner.x} ${corner.y} ${end.x} ${end.y}`);
  }
  const last = points.at(-1)!;
  return `${parts.join("")}L${last.x} ${last.y}`;
}

function distance(one: Point, other: Point): number {
  return Math.abs(one.x - other.x) + Math.abs(one.y - other.y);
}

function towards(from: Point, to: Point, length: number): Point {
  const whole = distance(from, to);
  if (whole === 0) return from;
  return { x: from.x + ((to.x - from.x) * length) / whole, y: from.y + ((to.y - from.y) * length) / whole };
}

/** The middle of the longest level line. */
function middleOf(points: readonly Point[]): Point {
  let best = { length: -1, x: 0, y: 0 };
  for (let index = 1; index < points.length; index++) {
    const [one, other] = [points[index - 1]!, points[index]!];
    const length = Math.abs(one.x - other.x);
    if (one.y === other.y && length > best.length) best = { length, x: (one.x + other.x) / 2, y: one.y };
  }
  return { x: best.x, y: best.y };
}
