import { describe, expect, it } from "vitest";
import { neighbour } from "./neighbour.ts";

const places = new Map([
  ["a", { x: 0, y: 100 }],
  ["b", { x: 300, y: 0 }],
  ["c", { x: 300, y: 110 }],
  ["d", { x: 600, y: 100 }],
]);
const edges = [
  { source: "a", target: "b" },
  { source: "a", target: "c" },
  { source: "b", target: "d" },
  { source: "c", target: "d" },
  { source: "d", target: "a" },
];

describe("neighbour", () => {
  it("follows the edges, ahead before back, the nearest first", () => {
    expect(neighbour("a", "ArrowRight", edges, places)).toBe("c");
    expect(neighbour("d", "ArrowLeft", edges, places)).toBe("c");
    expect(neighbour("d", "ArrowRight", edges, places)).toBe("a");
    expect(neighbour("a", "ArrowLeft", edges, places)).toBe("d");
    expect(neighbour("b", "ArrowLeft", edges, places)).toBe("a");
  });

  it("goes up and down in a column", () => {
    expect(neighbour("b", "ArrowDown", edges, places)).toBe("c");
    expect(neighbour("c", "ArrowUp", edges, places)).toBe("b");
    expect(neighbour("b", "ArrowUp", edges, places)).toBeNull();
    expect(neighbour("nothing", "ArrowUp", edges, places)).toBeNull();
    expect(neighbour("d", "ArrowRight", [], places)).toBeNull();
  });
});
