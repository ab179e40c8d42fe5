import { describe, expect, it } from "vitest";
import { boundsOf, fitted, opening, revealing, zoomed, zooms } from "./viewport.ts";

const pane = { width: 1_000, height: 600 };
const places = new Map([
  ["a", { x: 0, y: 0 }],
  ["b", { x: 5_000, y: 400 }],
]);
const bounds = boundsOf(places, new Map([["b", 100]]));

describe("viewport", () => {
  it("fits everything into the window, and nothing larger than it is", () => {
    const { x, y, zoom } = fitted(bounds, pane);
    expect(zoom).toBeLessThan(0.2);
    for (const at of places.values()) {
      expect(at.x * zoom + x).toBeGreaterThanOrEqual(31);
      expect((at.x + 216) * zoom + x).toBeLessThanOrEqual(pane.width - 31);
      expect(at.y * zoom + y).toBeGreaterThan(0);
    }
    expect(fitted({ x: 0, y: 0, width: 10, height: 10 }, pane).zoom).toBe(1);
    expect(fitted(boundsOf(new Map(), new Map()), pane).zoom).toBe(1);
  });

  it("opens where it stands if everything would be too small", () => {
    const open = opening(bounds, pane, places.get("b"));
    expect(open.zoom).toBe(0.8);
    // the place is at the end of the graph: beyond it there is no empty room
    expect((5_000 + 216) * 0.8 + open.x).toBeCloseTo(pane.width - 32);
    expect((bounds.y + bounds.height / 2) * 0.8 + open.y).toBeCloseTo(300);
    expect((2_000 + 108) * 0.8 + opening(bounds, pane, { x: 2_000, y: 0 }).x).toBeCloseTo(500);
    expect(opening(bounds, pane, undefined).zoom).toBeLessThan(0.2);
    expect(opening({ x: 0, y: 0, width: 900, height: 200 }, pane, { x: 0, y: 0 }).zoom).toBe(1);
  });

  it("brings a card into sight, and moves nothing if it is there already", () => {
    const here = { x: 0, y: 0, zoom: 1 };
    const card = { x: 400, y: 200, width: 216, height: 100 };
    expect(revealing(card, here, pane)).toEqual(here);
    const moved = revealing({ ...card, x: 2_000 }, here, pane);
    expect(2_216 + moved.x).toBe(pane.width - 32);
    expect(revealing({ ...card, y: -300 }, here, pane).y).toBe(332);
    expect(revealing(card, { ...here, zoom: 0.1 }, pane).zoom).toBeGreaterThan(0.3);
  });

  it("zooms around the middle, within bounds", () => {
    const here = { x: 0, y: 0, zoom: 1 };
    const nearer = zoomed(here, 1.25, pane);
    expect((500 - nearer.x) / nearer.zoom).toBeCloseTo(500);
    expect(zoomed(here, 100, pane).zoom).toBe(zooms.most);
    expect(zoomed(here, 0.0001, pane).zoom).toBe(zooms.least);
  });
});
