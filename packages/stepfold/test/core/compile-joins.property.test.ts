import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tries } from "../../../../scripts/test/effort.ts";
import { compile } from "../../src/core/definition/compile/compile.ts";
import type { CompiledJoin } from "../../src/core/definition/compiled.ts";
import { dominators } from "../../src/core/definition/graph/dominators.ts";
import { hasNode, type NodeSet } from "../../src/core/definition/graph/node-set.ts";
import { WorkBudget } from "../../src/core/values/work-budget.ts";
import { expressionLanguage } from "../../src/expressions/expression-language.ts";

interface Graph {
  readonly size: number;
  readonly edges: readonly (readonly [source: number, target: number])[];
}

const graphs = fc
  .integer({ min: 1, max: 12 })
  .chain((size) => fc.tuple(fc.constant(size), fc.array(fc.tuple(fc.nat(size - 1), fc.nat(size - 1)), { maxLength: 3 * size })))
  .map(([size, edges]): Graph => ({ size, edges }));

/** True if a way leads to the node `to` and enters no node of `without`. */
function leads({ edges }: Graph, from: readonly number[], to: number, without: readonly (number | null)[]): boolean {
  const seen = new Set(from);
  for (const node of seen) {
    if (node === to) return true;
    for (const [source, target] of edges) if (source === node && !without.includes(target)) seen.add(target);
  }
  return false;
}

/** Finds the immediate dominator by its definition: the last node without which no start leads to `node`. Returns -1 if there is none. */
function naiveDominator(graph: Graph, starts: readonly number[], node: number): number {
  const others = (of: number): number[] =>
    Array.from({ length: graph.size }, (_, i) => i).filter(
      (d) =>
        d !== of &&
        !leads(
          graph,
          starts.filter((start) => start !== d),
          of,
          [d],
        ),
    );
  if (starts.includes(node) || !leads(graph, starts, node, [])) return -1;
  const strict = others(node);
  return strict.find((d) => others(d).length === strict.length - 1) ?? -1;
}

describe("dominators", () => {
  it("are what taking out one node after the other shows", () => {
    const property = fc.property(graphs, fc.uniqueArray(fc.nat(11), { maxLength: 3 }), (graph, chosen) => {
      const starts = chosen.filter((start) => start < graph.size);
      const out = Array.from({ length: graph.size }, (_, node) =>
        graph.edges.filter(([source]) => source === node).map(([, target]) => target),
      );
      const naive = out.map((_, node) => naiveDominator(graph, starts, node));
      expect(dominators(out, starts, new WorkBudget(1_000_000))).toEqual(naive);
    });
    fc.assert(property, { numRuns: tries(1_500) });
  });

  it("of a line of 5,000 nodes are found without a deep call stack", () => {
    const found = dominators(
      Array.from({ length: 5_000 }, (_, i) => (i < 4_999 ? [i + 1] : [])),
      [0],
      new WorkBudget(1_000_000),
    );
    expect(found).toEqual(Array.from({ length: 5_000 }, (_, i) => i - 1));
  });
});

describe("compile", () => {
  it("gives every join its fork, and every edge the nodes from which it can be reached", () => {
    const seen = { forks: 0, none: 0, threads: 0 };
    const joins = fc.array(fc.constantFrom("each", "all", "all", 1, 2, 9), { minLength: 12, maxLength: 12 });
    const property = fc.property(graphs, joins, fc.boolean(), (graph, wanted, isStarted) => {
      const { size, edges } = graph;
      const definition = {
        id: "x",
        nodes: Array.from({ length: size }, (_, i) => ({ id: `n${i}`, type: "t", join: wanted[i] })),
        edges: edges.map(([source, target]) => ({ source: `n${source}`, target: `n${target}` })),
        ...(isStarted && { start: "n0" }),
      };
      const workflow = compile(definition, expressionLanguage);
      const starts = workflow.starts.map((id) => Number(id.slice(1)));
      const expected = definition.nodes.flatMap(({ join }, i) => (join === "each" ? [] : [i]));
      expect(workflow.joins.map(({ node }) => node.index)).toEqual(expected);
      for (const join of workflow.joins) {
        const fork = forkOf(graph, starts, join);
        expect(join.fork?.index ?? null).toBe(fork);
        seen[fork === null ? "none" : "forks"]++;
        if (join.threads) seen.threads++;
        const sources = edges.flatMap(([source, target]) => (target === join.node.index ? [source] : []));
        expect(join.edges.map(({ reach }) => members(reach, size))).toEqual(
          sources.map((source) => naiveReach(graph, source, join.node.index, fork)),
        );
      }
      for (const { index, wave } of workflow.nodes.values()) {
        const own = workflow.joins.filter(({ fork }) => fork?.index === index);
        const within = new Set(
          own.flatMap(({ node, edges: entering }) => [node.index, ...entering.flatMap(({ reach }) => members(reach, size))]),
        );
        expect(wave && members(wave, size)).toEqual(own.length === 0 ? null : [...within].sort((a, b) => a - b));
      }
    });
    fc.assert(property, { numRuns: tries(600) });
    for (const times of Object.values(seen)) expect(times).toBeGreaterThan(50);
  });
});

function forkOf(graph: Graph, starts: readonly number[], { node, count, edges }: CompiledJoin): number | null {
  if (typeof count === "number" && count > edges.length) return null;
  const dominator = naiveDominator(graph, starts, node.index);
  return dominator < 0 ? null : dominator;
}

/** The nodes from which the edge can be reached without passing the join or its fork (docs/path-semantics.md, "Pending paths"). */
function naiveReach(graph: Graph, source: number, join: number, fork: number | null): number[] {
  const nodes = Array.from({ length: graph.size }, (_, i) => i);
  return nodes.filter((node) => node !== fork && leads(graph, [node], source, [join, fork]));
}

function members(set: NodeSet, size: number): number[] {
  return Array.from({ length: size }, (_, i) => i).filter((i) => hasNode(set, i));
}
