import { describe, expect, it } from "vitest";
import { flow } from "../../../test/execution/history.fixture.ts";
import { iconOf, typeLine } from "./node-kind.ts";
import { portMiddle, portsHeight, portsOf } from "./ports.ts";

const ports = (nodes: readonly object[], edges: readonly string[], types = new Map<string, readonly string[]>()) =>
  portsOf(flow("w", nodes, edges), types);

describe("portsOf", () => {
  it("takes the handles of the edges and those that a type has in any case, failures last", () => {
    const nodes = [
      { id: "a", type: "approval" },
      { id: "b", type: "if" },
      { id: "c", type: "switch", data: { cases: [{ equals: 1, handle: "one" }, { equals: 2, handle: "two" }, 7] } },
      { id: "d", type: "http" },
      { id: "e", type: "mine" },
      { id: "f", type: "end" },
    ];
    const edges = ["a>b@timeout", "a>c@approved", "b>d@true", "c>d@default", "d>e", "d>f@error", "e>f@done"];
    const all = ports(nodes, edges, new Map([["mine", ["", "done", "later"]]]));
    expect([...all].map(([id, { hasDefault, named }]) => [id, hasDefault, named.join()])).toEqual([
      ["a", false, "approved,rejected,timeout"],
      ["b", false, "true,false"],
      ["c", false, "one,two,default"],
      ["d", true, "error"],
      ["e", false, "done,later"],
      ["f", false, ""],
    ]);
    expect([...all.get("a")!.withEdges]).toEqual(["timeout", "approved"]);
  });

  it("says where each handle is: the default one at the head, the others in rows at the foot", () => {
    const own = ports(
      [
        { id: "a", type: "approval" },
        { id: "b", type: "noop" },
      ],
      ["a>b@approved", "a>b"],
    ).get("a")!;
    const height = 78 + portsHeight(own);
    expect(height).toBe(131);
    expect([portMiddle(own, "", height), portMiddle(own, "approved", height), portMiddle(own, "rejected", height)]).toEqual([25, 94, 116]);
    expect(portMiddle(own, "unknown", height)).toBe(25);
  });
});

describe("typeLine", () => {
  it("tells the one fact that matters of a built-in type, as text of bounded length", () => {
    const line = (type: string, data: object): string => typeLine({ type, data: data as never });
    expect(line("http", { method: "POST", url: "https://pay.example/charges?x=1#y" })).toBe("http · POST /charges");
    expect(line("http", { url: "{{ globals.base }}/holds" })).toBe("http · GET /holds");
    expect(line("http", { url: "javascript:alert(1)" })).toBe("http · GET javascript:alert(1)");
    expect(line("if", { condition: "{{ input.total > 500 }}" })).toBe("if · input.total > 500");
    expect(line("map", { workflow: "label" })).toBe("map · label");
    expect(line("wait", { for: "2 days" })).toBe("wait · 2 days");
    expect(line("mine", { url: "x" })).toBe("mine");
    expect(line("signal", { name: "n".repeat(500) }).length).toBeLessThan(80);
    expect(typeLine({ type: "http", data: null })).toBe("http · GET /");
    expect([iconOf({ type: "http" }), iconOf({ type: "constructor" })]).toEqual(["globe", "square-terminal"]);
  });
});
