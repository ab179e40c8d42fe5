import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { type WaitInfo, waits } from "../../core/explain/waits.ts";
import { isTerminal } from "../../core/snapshot/snapshot.ts";
import type { NodeDefinitions } from "../../engine/node/node-definition.ts";
import type { Run } from "../../runtime/handle/run.ts";
import { defaultStore } from "../kit/default-store.ts";
import type { ClientScript, Scenario } from "./scenario.ts";

/** What a workflow needs to be simulated. */
export interface WorkflowScenarioOptions {
  readonly input?: unknown;
  /**
   * What is answered, by the address of the wait, the id of its node or the name of the signal: a payload, or a function that makes one of the wait. A
   * wait without an answer is left to its time.
   */
  readonly answers?: Readonly<Record<string, unknown>> | undefined;
  /** The code of nodes. It must not use real time, chance or services. */
  readonly nodeDefinitions?: NodeDefinitions | undefined;
  /** Further workflows that the workflow runs or starts. */
  readonly workflows?: readonly unknown[] | undefined;
  /** Stand-ins for the services that executors and code use. */
  readonly globals?: Readonly<Record<string, unknown>> | undefined;
}

/** The time between two looks at what an execution waits for. */
const lookMs = 200;
/** The execution that is simulated. */
const workflowId = "simulated";

/** Returns a scenario with one execution of a workflow, and a client that answers it. */
export function workflowScenario(workflow: { readonly id: string }, options: WorkflowScenarioOptions): Scenario {
  const { input, answers = {}, nodeDefinitions = {}, workflows = [], globals } = options;
  const client: ClientScript = async ({ runtime, sleep }) => {
    const run = await runtime.start(workflow.id, { workflowId, ...(input !== undefined && { input }) });
    for (;;) {
      const snapshot = await run.snapshot();
      if (isTerminal(snapshot.status)) return;
      for (const wait of waits(snapshot)) await answer(run, wait, answers);
      await sleep(lookMs);
    }
  };
  return {
    store: defaultStore,
    workflows: [workflow, ...workflows],
    nodeDefinitions,
    clients: [client],
    ...(globals !== undefined && { runtime: { globals } }),
  };
}

/** Answers a wait, if there is an answer for it. The key is that of the wait, so that an answer which is given again counts once. */
async function answer(run: Run, wait: WaitInfo, answers: Readonly<Record<string, unknown>>): Promise<void> {
  const { id, address, nodeId, signal, answer: how } = wait;
  const name = [address, nodeId, signal ?? address].find((one) => Object.hasOwn(answers, one));
  if (!how || name === undefined) return;
  const given = answers[name];
  const payload: unknown = typeof given === "function" ? given(wait) : given;
  const idempotencyKey = `answer to ${id}`;
  try {
    if (how.type === "resume") await run.resume({ waitId: id, payload, idempotencyKey });
    else await run.signal(how.name, payload, { idempotencyKey, ...(how.key !== undefined && { key: how.key }) });
  } catch (error) {
    // time, or the end of the execution, was first
    if (!StepfoldError.is(error) || !["WAIT_GONE", "WAIT_EXPIRED", "EXECUTION_ENDED"].includes(error.code)) throw error;
  }
}
