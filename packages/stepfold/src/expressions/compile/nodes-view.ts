import { safeMember } from "../../core/errors/safe-member.ts";
import type { Context, NodeResult } from "../../core/snapshot/snapshot.ts";

/** What expressions see of one result. */
export interface ResultView {
  readonly data: unknown;
  readonly error: string | undefined;
  readonly timestamp: number;
}

/**
 * The root `nodes`: results as they were at a version of the snapshot. A class, so that nothing but the compiler, which
 * knows it, can read it: to everything else it is a class instance, and those have no members.
 */
export class NodesView {
  /** True for a NodesView, of whichever copy of this package. */
  static is(value: unknown): value is NodesView {
    return value instanceof NodesView || typeof safeMember(value, "~nodesView") === "function";
  }

  readonly #context: Context;
  readonly #since: number;

  constructor(context: Context, since: number) {
    this.#context = context;
    this.#since = since;
  }

  /** Recognises views of a second copy of this package in the same process. A method, because JSON has none. */
  "~nodesView"(): true {
    return true;
  }

  /** The latest visible result. Versions rise, so the search from the end meets it after the few that came later. */
  last(id: string): ResultView | undefined {
    const results = this.#of(id);
    for (let index = results.length - 1; index >= 0; index--) {
      const result = results[index]!;
      if (result.version <= this.#since) return view(result);
    }
    return undefined;
  }

  /** Every visible result, oldest first. */
  all(id: string): readonly ResultView[] {
    const results: ResultView[] = [];
    for (const result of this.#of(id)) if (result.version <= this.#since) results.push(view(result));
    return results;
  }

  /** How many results there are to look through. */
  count(id: string): number {
    return this.#of(id).length;
  }

  #of(id: string): readonly NodeResult[] {
    return Object.hasOwn(this.#context, id) ? this.#context[id]! : [];
  }
}

function view(result: NodeResult): ResultView {
  return { data: result.output, error: result.error, timestamp: result.timestamp };
}
