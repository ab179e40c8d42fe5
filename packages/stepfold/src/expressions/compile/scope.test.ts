// biome-ignore-all lint/suspicious/noTemplateCurlyInString: template strings of the language under test
import { describe, expect, it } from "vitest";
import type { ScopeParts } from "../../core/definition/template.ts";
import type { Context, NodeResult } from "../../core/snapshot/snapshot.ts";
import { compileExpression } from "../compile-expression.ts";
import { expressionLanguage } from "../expression-language.ts";
import { executionScope, NodesView } from "./scope.ts";

const result = (output: NodeResult["output"], version: number, error?: string): NodeResult => ({
  output,
  timestamp: version * 10,
  attempt: 1,
  pathId: "0",
  version,
  ...(error === undefined ? {} : { error }),
});

const context: Context = {
  charge: [result({ id: 1 }, 1), result(null, 3, "busy"), result({ id: 2 }, 5), result({ id: 9 }, 8)],
  "with-dash": [result("d", 2)],
  later: [result(1, 9)],
};
const parts: ScopeParts = { context, since: 6, metadata: { tier: "gold" }, at: Date.UTC(2026, 0, 2), previous: context.charge![2] };
const run = (source: string, more: Partial<ScopeParts> = {}): unknown =>
  compileExpression(source).evaluate(executionScope({ ...parts, ...more }));

describe("executionScope", () => {
  it.each<[string, unknown]>([
    ["nodes.charge.last.data.id", 2],
    ["nodes.charge.last.timestamp", 50],
    ["nodes.charge.last.error", undefined],
    ["nodes.charge.all[1].error", "busy"],
    ["nodes.charge.all.map(x => x.data?.id)", [1, undefined, 2]],
    ["nodes['with-dash'].last.data", "d"],
    ["nodes['with-' + 'dash'].last.data", "d"],
    ["nodes['with-' + 'dash'].all.length", 1],
    ["nodes[1].last?.data", undefined],
    ["nodes[2 - 1].last?.data", undefined],
    ["nodes.later.last?.data", undefined],
    ["nodes.absent.last", undefined],
    ["nodes.absent.all", []],
    ["nodes.toString.last", undefined],
    ["nodes['with-dash']", { last: { data: "d", error: undefined, timestamp: 20 }, all: [{ data: "d", error: undefined, timestamp: 20 }] }],
    ["nodes.absent", { last: undefined, all: [] }],
    ["nodes.charge['la' + 'st'].data.id", 2],
    ["nodes?.charge.last.data.id", 2],
    ["metadata.tier", "gold"],
    ["$json.id", 2],
    ["$now", "2026-01-02T00:00:00.000Z"],
    ["date.add($now, '1 day')", "2026-01-03T00:00:00.000Z"],
    ["[input, globals, item, error, attempt]", [undefined, undefined, undefined, undefined, undefined]],
  ])("%s", (source, value) => expect(run(source)).toEqual(value));

  it("has what retry policies ask for", () => {
    const error = { name: "Error", message: "no", code: "DECLINED" };
    expect(run("attempt < 3 && error.code === 'DECLINED' && item === 1 && input === 2", { error, attempt: 2, item: 1, input: 2 })).toBe(
      true,
    );
  });

  it("gives data as it is, and never as a copy", () => {
    expect(run("nodes.charge.last.data")).toBe(context.charge![2]!.output);
    expect(run("[$json][0]")).toBe(context.charge![2]!.output);
  });

  it("gives only a copy of globals, and only of plain data", () => {
    const config = { url: "x", retries: [1, null, undefined, true] };
    const copy = run("globals.config", { globals: { config } });
    expect(copy).toEqual(config);
    expect(copy).not.toBe(config);
    expect(run("globals.config.url", { globals: { config } })).toBe("x");
  });

  it("wants a text as id of a node", () => {
    expect(() => run("nodes[null].last")).toThrow("a node id must be a text, not null");
    expect(() => run("nodes[metadata].all")).toThrow("a node id must be a text, not an object");
  });

  it("pays for long histories", () => {
    const long = { a: Array.from({ length: 300_000 }, (_, index) => result(index, index)) };
    expect(run("nodes.a.last.data", { context: long, since: 400_000 })).toBe(299_999);
    expect(() => run("nodes.a.all", { context: long, since: 400_000 })).toThrow("250000 steps");
  });

  it("also takes a scope written by hand", () => {
    const nodes = { a: { last: { data: 1 }, all: [{ data: 1 }] } };
    const byHand = (source: string, scope: object): unknown => compileExpression(source).evaluate(scope as never);
    expect(byHand("nodes.a.last.data + nodes.a.all[0].data", { nodes })).toBe(2);
    expect(byHand("[nodes.b, nodes.b.last, nodes.b.all, nodes.a.last]", { nodes })).toEqual([
      { last: undefined, all: [] },
      undefined,
      [],
      { data: 1 },
    ]);
    expect(byHand("nodes.a.last", {})).toBe(undefined);
    expect(byHand("nodes.a.last", { nodes: null })).toBe(undefined);
    expect(byHand("nodes.a.last", { nodes: { a: null } })).toBe(undefined);
    expect(() => byHand("nodes.a.last", { nodes: new Map() })).toThrow("a class instance");
  });
});

describe("expressionLanguage", () => {
  it("holds what compile needs", () => {
    const { template } = expressionLanguage.compileTemplate("{{ metadata.tier }}", "");
    expect(template!.evaluate(expressionLanguage.executionScope(parts))).toBe("gold");
  });
});

describe("the ways n8n writes results", () => {
  it.each<[string, unknown]>([
    ["$('charge').item.json.id", 2],
    ["$('charge').first().json.id", 1],
    ["$('charge').last().json.id", 2],
    ["$('charge').all().map(x => x.json?.id)", [1, undefined, 2]],
    ["$('charge').all()[0].json", { id: 1 }],
    ["$('with-' + 'dash').item.json", "d"],
    ["$('absent').item?.json.id", undefined],
    ["$('absent')?.item.json", "fails"],
    ["$('absent').first()?.json", undefined],
    ["$('absent').all()", []],
    ["$input.item.json.id", 2],
    ["$input.first().json.id + $input.last().json.id", 4],
    ["$input.all()", [{ json: { id: 2 } }]],
    ["$input?.all()[0].json.id", 2],
  ])("%s", (source, value) => {
    if (value === "fails") expect(() => run(source)).toThrow("is undefined");
    else expect(run(source)).toEqual(value);
  });

  it.each([
    ["$('charge')", ".first().json"],
    ["$", 'expected "("'],
    ["$()", "expected a value"],
    ["$('a'", 'expected ")"'],
    ["$('charge').items", ".first().json"],
    ["$('charge').'item'", "expected a name"],
    ["$('charge').item", "write .json after it"],
    ["$('charge').item.data", "after item write .json"],
    ["$('charge').first.json", 'expected "(" after first'],
    ["$('charge').first(1).json", 'expected ")" to close first('],
    ["$('constructor').item.json", "cannot be the id of a node"],
    ["$input", ".first().json"],
  ])("%s is refused", (source, message) => expect(() => compileExpression(source)).toThrow(message));
});

describe("NodesView", () => {
  it("is known as one, also if a second copy of this package made it", () => {
    const view = new NodesView({}, 0);
    const ofCopy = { "~nodesView": () => view["~nodesView"]() };
    expect([NodesView.is(view), NodesView.is(ofCopy), ofCopy["~nodesView"]()]).toEqual([true, true, true]);
    expect([{}, { "~nodesView": true }, null, "~nodesView"].map((value) => NodesView.is(value))).toEqual([false, false, false, false]);
  });
});
