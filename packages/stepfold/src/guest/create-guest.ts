import { safeMember } from "../core/errors/safe-member.ts";
import { StepfoldError } from "../core/errors/stepfold-error.ts";
import type { Limits } from "../core/values/limits.ts";
import { refuseUnknown } from "../core/values/refuse-unknown.ts";
import { checkTurnOptions, readLimits, readStepTimeout } from "../engine/limits.ts";
import { type Logger, requireLogger } from "../engine/logger.ts";
import type { GlobalsOption, NodeDefinitions } from "../engine/node/node-definition.ts";
import { defaultConcurrency } from "../engine/turn.ts";
import { libraryOf } from "../engine/workflow/link-workflows.ts";
import { type PreparedWorkflow, prepareWorkflow } from "../engine/workflow/prepared-workflow.ts";
import { Deadlines, systemEnvironment } from "../environment/system-environment.ts";
import { missingFunctions } from "../expressions/load-functions.ts";
import type { Environment } from "../ports/environment.ts";
import { entryName, GuestExecution, performed } from "./guest-execution.ts";
import type { GuestEnd, GuestHost, GuestMessage, GuestResult, GuestStart, GuestStep } from "./host.ts";
import { type Performing, performStep, requireHash } from "./perform-step.ts";

/** What a guest is made of. */
interface Parts<D extends NodeDefinitions> {
  /** The definitions; plain JSON. Each is named by its id. */
  readonly workflows: readonly unknown[];
  readonly nodeDefinitions: D;
  readonly limits?: Partial<Limits>;
  /** Longest time of one attempt where neither node nor type says, in milliseconds. Default: 10 minutes. */
  readonly stepTimeoutMs?: number;
  /** Steps of one execution that are performed at once. Default 16. */
  readonly concurrency?: number;
  readonly environment?: Environment;
  /** Is told of every failed attempt, with the stack of the code that threw it. Default: nobody. */
  readonly logger?: Logger;
  /** Is called with every message that was refused, and the reason. A sender does not wait for the verdict, so it does not learn of it otherwise. */
  readonly onRefused?: (message: GuestMessage, error: unknown, workflowId: string) => void;
}

/** What a guest is made of. */
export type GuestOptions<D extends NodeDefinitions = NodeDefinitions> = Parts<D> & GlobalsOption<D>;

/** Workflows as guests of another engine. */
export interface Guest {
  /**
   * Runs an execution to its end, in a handler that the host repeats from its journal. What ends badly ends with a status; it rejects only
   * if the host or this code is at fault, and may then be repeated.
   *
   * @throws StepfoldError `DEFINITION_CHANGED` if the execution was begun with another definition, `DEFINITION_UNKNOWN` if it is missing:
   * nothing was done then, and with the right code it goes on. `OPTION_INVALID` if the host gives what it must not; what the host throws
   */
  run(host: GuestHost, start: GuestStart): Promise<GuestEnd>;
  /**
   * Performs one step that `run` has asked its host for: in the same process or in another one with the same definitions and code. What a
   * node throws is part of the result.
   *
   * @throws StepfoldError `DEFINITION_CHANGED`, `DEFINITION_UNKNOWN`: another process may have the right one, so the host may repeat it
   */
  perform(step: GuestStep): Promise<GuestResult>;
}

const guestOptions: readonly (keyof Parts<NodeDefinitions> | "globals")[] = [
  ...(["workflows", "nodeDefinitions", "limits", "stepTimeoutMs", "concurrency", "environment", "logger", "onRefused", "globals"] as const),
];

/**
 * Workflows that run inside another engine, which keeps them in its journal. There is no store, no queue and no poller: the host repeats
 * what died, and wakes what sleeps. Retries, deadlines, joins and compensations are those of Stepfold.
 *
 * ```ts
 * import { createGuest, type GuestHost } from "stepfold/guest";
 *
 * const guest = createGuest({ workflows: [order], nodeDefinitions });
 * // in a handler of the host; `journal.run` keeps what its function gives, `journal.sleep` lasts through restarts
 * const host: GuestHost = {
 *   perform: (steps) => Promise.all(steps.map((step) => journal.run(step.name, () => guest.perform(step)))),
 *   wait: (until, { name }) => journal.nextMessage(name, until),
 * };
 * const { status, output } = await guest.run(host, { workflow: "order", workflowId: runId, input });
 * ```
 *
 * A host has no lists of executions, no forks, no bulk commands and no Studio: look at its own. Steps that start detached executions or go
 * on as a new one fail with `ACTION_DENIED` or `OUTPUT_INVALID`; `concurrency` and `rateLimit` of a workflow are not kept.
 *
 * @throws StepfoldError `DEFINITION_INVALID` with every mistake at once; `OPTION_INVALID`, `OPTION_UNKNOWN`
 */
export function createGuest<const D extends NodeDefinitions>(options: GuestOptions<D>): Guest {
  refuseUnknown("createGuest", options, guestOptions);
  const { workflows, nodeDefinitions, environment = systemEnvironment, logger = null, concurrency = defaultConcurrency } = options;
  checkTurnOptions({ concurrency });
  if (logger) requireLogger(logger);
  if (!Array.isArray(workflows) || workflows.length === 0)
    throw new StepfoldError("OPTION_INVALID", { option: "workflows", reason: "must be a list of at least one definition" });
  const limits = readLimits(options.limits);
  const library = libraryOf(workflows);
  const prepared = new Map<string, PreparedWorkflow>();
  for (const workflow of workflows) {
    const made = prepareWorkflow(workflow, nodeDefinitions, limits, library);
    prepared.set(made.compiled.definition.id, made);
  }
  const workflowNamed = (name: string): PreparedWorkflow => {
    const found = prepared.get(name);
    if (found) return found;
    throw new StepfoldError("DEFINITION_UNKNOWN", { workflow: String(name), known: [...prepared.keys()] });
  };
  const setting = {
    environment,
    deadlines: new Deadlines(environment),
    limits,
    stepTimeoutMs: readStepTimeout(options.stepTimeoutMs),
    plugins: [],
    logger,
    keepStacks: false,
    workflowNamed,
    // an execution of its own would need a store
    may: () => false,
  };
  const { globals, onRefused = () => undefined } = options as Parts<D> & { readonly globals?: unknown };
  const performing: Performing = { workflowNamed, setting, globals, concurrency, onRefused };
  return {
    async run(host, start) {
      await missingFunctions();
      return run(host, start, workflowNamed);
    },
    async perform(step) {
      await missingFunctions();
      return performStep(performing, step);
    },
  };
}

async function run(host: GuestHost, start: GuestStart, workflowNamed: Performing["workflowNamed"]): Promise<GuestEnd> {
  const [first] = await performed(host, [{ name: entryName(0, "start"), type: "start", start }], ["started", "refused"]);
  const started = first!;
  if (started.type === "refused") return { workflowId: String(safeMember(start, "workflowId")), status: "failed", error: started.error };
  const { event } = started;
  const { workflowId } = event;
  const prepared = workflowNamed(event.definition.id);
  requireHash(workflowId, prepared, event.definition.hash);
  const execution = new GuestExecution(host, prepared.compiled, started);
  await execution.run();
  const { ended, output, error } = execution.draft;
  return { workflowId, status: ended!, ...(output !== undefined && { output }), ...(error !== undefined && { error }) };
}
