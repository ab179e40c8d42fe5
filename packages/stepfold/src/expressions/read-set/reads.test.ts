// biome-ignore-all lint/suspicious/noTemplateCurlyInString: template strings of the language under test
import { describe, expect, it } from "vitest";
import { compileExpression } from "../compile-expression.ts";

const reads = (source: string): string[] => compileExpression(source).reads.map((path) => path.join("."));

describe("what an expression reads", () => {
  it.each<[string, string[]]>([
    ["1 + 2", []],
    ["nodes.charge.last.data.id", ["nodes.charge.last.data.id"]],
    ["nodes['a-b'].last.data[0].x", ["nodes.a-b.last.data.0.x"]],
    ["nodes[input.id].last.data", ["input.id", "nodes.*.last.data"]],
    ["input.a?.b ?? metadata.c", ["input.a.b", "metadata.c"]],
    ["(attempt ? input : metadata).x", ["attempt", "input.x", "metadata.x"]],
    ["(input.a || input.b).c", ["input.a", "input.a.c", "input.b.c"]],
    ["-input.a + !input.b", ["input.a", "input.b"]],
    ["`${input.a}${input.b}`", ["input.a", "input.b"]],
    ["[input.a, ...input.b]", ["input.a", "input.b"]],
    ["{ a: input.a, [input.b]: 1, ...input.c }", ["input.a", "input.b", "input.c"]],
    ["Math.max(input.a, Math.PI)", ["input.a"]],
    ["input.name.padEnd(input.width)", ["input.width", "input.name"]],
    ["input.items.length", ["input.items.length"]],
    ["input.items.map(x => x.price * 2)", ["input.items.*.price", "input.items.length"]],
    ["input.items.map(x => x.a).map(y => y.b)", ["input.items.length", "input.items.*.a.b"]],
    ["input.items.map(x => x.a)[0].b", ["input.items.length", "input.items.*.a.b"]],
    ["input.items.map(x => x.a).length", ["input.items.length"]],
    ["input.items.map(x => x.a).slice(1).find(x => x.c).d", ["input.items.length", "input.items.*.a.c", "input.items.*.a.d"]],
    [
      "input.items.map(x => x.list.filter(y => y.on))",
      ["input.items.*.list.*.on", "input.items.*.list.length", "input.items.*.list.*", "input.items.length"],
    ],
    ["input.items.flatMap(x => x.tags)[0]", ["input.items.length", "input.items.*.tags", "input.items.*.tags.*"]],
    ["input.items.filter(x => x.on)[0].id", ["input.items.*.on", "input.items.length", "input.items.*.id"]],
    ["input.items.at(-1).id", ["input.items.length", "input.items.*.id"]],
    ["input.items.sort((a, b) => a.n - b.n)[0].id", ["input.items.*.n", "input.items.length", "input.items.*.id"]],
    ["input.items.sort()[0].id", ["input.items.length", "input.items.*", "input.items.*.id"]],
    ["input.items.some((x, i, all) => all[i].id > x.id)", ["input.items.*.id", "input.items.length"]],
    ["input.items.reduce((sum, x, i) => sum + x.n + i, input.start)", ["input.start", "input.items.*.n", "input.items.length"]],
    ["input.items.reduce((a, b) => (a.n > b.n ? a : b))", ["input.items.*.n", "input.items.*", "input.items.length"]],
    ["input.items.reduce((a, b) => a.x).y", ["input.items.*.x", "input.items.*.y", "input.items.length"]],
    ["$('a').item.json.id + $json.id + $now", ["nodes.a.last.data.id", "$json.id", "$now"]],
    ["$('a').all().map(x => x.json)", ["nodes.a.all.*.data", "nodes.a.all.length"]],
  ])("%s", (source, paths) => expect(reads(source).sort()).toEqual(paths.toSorted()));

  it("takes whole values where conditions multiply the paths", () => {
    const step = ".map(x => attempt ? x.a : x.b)";
    const paths = reads(`input.items${step.repeat(25)}.length`);
    expect(paths.length).toBeLessThan(200);
    expect(paths).toContain("input.items.*.a.a.a.a.a.b");
  });
});
