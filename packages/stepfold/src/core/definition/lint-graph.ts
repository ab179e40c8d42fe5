import type { Issue } from "../errors/issue.ts";
import type { CompiledNode } from "./compiled.ts";
import type { WorkflowDefinition } from "./definition.ts";
import { reachedFrom } from "./reached-from.ts";

type Nodes = ReadonlyMap<string, CompiledNode>;

/** Warns about a graph that can run but is probably not meant so, with the way through the graph that shows it. */
export function lintGraph(definition: WorkflowDefinition, nodes: Nodes, starts: readonly string[], pointer: string, issues: Issue[]): void {
  const reached = reachedFrom(starts.map((id) => nodes.get(id)!));
  const warn = (i: number, code: Issue["code"], message: string): void => {
    issues.push({ severity: "warning", code, pointer: `${pointer}/nodes/${i}`, message });
  };
  const sources = sourcesOf(definition);
  const branches = new BranchFinder(nodes, definition, sources);
  for (const [i, { id, join }] of definition.nodes.entries()) {
    if (!reached.has(id)) {
      warn(i, "NODE_UNREACHABLE", `no path leads to "${id}" from ${starts.map((start) => `"${start}"`).join(", ") || "a first node"}`);
      continue;
    }
    const entering = sources.get(id) ?? [];
    if (join === undefined || join === "each") {
      const fork =
        entering.length > 1 && definition.nodes.length <= maxNodes && definition.edges.length <= maxEdges
          ? branches.commonFork(id, entering)
          : null;
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
        `fails with JOIN_SHORT if fewer than ${join} branches come (by ${traces(possible, id)}). Give it an edge "error" for that case`,
      );
  }
}

function traces(sources: readonly string[], id: string): string {
  return sources.map((source) => `${source} > ${id}`).join(", ") || "no edge";
}

/** Where the edges into each node come from, edge by edge. */
function sourcesOf({ edges }: WorkflowDefinition): Map<string, string[]> {
  const sources = new Map<string, string[]>();
  for (const { source, target } of edges) {
    if (!sources.has(target)) sources.set(target, []);
    sources.get(target)!.push(source);
  }
  return sources;
}

/** Finds forks by one handle whose branches meet. An explicit `"each"` says that it is meant. */
class BranchFinder {
  readonly #nodes: Nodes;
  readonly #definition: WorkflowDefinition;
  readonly #sources: ReadonlyMap<string, readonly string[]>;

  constructor(nodes: Nodes, definition: WorkflowDefinition, sources: ReadonlyMap<string, readonly string[]>) {
    this.#nodes = nodes;
    this.#definition = definition;
    this.#sources = sources;
  }

  /** The nearest node that starts two branches by one handle which come to a node by different edges, without a join between. */
  commonFork(id: string, sources: readonly string[]): { readonly fork: string; readonly traces: readonly (readonly string[])[] } | null {
    if (this.#definition.nodes.find((node) => node.id === id)?.join === "each") return null;
    const ways = sources.map((source) => this.#waysBack(source, id));
    for (const [fork, node] of this.#nodes) {
      for (const edges of node.edges.values()) {
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

  /** For every node from which an edge can be reached without passing a join: the way, up to 50 nodes. */
  #waysBack(source: string, id: string): Map<string, readonly string[]> {
    const ways = new Map<string, readonly string[]>([[source, [source, id]]]);
    for (const [node, way] of ways) {
      if (this.#nodes.get(node)!.join || node === id) continue;
      for (const before of this.#sources.get(node) ?? []) if (!ways.has(before)) ways.set(before, [before, ...way].slice(0, 50));
    }
    return ways;
  }
}

/** In a larger graph pairs of branches are not compared: that would take too long. */
const maxNodes = 200;
const maxEdges = 600;

function distinct(
  targets: readonly string[],
  fork: string,
  id: string,
  ways: readonly ReadonlyMap<string, readonly string[]>[],
): readonly (readonly string[])[] | null {
  for (const [i, first] of targets.entries()) {
    for (const second of targets.slice(i + 1)) {
      for (const [a, one] of ways.entries()) {
        for (const [b, other] of ways.entries()) {
          if (a === b) continue;
          const left = first === id && one.has(fork) && one.get(fork)!.length === 2 ? [id] : one.get(first);
          const right = second === id && other.has(fork) && other.get(fork)!.length === 2 ? [id] : other.get(second);
          if (left && right)
            return [
              [fork, ...left],
              [fork, ...right],
            ];
        }
      }
    }
  }
  return null;
}
