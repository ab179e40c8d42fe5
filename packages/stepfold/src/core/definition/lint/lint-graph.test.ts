import { describe, expect, it } from "vitest";
import { expressionLanguage } from "../../../expressions/expression-language.ts";
import { check } from "../compile/compile.ts";
import type { Edge, Node, WorkflowDefinition } from "../definition.ts";

type Parts = Readonly<Record<string, Partial<Node>>>;

/** Builds a workflow from edges such as `"a>b"` and `"a>b@handle"`. `parts` holds further members of its nodes, by id. */
function drawn(ways: string, parts: Parts = {}, more: Partial<WorkflowDefinition> = {}): WorkflowDefinition {
  const edges = ways.split(" ").map((way): Edge => {
    const [, source, target, sourceHandle] = /^(\w+)>(\w+)(?:@(\w+))?$/.exec(way)!;
    return sourceHandle === undefined ? { source: source!, target: target! } : { source: source!, target: target!, sourceHandle };
  });
  const ids = new Set(edges.flatMap(({ source, target }) => [source, target]));
  return { id: "flow", nodes: [...ids].map((id) => ({ id, type: "noop", ...parts[id] })), edges, ...more };
}

const join = (id: string, wanted: Node["join"]): Parts => ({ [id]: { join: wanted! } });

/** The node, the code and the message of every warning. */
function warnings(definition: WorkflowDefinition): string[] {
  return check(definition, expressionLanguage).map(({ severity, code, pointer, message }) => {
    expect(severity).toBe("warning");
    const [, index] = /^\/nodes\/(\d+)$/.exec(pointer) ?? [];
    return `${index === undefined ? pointer : definition.nodes[Number(index)]!.id} ${code} ${message}`;
  });
}

describe("a graph that is probably not as meant", () => {
  it.each<[what: string, definition: WorkflowDefinition, expected: string[]]>([
    ["two branches that meet", drawn("f>a f>b a>m b>m"), ["m JOIN_MISSING f > a > m, f > b > m"]],
    ["a branch that meets its own fork's edge", drawn("f>a f>m a>m"), ["m JOIN_MISSING f > a > m, f > m"]],
    ["two edges to the same node", drawn("f>m f>m"), ["m JOIN_MISSING f > m, f > m"]],
    ["branches that meet after several steps", drawn("f>a f>b a>c c>d d>m b>m"), ["m JOIN_MISSING f > a > c > d > m, f > b > m"]],
    ["branches of a handle", drawn("f>a@x f>b@x a>m b>m"), ["m JOIN_MISSING f > a > m, f > b > m"]],
    ["branches that meet twice", drawn("f>a f>b a>m b>m m>n f>n"), ["m JOIN_MISSING", "n JOIN_MISSING"]],
    ["branches that come back to their fork", drawn("s>f f>a f>b a>f b>f"), ["f JOIN_MISSING f > a > f, f > b > f"]],
    [
      "a join that fewer can come to than it wants",
      drawn("f>a f>b a>j b>j x>j j>e@error", join("j", 3), { start: "f" }),
      ["j JOIN_UNREACHABLE waits for 3 branches, and only 2 can come: by a > j, b > j", 'x NODE_UNREACHABLE no path leads to "x" from "f"'],
    ],
    [
      "a join that nobody says what to do without",
      drawn("f>a f>b a>j b>j", join("j", 2)),
      ["j JOIN_UNHANDLED fails with JOIN_SHORT if fewer than 2 branches arrive (by a > j, b > j)"],
    ],
    [
      "a first node that joins",
      drawn("j>a", join("j", 1)),
      ["j JOIN_UNHANDLED fails with JOIN_SHORT if fewer than 1 branches arrive (by no edge)"],
    ],
    ["threads that merge, and may be too few", drawn("f>a a>j", join("j", 3)), ["j JOIN_UNHANDLED"]],
    [
      "nodes that no path leads to",
      drawn("a>b c>d", {}, { start: "a" }),
      ['c NODE_UNREACHABLE no path leads to "c" from "a"', "d NODE_UNREACHABLE"],
    ],
    [
      "a circle without a beginning",
      drawn("a>b b>a"),
      ['a NODE_UNREACHABLE no path leads to "a" from a first node', "b NODE_UNREACHABLE", "/nodes START_UNKNOWN has no first node"],
    ],
    ["two beginnings that meet", drawn("a>m b>m"), ['/nodes START_UNKNOWN has 2 first nodes (a, b). Set "start"']],
    [
      "a branch that can leave its way to a join",
      drawn("f>a f>b a>j@approved a>no@rejected b>j", join("j", "all")),
      ['j JOIN_LEFT waits only for the branches of "f" that can still come. The branch through "a" can leave by "rejected" to "no"'],
    ],
    [
      "a branch that is left further on, after a failure that is handled",
      drawn("f>a f>b a>c c>j c>d@error d>no b>j", join("j", "all")),
      ['j JOIN_LEFT waits only for the branches of "f" that can still come. The branch through "c" can leave by "error" to "d"'],
    ],
    [
      "a branch with two ways out, one of which ends quietly",
      drawn("f>a f>b a>j@approved a>no@rejected no>stop@x no>end@y b>j", {
        ...join("j", "all"),
        stop: { type: "end", data: { terminate: true } },
      }),
      ['j JOIN_LEFT waits only for the branches of "f" that can still come. The branch through "a" can leave by "rejected" to "no"'],
    ],
    [
      "a sub-workflow",
      drawn("a>b", {}, { workflows: { inner: drawn("f>a f>b a>m b>m") } }),
      ['/workflows/inner/nodes/3 JOIN_MISSING the branches that "f" starts meet here'],
    ],
  ])("is warned of: %s", (_, definition, expected) => {
    const found = warnings(definition);
    expect(found).toHaveLength(expected.length);
    for (const [i, text] of expected.entries()) {
      const [node, code, ...trace] = text.split(" ");
      expect(found[i]).toContain(`${node} ${code} `);
      expect(found[i]).toContain(trace.join(" "));
    }
  });

  it("says what to do about it", () => {
    expect(warnings(drawn("f>a f>b a>m b>m"))).toEqual([
      'm JOIN_MISSING the branches that "f" starts meet here (f > a > m, f > b > m), and "m" runs once for each of them. Set "join": "all" to wait for all, or "each" if that is meant',
    ]);
    expect(warnings(drawn("f>j f>j", join("j", 2)))).toEqual([
      'j JOIN_UNHANDLED fails with JOIN_SHORT if fewer than 2 branches arrive (by f > j, f > j). Add an edge "error" to the node for this case',
    ]);
  });

  it("tells of a long way only its first 50 nodes", () => {
    const line = Array.from({ length: 80 }, (_, i) => `n${i}>n${i + 1}`);
    const [message] = warnings(drawn(["f>n0", "f>b", "b>m", ...line, "n80>m"].join(" ")));
    expect(message).toContain("f > n0 > n1 > ");
    expect(message).toContain("f > b > m");
    expect(message!.length).toBeLessThan(600);
  });
});

describe("a graph that says what is meant", () => {
  it.each<[what: string, definition: WorkflowDefinition]>([
    ["a line", drawn("a>b b>c")],
    ["branches that never meet", drawn("f>a f>b a>c b>d")],
    ["a choice whose ways meet", drawn("i>a@true i>b@false a>m b>m")],
    ["a choice of which one way does nothing", drawn("i>a@true i>m@false a>m")],
    ["a failure that goes the way of success", drawn("a>b a>b@error")],
    ["a loop", drawn("s>a a>b b>a@again b>c")],
    ["a node that repeats itself", drawn("s>a a>a@again a>b")],
    ["a fork in a loop whose branches are joined", drawn("s>f f>a f>b a>j b>j j>f@again j>e", join("j", "all"))],
    ["branches that are joined", drawn("f>a f>b a>m b>m", join("m", "all"))],
    ["branches that each go through, as said", drawn("f>a f>b a>m b>m", join("m", "each"))],
    ["branches that each go through, and meet again where that is said", drawn("f>a f>b a>m b>m m>n", join("m", "each"))],
    ["the first of two, with a way for when none comes", drawn("f>a f>b a>j b>j j>e@error j>n", join("j", 1))],
    ["branches that are joined before they meet others", drawn("s>i i>f@x i>m@y f>a f>b a>j b>j j>m", join("j", "all"))],
    // the search does not look beyond the join `j`, because the paths behind it may belong to another wave
    ["a branch that meets others once these are joined", drawn("f>a f>b f>c a>j b>j j>m c>m", join("j", "all"))],
    ["two beginnings of which one is named", drawn("a>b c>b b>a", {}, { start: "c" })],
    [
      "a branch that ends everything when it leaves its way to a join",
      drawn("f>a f>b a>j@approved a>no@rejected b>j", { ...join("j", "all"), no: { type: "end", data: { terminate: true } } }),
    ],
    ["a branch that fails then", drawn("f>a f>b a>j@yes a>no@no b>j", { ...join("j", "all"), no: { type: "fail" } })],
    [
      "a branch that begins the next run then",
      drawn("f>a f>b a>j@yes a>no@no b>j", { ...join("j", "all"), no: { type: "end", data: { continueAs: {} } } }),
    ],
    ["a branch that comes to the join by every handle", drawn("f>a f>b a>j@yes a>c@no c>j b>j", join("j", "all"))],
    ["a branch that goes on to the join, and elsewhere too", drawn("f>a f>b a>j a>log b>j", join("j", "all"))],
    ["a choice before the fork", drawn("s>f@yes s>no@no f>a f>b a>j b>j", join("j", "all"))],
    ["a choice after the join", drawn("f>a f>b a>j b>j j>yes@yes j>no@no", join("j", "all"))],
    ["a join of one branch", drawn("f>a a>j@yes a>no@no", join("j", "all"))],
    ["a loop before the join", drawn("f>a f>b a>c c>a@again c>j@done b>j", join("j", "all"))],
  ])("is not warned of: %s", (_, definition) => {
    expect(warnings(definition)).toEqual([]);
  });

  it("is not looked at for ever where it is very large", () => {
    const many = Array.from({ length: 2_000 }, (_, i) => [`f>n${i}`, `n${i}>m`]).flat();
    expect(warnings(drawn(many.join(" ")))).toEqual([]);
    const dense = Array.from({ length: 25 * 25 }, (_, i) => `n${Math.floor(i / 25)}>n${i % 25}`);
    expect(warnings(drawn(["s>n0", ...dense].join(" "))).length).toBeLessThan(25);
  });
});
