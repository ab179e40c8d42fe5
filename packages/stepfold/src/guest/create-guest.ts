import { safeMember } from "../core/errors/safe-member.ts";
import { StepfoldError } from "../core/errors/stepfold-error.ts";
import {
  aFunction,
  aList,
  aListOfTexts,
  anEnvironment,
  anObject,
  anything,
  checkOptions,
  type OptionCheck,
  requireMethods,
  requireOption,
} from "../core/values/check-arguments.ts";
import type { Limits } from "../core/values/limits.ts";
import { checkTurnOptions, readLimits, readStepTimeout } from "../engine/limits.ts";
import { aLogger, type Logger } from "../engine/logger.ts";
import type { NodeDefinitions } from "../engine/node/node-definition.ts";
import type { GlobalsOption } from "../engine/node/typed.ts";
import { defaultConcurrency } from "../engine/open-turn.ts";
import { Secrets } from "../engine/secrets/secrets.ts";
import { libraryOf } from "../engine/workflow/link-workflows.ts";
import { type PreparedWorkflow, prepareWorkflow } from "../engine/workflow/prepared-workflow.ts";
import { untyped } from "../engine/workflow/typed-workflows.ts";
import { Deadlines, systemEnvironment } from "../environment/system-environment.ts";
import { missingFunctions } from "../expressions/load-functions.ts";
import type { Environment } from "../ports/environment.ts";
import { entryName, GuestExecution, performed } from "./guest-execution.ts";
import type { GuestEnd, GuestHost, GuestMessage, GuestResult, GuestStart, GuestStep } from "./host.ts";
import { type Performing, performStep, requireHash } from "./perform-step.ts";

/** Options of a guest. */
interface Parts<D extends NodeDefinitions> {
  /** The definitions of the workflows, as plain JSON. `GuestStart.workflow` names one of them by its id. */
  readonly workflows: readonly unknown[];
  readonly nodeDefinitions: D;
  readonly limits?: Partial<Limits> | undefined;
  /** The longest time of one attempt in milliseconds, if neither the node nor its type says another. Default: 10 minutes. */
  readonly stepTimeoutMs?: number | undefined;
  /** The most steps of one execution that are performed at the same time. Default 16. */
  readonly concurrency?: number | undefined;
  readonly environment?: Environment | undefined;
  /**
   * Paths into `globals` of texts that are secrets although neither their names nor their looks tell, such as `["stripe", "mail.password"]`: as
   * the option of `createRuntime`. Default: none.
   */
  readonly secrets?: readonly string[] | undefined;
  /** Gets every failed attempt, with the stack of the code that threw the error. Default: no logger. */
  readonly logger?: Logger | undefined;
  /**
   * Called with every message that was refused, and the reason: the sender of a message does not wait for this decision. If the process
   * dies before the host has the result, this function is called again with the same message.
   */
  readonly onRefused?: ((message: GuestMessage, error: unknown, workflowId: string) => void) | undefined;
}

/** Options of a guest. `globals` is required if the node definitions need globals. */
export type GuestOptions<D extends NodeDefinitions = NodeDefinitions> = Parts<D> & GlobalsOption<D>;

/** Runs executions as guests of another engine. */
export interface Guest {
  /**
   * Runs an execution to its end, in a handler that the host repeats from its journal. An execution that fails, is cancelled or cannot be
   * started (its workflow is unknown, its input is invalid) resolves with `failed` or `cancelled`. The call rejects only if the host or
   * this code is at fault, and may then be repeated.
   *
   * @throws StepfoldError for an execution that was started before: `DEFINITION_CHANGED` if that was with another definition,
   * `DEFINITION_UNKNOWN` if its definition is missing: then nothing was done, and it goes on with the right code. `OPTION_INVALID` if the
   * host returns something that it must not return; any error that the host throws
   */
  run(host: GuestHost, start: GuestStart): Promise<GuestEnd>;
  /**
   * Performs one step that `run` has asked its host for: in the same process, or in another one with the same definitions and code. An
   * error that a node throws is part of the result.
   *
   * @throws StepfoldError `DEFINITION_CHANGED`, `DEFINITION_UNKNOWN`: another process may have the right definition, so the host may
   * repeat the step
   */
  perform(step: GuestStep): Promise<GuestResult>;
}

const guestOptionChecks: { readonly [K in keyof Parts<NodeDefinitions> | "globals"]-?: OptionCheck } = {
  ...{ workflows: aList, nodeDefinitions: anObject, limits: anObject, stepTimeoutMs: anything, concurrency: anything },
  ...{ environment: anEnvironment, logger: aLogger, onRefused: aFunction, globals: anObject },
  secrets: aListOfTexts,
};

/**
 * Makes a guest: its workflows run inside another engine, which keeps their executions in its journal. There is no store, no queue and
 * no poller: the host repeats work whose process died, and wakes executions that sleep. Retries, deadlines, joins and compensations work
 * as in Stepfold.
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
 * There are no lists of executions, no forks, no bulk commands and no Studio: use the tools of the host. Steps that start detached
 * executions, or that ask for a next run (`continueAs`), fail with `ACTION_DENIED` or `OUTPUT_INVALID`. `concurrency` and `rateLimit` of a
 * workflow have no effect. Workflows with code (`defineDurable`) cannot be guests: the host repeats its own handler from its journal.
 *
 * @throws StepfoldError `DEFINITION_INVALID` with every mistake at once; `CODE_UNSUPPORTED`; `OPTION_INVALID`, `OPTION_UNKNOWN`
 */
export function createGuest<const D extends NodeDefinitions>(options: GuestOptions<D>): Guest {
  checkOptions<object>("createGuest", options, guestOptionChecks);
  requireOption("nodeDefinitions", options.nodeDefinitions, anObject);
  const { environment = systemEnvironment, logger = null, concurrency = defaultConcurrency } = options;
  checkTurnOptions({ concurrency });
  if (!Array.isArray(options.workflows) || options.workflows.length === 0)
    throw new StepfoldError("OPTION_INVALID", { option: "workflows", reason: "must be a list of at least one definition" });
  const { workflows, nodeDefinitions = {} } = untyped(options.workflows, options.nodeDefinitions);
  const limits = readLimits(options.limits);
  const library = libraryOf(workflows);
  const prepared = new Map<string, PreparedWorkflow>();
  for (const workflow of workflows) {
    const made = prepareWorkflow(workflow, nodeDefinitions, limits, library);
    if (made.compiled.runsCode) throw new StepfoldError("CODE_UNSUPPORTED", { workflow: made.compiled.definition.id });
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
    // steps may not start detached executions or send signals, because both need a store
    may: () => false,
    intercept: null,
  };
  const { globals, onRefused = () => undefined } = options as Parts<D> & { readonly globals?: unknown };
  const secrets = new Secrets(globals, options.secrets);
  const performing: Performing = { workflowNamed, setting, globals, secrets, concurrency, onRefused };
  return {
    async run(host, start) {
      await missingFunctions();
      return run(host, start, workflowNamed);
    },
    async perform(step) {
      await missingFunctions();
      return setting.deadlines.during(() => performStep(performing, step));
    },
  };
}

async function run(host: GuestHost, start: GuestStart, workflowNamed: Performing["workflowNamed"]): Promise<GuestEnd> {
  requireMethods("host", host, "a host of a guest", ["perform", "wait"]);
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
