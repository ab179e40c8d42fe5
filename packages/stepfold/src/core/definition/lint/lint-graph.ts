import type { IssueCode } from "../../errors/issue.ts";
import { WorkBudget } from "../../values/work-budget.ts";
import type { CompiledNode } from "../compiled.ts";
import type { WorkflowDefinition } from "../definition.ts";
import type { DefinitionReport } from "../definition-report.ts";
import { reachedFrom } from "../reached-from.ts";
import { sourcesOf } from "./sources-of.ts";

type Nodes = ReadonlyMap<string, CompiledNode>;

/** Warns about a graph that can run, but probably not as intended. The warnings show the ways through the graph that cause the problem. */
export function lintGraph(
  definition: WorkflowDefinition,
  nodes: Nodes,
  starts: readonly string[],
  pointer: string,
  report: DefinitionReport,
  work: WorkBudget,
): void {
  const reached = reachedFrom(starts.map((id) => nodes.get(id)!));
  const warn = (i: number, code: IssueCode, message: string): void => report.warn(code, `${pointer}/nodes/${i}`, message);
  const sources = sourcesOf(definition);
  const branches = new BranchFinder(nodes, sources, new WorkBudget(maxWork, work));
  for (const [i, { id, join, incident }] of definition.nodes.entries()) {
    if (incident && nodes.get(id)!.edges.has("error"))
      report.warn("KEY_POINTLESS", `${pointer}/nodes/${i}/incident`, 'has no effect beside an edge "error", which takes every failure');
    if (!reached.has(id)) {
      warn(i, "NODE_UNREACHABLE", `no path leads to "${id}" from ${listed(starts.map((start) => `"${start}"`)) || "a first node"}`);
      continue;
    }
    const entering = sources.get(id) ?? [];
    if (join === undefined || join === "each") {
      const fork = entering.length > 1 && join === undefined ? branches.commonFork(id, entering) : null;
      if (fork)
        warn(
          i,
          "JOIN_MISSING",
          `the branches that "${fork.fork}" starts meet here (${fork.traces.map((trace) => trace.join(" > ")).join(", ")}), and "${id}" runs once for each of them. Set "join": "all" to wait for all, or "each" if that is meant`,
        );
      continue;
    }
    if (typeof join !== "number") continue;
    const possible = entering.filter((source) => reached.has(source));
    if (join <= entering.length && possible.length < join)
      warn(i, "JOIN_UNREACHABLE", `waits for ${join} branches, and only ${possible.length} can come: by ${traces(possible, id)}`);
    if (!nodes.get(id)!.edges.has("error"))
      warn(
        i,
        "JOIN_UNHANDLED",
        `fails with JOIN_SHORT if fewer than ${join} branches arrive (by ${traces(possible, id)}). Add an edge "error" to the node for this case`,
      );
  }
}

function traces(sources: readonly string[], id: string): string {
  return listed(sources.map((source) => `${source} > ${id}`)) || "no edge";
}

function listed(names: readonly string[]): string {
  return names.length <= maxListed ? names.join(", ") : `${names.slice(0, maxListed).join(", ")} and ${names.length - maxListed} more`;
}

/** The most names that one warning lists. */
const maxListed = 20;
/** The most work of the search for branches that meet. Then the search stops, and the nodes that are left get no `JOIN_MISSING`. */
const maxWork = 200_000;
/** The most nodes of a way that a warning shows. */
const maxTrace = 50;

/**
 * Finds nodes at which branches meet that one handle of a fork has started. The caller skips nodes with an explicit `"each"`: there it is
 * intended.
 */
class BranchFinder {
  readonly #nodes: Nodes;
  readonly #sources: ReadonlyMap<string, readonly string[]>;
  readonly #work: WorkBudget;

  constructor(nodes: Nodes, sources: ReadonlyMap<string, readonly string[]>, work: WorkBudget) {
    this.#nodes = nodes;
    this.#sources = sources;
    this.#work = work;
  }

  /**
   * Returns the first fork, in the order of `nodes`, that starts two branches by one handle which arrive at the node `id` by different
   * edges, without a join in between; null if there is none, or if the search takes too much work.
   */
  commonFork(id: string, sources: readonly string[]): { readonly fork: string; readonly traces: readonly (readonly string[])[] } | null {
    const ways: ReadonlyMap<string, readonly string[]>[] = [];
    for (const source of sources) {
      const way = this.#waysBack(source, id);
      if (!way) return null;
      ways.push(way);
    }
    for (const [fork, node] of this.#nodes) {
      for (const edges of node.edges.values()) {
        if (!this.#work.spend(1 + edges.length * ways.length)) return null;
        if (edges.length < 2) continue;
        const found = distinct(
          edges.map(({ target }) => target.node.id),
          fork,
          id,
          ways,
        );
        if (found) return { fork, traces: found };
      }
    }
    return null;
  }

  /**
   * Returns, for every node from which the edge can be reached without passing a join, the way to it, cut to 50 nodes. Null if that is too
   * much work.
   */
  #waysBack(source: string, id: string): Map<string, readonly string[]> | null {
    const ways = new Map<string, readonly string[]>([[source, [source, id]]]);
    for (const [node, way] of ways) {
      const before = this.#sources.get(node) ?? [];
      if (!this.#work.spend(way.length + before.length)) return null;
      if (this.#nodes.get(node)!.join || node === id) continue;
      for (const one of before) if (!ways.has(one)) ways.set(one, [one, ...way].slice(0, maxTrace));
    }
    return ways;
  }
}

/** Returns the ways of two branches that arrive by different edges; null if there are no such branches. */
function distinct(
  targets: readonly string[],
  fork: string,
  id: string,
  ways: readonly ReadonlyMap<string, readonly string[]>[],
): readonly (readonly string[])[] | null {
  // ways of earlier branches. Two ways by different edges are enough, because the edge of any later branch differs from one of the two
  const before: { readonly way: readonly string[]; readonly by: number }[] = [];
  for (const target of targets) {
    const own: typeof before = [];
    for (const [by, one] of ways.entries()) {
      const way = target === id && one.get(fork)?.length === 2 ? [id] : one.get(target);
      if (!way) continue;
      const other = before.find((earlier) => earlier.by !== by);
      if (other) return [other.way, way].map((branch) => [fork, ...branch]);
      if (own.length < 2) own.push({ way, by });
    }
    for (const one of own) if (before.every(({ by }) => by !== one.by)) before.push(one);
  }
  return null;
}
