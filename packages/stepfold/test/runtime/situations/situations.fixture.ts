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

/** A node that suspends with its data, and outputs the answer. */
const ask = defineNode({
  executor: (data: Json, step) => (step.resumed ? { data: step.externalPayload as Json } : step.suspend(data)),
});

/** A node that outputs a list of the outputs of the joined branches. */
const gather = defineNode({ executor: (_data, step) => ({ data: (step.inputs ?? []).map(({ output }) => output) }) });

/** A store that passes everything through JSON, as a store on disk does. */
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

/** One execution of a user's workflow on a store, in processes that end and begin. */
export class Situation {
  readonly environment = virtualEnvironment();
  readonly store: SnapshotStore = jsonStore(memoryStore({ now: () => this.environment.now() }));
  /** Every call of an executor, in order: `node`, or `node resumed` if the step goes on after a wait. */
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

  /** Starts the execution, and runs it as far as it can go. */
  async start(input?: Json): Promise<Run> {
    const run = await this.#runtime.start(this.#definition.id, { workflowId: "w", ...(input !== undefined && { input }) });
    await this.pass();
    return run;
  }

  /** Lets time pass, and performs everything that becomes due. */
  async pass(ms = 1): Promise<void> {
    await this.environment.advance(ms);
  }

  /** Ends the process and begins another one, which knows only the data in the store. */
  async restart(): Promise<Run> {
    await this.#runtime.close();
    this.#runtime = this.#open(true);
    await this.pass();
    return this.#runtime.get("w");
  }

  /** Returns the handle of the execution in another process on the same store, which drives nothing. */
  elsewhere(): Promise<Run> {
    return this.#open(false).get("w");
  }

  /** Lets time pass until `moment` while no process runs. Returns the handle in a process that drives nothing. */
  async asleepUntil(moment: number): Promise<Run> {
    await this.#runtime.close();
    await this.pass(moment - this.environment.now());
    return this.elsewhere();
  }

  /** Answers a wait, and runs the execution as far as it can go. */
  async answer(run: Run, step: string, payload?: Json): Promise<void> {
    await run.resume({ step, payload });
    await this.pass();
  }

  async snapshot(): Promise<Snapshot> {
    return (await this.store.load("w"))!;
  }

  /** The outputs of each node, in order. */
  async given(): Promise<Record<string, Json[]>> {
    const { context } = await this.snapshot();
    return Object.fromEntries(Object.entries(context).map(([nodeId, results]) => [nodeId, results.map(({ output }) => output)]));
  }

  /** How many times `ran` has this entry. */
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

/** The outcome of each call, sorted: `applied`, `repeated`, or the code of its error. */
export function verdicts(results: readonly PromiseSettledResult<{ readonly applied: boolean }>[]): string[] {
  return results
    .map((result) => {
      if (result.status === "fulfilled") return result.value.applied ? "applied" : "repeated";
      return StepfoldError.is(result.reason) ? result.reason.code : String(result.reason);
    })
    .sort();
}
