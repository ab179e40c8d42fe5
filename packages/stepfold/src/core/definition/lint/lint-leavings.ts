import { WorkBudget } from "../../values/work-budget.ts";
import type { CompiledNode } from "../compiled.ts";
import type { WorkflowDefinition } from "../definition.ts";
import type { DefinitionReport } from "../definition-report.ts";
import { sourcesOf } from "./sources-of.ts";

/** The most work of the search. Then it stops, and the joins that are left get no warning. */
const maxWork = 200_000;

/**
 * Warns about branches that can leave the way to a join of all branches by another handle. Such a join waits only for branches that can
 * still come, so it then goes on without this one: an order is shipped although its approval has been rejected.
 */
export function lintLeavings(
  definition: WorkflowDefinition,
  nodes: ReadonlyMap<string, CompiledNode>,
  pointer: string,
  report: DefinitionReport,
  work: WorkBudget,
): void {
  const search = new LeavingSearch(definition, nodes, new WorkBudget(maxWork, work));
  for (const [i, { id, join }] of definition.nodes.entries()) {
    const left = join === "all" ? search.leavingOf(id) : null;
    if (!left) continue;
    const { fork, at, handle, target } = left;
    report.warn(
      "JOIN_LEFT",
      `${pointer}/nodes/${i}`,
      `waits only for the branches of "${fork}" that can still come. The branch through "${at}" can leave by ${handle === "" ? "an edge" : `"${handle}"`} to "${target}" instead, and then "${id}" goes on without it. To stop the other branches, end there with "terminate": true or with a node of type "fail"; or lead that way here too`,
    );
  }
}

/** An edge by which a branch leaves the way from its fork to its join. */
interface Leaving {
  readonly fork: string;
  readonly at: string;
  readonly handle: string;
  readonly target: string;
}

class LeavingSearch {
  readonly #nodes: ReadonlyMap<string, CompiledNode>;
  readonly #sources: ReadonlyMap<string, readonly string[]>;
  readonly #work: WorkBudget;

  constructor(definition: WorkflowDefinition, nodes: ReadonlyMap<string, CompiledNode>, work: WorkBudget) {
    this.#nodes = nodes;
    this.#work = work;
    this.#sources = sourcesOf(definition);
  }

  /** Returns how a branch can leave its way to this join, and come to an end that stops nothing; null if there is no such way. */
  leavingOf(join: string): Leaving | null {
    const leading = this.#leadingTo(join);
    for (const fork of leading)
      for (const edges of this.#nodes.get(fork)!.edges.values()) {
        const branches = edges.map(({ target }) => target).filter(({ node: { id } }) => id === join || leading.has(id));
        const left = branches.length > 1 ? this.#leavingFrom(branches, leading, join) : null;
        if (left) return { fork, ...left };
      }
    return null;
  }

  /** Returns the nodes from which a path can arrive at the join without being merged before. */
  #leadingTo(join: string): ReadonlySet<string> {
    const leading = new Set(this.#sources.get(join));
    // the set grows while the loop runs, and holds each node once
    for (const id of leading) {
      if (id === join || this.#nodes.get(id)!.join) continue;
      const before = this.#sources.get(id) ?? [];
      for (const source of before) if (this.#work.spend(1)) leading.add(source);
    }
    leading.delete(join);
    return leading;
  }

  #leavingFrom(branches: readonly CompiledNode[], leading: ReadonlySet<string>, join: string): Omit<Leaving, "fork"> | null {
    const walk = new Set(branches);
    for (const { node, edges } of walk) {
      if (node.id === join) continue;
      for (const [handle, leaving] of edges) {
        if (!this.#work.spend(1 + leaving.length)) return null;
        const targets = leaving.map(({ target }) => target);
        const onward = targets.filter(({ node: { id } }) => id === join || leading.has(id));
        for (const target of onward) walk.add(target);
        // one of the paths that this handle starts goes on to the join, so the branch is not lost
        if (onward.length > 0) continue;
        const target = targets.find((one) => this.#work.spend(this.#nodes.size) && endsQuietly(one));
        if (target) return { at: node.id, handle, target: target.node.id };
      }
    }
    return null;
  }
}

/** Whether a path that goes on at a node can come to an end that neither ends everything nor fails. */
function endsQuietly(first: CompiledNode): boolean {
  const walk = new Set([first]);
  for (const { node, edges } of walk) {
    const next = [...edges.values()].flat();
    if (next.length === 0 && !stops(node.type, node.data)) return true;
    for (const { target } of next) walk.add(target);
  }
  return false;
}

/** Whether a node ends all other paths too. */
function stops(type: string, data: unknown): boolean {
  const { terminate, continueAs } = (data ?? {}) as { readonly terminate?: unknown; readonly continueAs?: unknown };
  return type === "fail" || (type === "end" && (terminate === true || continueAs !== undefined));
}
