import type { SnapshotStore, WorkflowDefinition } from "stepfold";
import { type CompiledWorkflow, compile } from "stepfold/core";
import { expressionLanguage, loadFunctions } from "stepfold/expressions";

/** The most definitions that are kept ready. */
const maxKept = 200;

/** The workflows that executions follow, ready to fold and explain them. No code of nodes is needed. */
export class Workflows {
  readonly #store: SnapshotStore;
  readonly #known = new Map<string, Promise<CompiledWorkflow | null>>();

  constructor(store: SnapshotStore) {
    this.#store = store;
  }

  /** Returns the workflow with a hash; null if its definition is gone, or no workflow any more. */
  get(hash: string): Promise<CompiledWorkflow | null> {
    const known = this.#known.get(hash);
    if (known) return known;
    const loading = this.#load(hash);
    this.#known.set(hash, loading);
    const [oldest] = this.#known.keys();
    if (this.#known.size > maxKept) this.#known.delete(oldest!);
    const forget = (): void => {
      if (this.#known.get(hash) === loading) this.#known.delete(hash);
    };
    // a definition that is missing now may be put later
    loading.then((workflow) => workflow ?? forget(), forget);
    return loading;
  }

  async #load(hash: string): Promise<CompiledWorkflow | null> {
    const definition = await this.#store.getDefinition(hash);
    return definition && (await compiled(definition));
  }
}

async function compiled(definition: WorkflowDefinition): Promise<CompiledWorkflow | null> {
  await loadFunctions();
  try {
    return compile(definition, expressionLanguage, undefined, { isStored: true });
  } catch {
    return null;
  }
}
