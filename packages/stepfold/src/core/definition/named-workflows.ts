import type { CompiledWorkflow, WorkflowNames } from "./compiled.ts";

/**
 * The workflows that one workflow may run, by name. If names are equal, its own workflows go first, then the workflow itself, then those
 * around it.
 */
export class NamedWorkflows implements WorkflowNames {
  readonly #known: Map<string, CompiledWorkflow>;
  #around: NamedWorkflows | null = null;

  constructor(own: Iterable<readonly [string, CompiledWorkflow]>) {
    this.#known = new Map(own);
  }

  /** Adds the workflow itself under its id, and the names that are known to the workflow around it. */
  link(id: string, workflow: CompiledWorkflow, around: NamedWorkflows | null): void {
    if (!this.#known.has(id)) this.#known.set(id, workflow);
    this.#around = around;
  }

  /** Returns the workflows in the workflow's own `workflows`. After `link`, the result also contains the workflow itself. */
  own(): Iterable<CompiledWorkflow> {
    return this.#known.values();
  }

  get(name: string): CompiledWorkflow | undefined {
    return this.#known.get(name) ?? this.#around?.get(name);
  }

  *keys(): Generator<string, void> {
    for (const [name] of this.#entries()) yield name;
  }

  *values(): Generator<CompiledWorkflow, void> {
    for (const [, workflow] of this.#entries()) yield workflow;
  }

  *#entries(): Generator<readonly [string, CompiledWorkflow], void> {
    const seen = new Set<string>();
    for (let names: NamedWorkflows | null = this; names; names = names.#around) {
      for (const entry of names.#known) {
        if (seen.has(entry[0])) continue;
        seen.add(entry[0]);
        yield entry;
      }
    }
  }
}
