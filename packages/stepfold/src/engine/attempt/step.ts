import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { scopedKey } from "../../core/snapshot/address.ts";
import { stepKey } from "../../core/snapshot/parts/acted.ts";
import type { Resumed } from "../../core/snapshot/parts/wait.ts";
import type { Context, NodeResult } from "../../core/snapshot/snapshot.ts";
import { type ScopeDraft, variablesAt } from "../../core/transition/draft/draft.ts";
import type { Task } from "../../core/transition/plan.ts";
import { inputsOf, previousOf, undoneResult } from "../../core/transition/task-scope.ts";
import { ofTenant } from "../../core/values/ids/tenant.ts";
import type { EpochMs, Json } from "../../core/values/json.ts";
import type { Asking, CodeContext } from "../node/asking.ts";
import type { Compensating, StepContext, SuspendOptions } from "../node/step-context.ts";

/** What the steps of one turn have in common. */
export interface StepSurroundings {
  readonly workflowId: string;
  readonly globals: unknown;
  /** What code can ask for, if the step is that of the code of a workflow. */
  readonly asking?: Asking;
  /** The clock of the turn: the clock of the store, if there is a store. */
  readonly now: () => EpochMs;
}

/** What a step asked for when it suspended. */
export interface Suspension {
  readonly payload: unknown;
  readonly options: readonly SuspendOptions[];
}

/** The value that `suspend` throws to leave the executor. `perform` always catches it. */
const suspended: unique symbol = Symbol("the step is suspended");

/**
 * The StepContext of one attempt. Values that executors rarely need are made on first access. Methods can be destructured
 * (`const { suspend } = step`).
 */
export class Step implements StepContext, CodeContext {
  readonly workflowId: string;
  readonly nodeId: string;
  readonly pathId: string;
  readonly attempt: number;
  readonly hasRetryPolicy: boolean;
  readonly input: Json | undefined;
  readonly externalPayload: unknown;
  readonly resumed: Resumed | undefined;
  /** True if the executor has read `globals` although none were given. */
  missesGlobals = false;
  suspension: Suspension | null = null;
  readonly "~asking": Asking | undefined;
  /** The changes of metadata that the executor has asked for; null if there are none. */
  metadataPatch: Readonly<Record<string, unknown>> | null = null;
  readonly #globals: unknown;
  readonly #task: Task;
  readonly #scopeDraft: ScopeDraft;
  /** The results of the scope, which may grow during the attempt; `#version` says which of them the executor sees. */
  readonly #live: Context;
  readonly #version: number;
  readonly #now: () => EpochMs;
  readonly #onHeartbeat: ((progress: unknown) => void) | null;
  #context: Context | null = null;
  #vars: Readonly<Record<string, Json>> | null = null;
  #controller: AbortController | null = null;
  #aborted: { readonly reason: unknown } | null = null;

  constructor(
    surroundings: StepSurroundings,
    task: Task,
    externalPayload: unknown,
    scopeDraft: ScopeDraft,
    hasRetryPolicy: boolean,
    onHeartbeat: ((progress: unknown) => void) | null,
  ) {
    this.workflowId = surroundings.workflowId;
    this.nodeId = task.nodeId;
    this.pathId = task.scope === undefined ? task.pathId : scopedKey(task.scope, task.pathId);
    this.attempt = task.attempt;
    this.hasRetryPolicy = hasRetryPolicy;
    this.input = scopeDraft.input;
    this.externalPayload = externalPayload;
    this.resumed = task.resumed && withoutReopening(task.resumed);
    this["~asking"] = surroundings.asking;
    this.#globals = surroundings.globals;
    this.#now = surroundings.now;
    this.#task = task;
    this.#scopeDraft = scopeDraft;
    this.#live = scopeDraft.context;
    this.#version = scopeDraft.root.version;
    this.#onHeartbeat = onHeartbeat;
  }

  get globals(): unknown {
    this.missesGlobals ||= this.#globals === undefined;
    return this.#globals;
  }

  get idempotencyKey(): string {
    const { undoes, nodeId, visit } = this.#task;
    if (!undoes) return stepKey(this.#actor, this.pathId, { visit });
    // the key is the same for every attempt to undo this step; `begun` stands for a step that did not complete
    const { scope = "", pathId, version = "begun", acted } = undoes;
    const visited = acted === undefined ? "" : `#${acted.visit}`;
    const by = acted?.by === undefined ? "" : `/${acted.by}`;
    return ofTenant(this.#actor.tenant, `${this.workflowId}/${scopedKey(scope, pathId)}${visited}@${nodeId}!${version}${by}`);
  }

  get #actor(): { readonly workflowId: string; readonly tenant: string | undefined } {
    return { workflowId: this.workflowId, tenant: this.#scopeDraft.root.tenant };
  }

  get context(): Context {
    this.#context ??= contextAt(this.#live, this.#version);
    return this.#context;
  }

  get vars(): Readonly<Record<string, Json>> {
    this.#vars ??= variablesAt(this.#scopeDraft, this.#task.since);
    return this.#vars;
  }

  get incoming(): Json | null {
    const task = this.#task;
    if (task.undoes || task.stepPath.length > 0 || task.inputs) return previousOf(task, this.#scopeDraft)?.output ?? null;
    return this.input ?? null;
  }

  get inputs(): readonly NodeResult[] | undefined {
    return this.#task.inputs && inputsOf(this.#task.inputs, { context: this.#live as ScopeDraft["context"] });
  }

  get compensating(): Compensating | undefined {
    if (!this.#task.undoes) return undefined;
    const { undoes } = this.#task;
    const result = undoneResult(this.#task, this.#scopeDraft);
    const acted = (result ?? undoes).acted;
    const key = acted && { idempotencyKey: stepKey(this.#actor, scopedKey(undoes.scope ?? "", undoes.pathId), acted) };
    return result ? { completed: true, output: result.output, ...key } : { completed: false, ...key };
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#aborted) this.#controller.abort(this.#aborted.reason);
    }
    return this.#controller.signal;
  }

  get suspend(): StepContext["suspend"] {
    return (payload, options = {}) => {
      this.suspension ??= { payload, options: Array.isArray(options) ? options : [options] };
      throw suspended;
    };
  }

  get setMetadata(): StepContext["setMetadata"] {
    return (patch) => {
      if (typeof patch !== "object" || patch === null || Array.isArray(patch))
        throw new StepfoldError("OPTION_INVALID", { option: "patch", reason: "must be an object of values by key" });
      this.metadataPatch = { ...this.metadataPatch, ...patch };
    };
  }

  get now(): () => EpochMs {
    return this.#now;
  }

  get heartbeat(): (progress?: unknown) => void {
    return (progress) => this.#onHeartbeat?.(progress);
  }

  /** Aborts the executor's signal. */
  abort(reason: unknown): void {
    this.#aborted ??= { reason };
    this.#controller?.abort(reason);
  }
}

/** Removes `reopens`, which is of no use to the executor. */
function withoutReopening(resumed: Resumed): Resumed {
  if (!resumed.reopens) return resumed;
  const { reopens: _, ...rest } = resumed;
  return Object.freeze(rest);
}

/** Returns the context as of a version. Other paths may have added results since then, and may still add more. */
function contextAt(live: Context, version: number): Context {
  const context: Record<string, readonly NodeResult[]> = {};
  for (const [nodeId, results] of Object.entries(live)) {
    const seen = results.filter((result) => result.version <= version);
    if (seen.length > 0) context[nodeId] = Object.freeze(seen);
  }
  return Object.freeze(context);
}
