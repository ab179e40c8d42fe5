import type { WorkflowDefinition } from "../../../src/core/definition/definition.ts";
import { StepfoldError } from "../../../src/core/errors/stepfold-error.ts";
import type { Snapshot } from "../../../src/core/snapshot/snapshot.ts";
import type { Json } from "../../../src/core/values/json.ts";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import type { NodeDefinition, NodeOutput } from "../../../src/engine/node/node-definition.ts";
import type { StepContext } from "../../../src/engine/node/step-context.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import type { SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import type { Run } from "../../../src/runtime/handle/run.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { viaJson } from "../../engine/engine.fixture.ts";
import { setUp } from "../runtime.fixture.ts";

type Executor = (data: Json, step: StepContext) => NodeOutput | Promise<NodeOutput>;

/** Suspends with its data, and gives the answer. */
const ask = defineNode({
  executor: (data: Json, step) => (step.resumed ? { data: step.externalPayload as Json } : step.suspend(data)),
});

/** Gives the outputs of the joined branches. */
const gather = defineNode({ executor: (_data, step) => ({ data: (step.inputs ?? []).map(({ output }) => output) }) });

/** A store that is read and written through JSON, as one on disk would be. */
function jsonStore(store: SnapshotStore): SnapshotStore {
  return {
    ...store,
    create: (commit, options) => store.create(viaJson(commit), options),
    commit: (commit) => store.commit(viaJson(commit)),
    load: async (workflowId) => viaJson(await store.load(workflowId)),
    claim: async (wanted) => viaJson(await store.claim(wanted)),
    events: async (workflowId, after, limit) => viaJson(await store.events(workflowId, after, limit)),
  };
}

/** A user's workflow and executors, on a store, with processes that end and begin. */
export class Situation {
  readonly environment = virtualEnvironment();
  readonly store: SnapshotStore = jsonStore(memoryStore({ now: () => this.environment.now() }));
  /** Every run of an executor, in order: `node`, and `node resumed` where it goes on after a wait. */
  readonly ran: string[] = [];
  readonly #definition: WorkflowDefinition;
  readonly #nodeDefinitions: Record<string, NodeDefinition>;
  #runtime: ReturnType<typeof setUp>["runtime"];

  constructor(definition: WorkflowDefinition, executors: Readonly<Record<string, Executor>> = {}) {
    this.#definition = viaJson(definition);
    const own = Object.entries(executors).map(([type, executor]) => [type, { executor }]);
    this.#nodeDefinitions = { ...builtinNodes, ask, gather, ...Object.fromEntries(own) } as Record<string, NodeDefinition>;
    this.#runtime = this.#open(true);
  }

  /** Starts the execution, and lets it come as far as it can. */
  async start(input?: Json): Promise<Run> {
    const run = await this.#runtime.start(this.#definition.id, { workflowId: "w", ...(input !== undefined && { input }) });
    await this.pass();
    return run;
  }

  /** Lets time pass, and all that follows from it happen. */
  async pass(ms = 1): Promise<void> {
    await this.environment.advance(ms);
  }

  /** Ends the process and begins another one: only what was stored is left. */
  async restart(): Promise<Run> {
    await this.#runtime.close();
    this.#runtime = this.#open(true);
    await this.pass();
    return this.#runtime.get("w");
  }

  /** The same execution, seen from another process on the same store, which drives nothing. */
  elsewhere(): Promise<Run> {
    return this.#open(false).get("w");
  }

  /** No process runs until a moment; then one that drives nothing does. */
  async asleepUntil(moment: number): Promise<Run> {
    await this.#runtime.close();
    await this.pass(moment - this.environment.now());
    return this.elsewhere();
  }

  /** Answers a wait, and lets what follows from it happen. */
  async answer(run: Run, step: string, payload?: Json): Promise<void> {
    await run.resume({ step, payload });
    await this.pass();
  }

  async snapshot(): Promise<Snapshot> {
    return (await this.store.load("w"))!;
  }

  /** Outputs by node. */
  async given(): Promise<Record<string, Json[]>> {
    const { context } = await this.snapshot();
    return Object.fromEntries(Object.entries(context).map(([nodeId, results]) => [nodeId, results.map(({ output }) => output)]));
  }

  /** How often the executor of a node was begun. */
  times(entry: string): number {
    return this.ran.filter((name) => name === entry).length;
  }

  #open(drive: boolean): ReturnType<typeof setUp>["runtime"] {
    const beforeNode = ({ nodeId, resumed }: { readonly nodeId: string; readonly resumed?: unknown }): unknown =>
      this.ran.push(resumed ? `${nodeId} resumed` : nodeId);
    const options = { store: this.store, drive, workflows: [this.#definition], nodeDefinitions: this.#nodeDefinitions };
    return setUp({ ...options, plugins: [{ beforeNode }] }, this.environment).runtime;
  }
}

/** The codes of those that were refused, and how many were not. */
export function verdicts(results: readonly PromiseSettledResult<{ readonly applied: boolean }>[]): string[] {
  return results
    .map((result) => {
      if (result.status === "fulfilled") return result.value.applied ? "applied" : "repeated";
      return StepfoldError.is(result.reason) ? result.reason.code : String(result.reason);
    })
    .sort();
}
