import { describe, expect, it } from "vitest";
import { layoutOf } from "./graph-layout.ts";
import { cardWidth } from "./layout-request.ts";

/** Cards as `a:78`, edges as `a>b`, or `a>b:90` if they leave at this height. */
function laidOut(cards: readonly string[], edges: readonly string[]) {
  const nodes = cards.map((card) => ({ id: card.split(":")[0]!, height: Number(card.split(":")[1] ?? 78) }));
  const request = {
    nodes,
    edges: edges.map((edge) => {
      const [, source = "", target = "", port = "25"] = /^(\w+)>(\w+)(?::(\d+))?$/.exec(edge)!;
      return { source, target, port: Number(port) };
    }),
  };
  const { places, routes } = layoutOf(request);
  const at = (id: string) => places.get(id)!;
  return { places, routes, at, nodes };
}

/** No two cards touch. */
function expectApart({ places, nodes }: ReturnType<typeof laidOut>): void {
  for (const [index, { id, height }] of nodes.entries())
    for (const other of nodes.slice(index + 1)) {
      const [one, two] = [places.get(id)!, places.get(other.id)!];
      const isApart = Math.abs(one.x - two.x) >= cardWidth || one.y + height <= two.y - 8 || two.y + other.height <= one.y - 8;
      expect([id, other.id, isApart]).toEqual([id, other.id, true]);
    }
}

describe("layoutOf", () => {
  it("puts what follows to the right, and the heads of a chain on one line", () => {
    const chain = laidOut(["a", "b:200", "c", "d:120"], ["a>b", "b>c", "c>d"]);
    expect([chain.at("a").x, chain.at("b").x].map((x) => x < chain.at("c").x)).toEqual([true, true]);
    expect(new Set(["a", "b", "c", "d"].map((id) => chain.at(id).y)).size).toBe(1);
    expectApart(chain);
  });

  it("stands branches in the order of the handles from which they leave", () => {
    for (const edges of [
      ["ask>yes:100", "ask>no:122"],
      ["ask>no:122", "ask>yes:100"],
    ]) {
      const layout = laidOut(["ask:153", "no", "yes"], edges);
      expect(layout.at("yes").y).toBeLessThan(layout.at("no").y);
      expectApart(layout);
    }
  });

  it("leads an edge that passes columns between the cards", () => {
    const layout = laidOut(["a", "b", "c", "d"], ["a>b", "b>c", "c>d", "a>d"]);
    const [first, second] = layout.routes[3]!;
    expect(layout.routes[3]).toHaveLength(2);
    expect(first!.x - cardWidth / 2).toBe(layout.at("b").x);
    expect(second!.x - cardWidth / 2).toBe(layout.at("c").x);
    const { y } = layout.at("b");
    expect(first!.y < y || first!.y > y + 78).toBe(true);
    expect(layout.routes.slice(0, 3)).toEqual([[], [], []]);
  });

  it("takes loops, edges to itself, edges without an end and names that objects have", () => {
    const layout = laidOut(
      ["constructor", "toString", "b"],
      ["constructor>toString", "toString>constructor", "b>b", "b>nowhere", "toString>b"],
    );
    expect(layout.at("constructor").x).toBeLessThan(layout.at("toString").x);
    expect(layout.routes).toEqual([[], [], [], [], []]);
    expectApart(layout);
    expect(layoutOf({ nodes: [], edges: [] })).toEqual({ places: new Map(), routes: [] });
  });

  it("keeps the cards of random graphs apart", () => {
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((seed / 2_147_483_648) * below);
    };
    for (let round = 0; round < 40; round++) {
      const count = 3 + random(14);
      const cards = Array.from({ length: count }, (_, index) => `n${index}:${78 + 22 * random(6)}`);
      const edges = Array.from({ length: count + random(count) }, () => `n${random(count)}>n${random(count)}:${25 + random(100)}`);
      expectApart(laidOut(cards, edges));
    }
  });
});
