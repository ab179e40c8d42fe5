import type { WorkflowDefinition } from "../../core/definition/definition.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Event } from "../../core/snapshot/event.ts";
import type { Limits } from "../../core/values/limits.ts";
import type { NodeDefinitions } from "../../engine/node/node-definition.ts";
import { type Library, libraryOf } from "../../engine/workflow/link-workflows.ts";
import { type PreparedWorkflow, prepareWorkflow } from "../../engine/workflow/prepared-workflow.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";

/** Workflows that are ready to run: by id, and by the hash that executions are pinned to. */
export class Registry {
  readonly #store: SnapshotStore;
  readonly #nodeDefinitions: NodeDefinitions;
  readonly #limits: Limits;
  readonly #library: Library;
  readonly #byId = new Map<string, PreparedWorkflow>();
  readonly #byHash = new Map<string, PreparedWorkflow>();
  readonly #stored = new Map<string, Promise<void>>();

  /** @throws StepfoldError `DEFINITION_INVALID` */
  constructor(store: SnapshotStore, workflows: readonly unknown[], nodeDefinitions: NodeDefinitions, limits: Limits) {
    this.#store = store;
    this.#nodeDefinitions = nodeDefinitions;
    this.#limits = limits;
    this.#library = libraryOf(workflows);
    for (const workflow of workflows) this.add(workflow);
  }

  /** @throws StepfoldError `DEFINITION_INVALID` */
  add(definition: unknown): PreparedWorkflow {
    const prepared = prepareWorkflow(definition, this.#nodeDefinitions, this.#limits, this.#library);
    this.#byId.set(prepared.compiled.definition.id, prepared);
    this.#byHash.set(prepared.compiled.hash, prepared);
    return prepared;
  }

  /** @throws StepfoldError `DEFINITION_UNKNOWN` */
  current(id: string): PreparedWorkflow {
    const prepared = this.#byId.get(id);
    if (!prepared) throw new StepfoldError("DEFINITION_UNKNOWN", { workflow: String(id), known: [...this.#byId.keys()] });
    return prepared;
  }

  /**
   * The workflow that an execution is pinned to. It is read from the store if this process was started with another version.
   *
   * @throws StepfoldError `DEFINITION_MISSING`, `DEFINITION_INVALID` (a node type that this process lacks)
   */
  async pinned(workflowId: string, hash: string): Promise<PreparedWorkflow> {
    const known = this.#byHash.get(hash);
    if (known) return known;
    const definition = await this.#store.getDefinition(hash);
    if (!definition) throw new StepfoldError("DEFINITION_MISSING", { workflowId, hash });
    const prepared = prepareWorkflow(definition, this.#nodeDefinitions, this.#limits);
    this.#byHash.set(hash, prepared);
    return prepared;
  }

  /** Puts the definition into the store, once, before the first execution refers to it. */
  async keep({ compiled }: PreparedWorkflow): Promise<void> {
    const { hash, definition } = compiled;
    let stored = this.#stored.get(hash);
    if (!stored) {
      stored = this.#store.putDefinition(hash, definition as WorkflowDefinition);
      this.#stored.set(hash, stored);
      stored.catch(() => this.#stored.delete(hash));
    }
    await stored;
  }

  /** Stores the definitions of executions that these events start: the workers that run them read them from the store. */
  async keepStarted(workflowId: string, events: readonly Event[]): Promise<void> {
    for (const event of events) {
      if ("starts" in event && event.starts) await this.keep(await this.pinned(workflowId, event.starts.definition.hash));
    }
  }
}
