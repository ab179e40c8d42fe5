import { cardWidth, type Point } from "../../model/layout/layout-request.ts";

/** What part of the graph is seen: the place of its origin on the screen, and its zoom. */
export interface Viewport extends Point {
  readonly zoom: number;
}

/** The size of the window onto the graph, in pixels. */
export interface PaneSize {
  readonly width: number;
  readonly height: number;
}

/** A rectangle of the graph. */
interface Box extends Point, PaneSize {}

/** The smallest and the largest zoom. */
export const zooms: { readonly least: number; readonly most: number } = { least: 0.02, most: 1.5 };
/** Below this zoom no text could be read: cards are boxes. */
export const farZoom = 0.4;
/** The zoom at which one place is shown, and the room around the graph. */
const [openZoom, padding] = [0.8, 32];
/** The room that badges, edges back and the tools need below and above. */
const slack = 24;

/** Returns the rectangle that holds all cards. */
export function boundsOf(places: ReadonlyMap<string, Point>, heights: ReadonlyMap<string, number>): Box {
  let [left, top, right, bottom] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const [id, { x, y }] of places) {
    left = Math.min(left, x);
    top = Math.min(top, y - slack / 2);
    right = Math.max(right, x + cardWidth);
    bottom = Math.max(bottom, y + (heights.get(id) ?? 0) + slack / 2);
  }
  return right < left ? { x: 0, y: 0, width: 1, height: 1 } : { x: left, y: top, width: right - left, height: bottom - top };
}

/** Returns the viewport in which all of the graph is seen, at most at its natural size. */
export function fitted(bounds: Box, pane: PaneSize): Viewport {
  const across = (pane.width - 2 * padding) / bounds.width;
  const down = (pane.height - 2 * padding) / bounds.height;
  const zoom = Math.min(1, Math.max(zooms.least, Math.min(across, down)));
  return centred({ x: bounds.x + bounds.width / 2, y: bounds.y + bounds.height / 2 }, zoom, pane);
}

/** Returns the viewport in which a graph opens: all of it, or what is around the place where the execution stands, if all would be too small. */
export function opening(bounds: Box, pane: PaneSize, place: Point | undefined): Viewport {
  const whole = fitted(bounds, pane);
  if (whole.zoom >= openZoom || !place) return whole;
  const { x, y } = centred({ x: place.x + cardWidth / 2, y: place.y + 40 }, openZoom, pane);
  return {
    x: filling(x, bounds.x * openZoom, bounds.width * openZoom, pane.width),
    y: filling(y, bounds.y * openZoom, bounds.height * openZoom, pane.height),
    zoom: openZoom,
  };
}

/** Shifts the origin so that no room is left empty beyond the graph: what fits is in the middle. */
function filling(origin: number, begin: number, length: number, room: number): number {
  if (length <= room - 2 * padding) return (room - length) / 2 - begin;
  return Math.min(padding - begin, Math.max(room - padding - begin - length, origin));
}

/** Returns the viewport in which a card is seen as a whole, changed as little as possible. */
export function revealing(card: Box, viewport: Viewport, pane: PaneSize): Viewport {
  const zoom = Math.max(viewport.zoom, farZoom);
  const at = zoom === viewport.zoom ? viewport : centred({ x: card.x + card.width / 2, y: card.y + card.height / 2 }, zoom, pane);
  return {
    x: shifted(at.x, card.x * zoom, card.width * zoom, pane.width),
    y: shifted(at.y, card.y * zoom, card.height * zoom, pane.height),
    zoom,
  };
}

/** Returns the viewport after a zoom around the middle of the window. */
export function zoomed(viewport: Viewport, factor: number, pane: PaneSize): Viewport {
  const zoom = Math.min(zooms.most, Math.max(zooms.least, viewport.zoom * factor));
  const middle = { x: (pane.width / 2 - viewport.x) / viewport.zoom, y: (pane.height / 2 - viewport.y) / viewport.zoom };
  return centred(middle, zoom, pane);
}

function centred({ x, y }: Point, zoom: number, { width, height }: PaneSize): Viewport {
  return { x: width / 2 - x * zoom, y: height / 2 - y * zoom, zoom };
}

function shifted(origin: number, begin: number, length: number, room: number): number {
  if (origin + begin < padding) return padding - begin;
  return origin + begin + length > room - padding ? room - padding - begin - length : origin;
}
