import { aCount, aFunction, anything, checkOptions, requireMethods } from "../core/values/check-arguments.ts";
import { secretCheck } from "../http/bearer-secret.ts";
import type { FetchHandler } from "../http/fetch-handler.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { fetchHandler } from "./fetch-handler.ts";
import { type LambdaHandler, lambdaHandler } from "./lambda-handler.ts";

/** Options of the entry points for serverless platforms. */
export interface ServerlessOptions {
  /**
   * The secret that every request of `fetch` must contain, as `Authorization: Bearer SECRET`: 16 to 1,024 ASCII characters without a space.
   * While you replace a secret, give a list: each secret in the list is accepted.
   */
  readonly secret: string | readonly string[];
  /** The path below which `fetch` answers: `/api/stepfold`. Default: none. */
  readonly basePath?: string | undefined;
  /** The longest time of one request of `fetch`, in milliseconds. It must be less than your platform allows. Default 10 s. */
  readonly timeoutMs?: number | undefined;
  /** The most executions that one call takes. Default 1,000. */
  readonly limit?: number | undefined;
  /** The most executions that one call runs at the same time. Default: `maxExecutions` of the runtime. */
  readonly concurrency?: number | undefined;
  /**
   * Called by `lambda` for an event of SQS, with an error for each message that is not from Stepfold (it is dropped) and for each execution
   * that could not be run. The report of a sweep for EventBridge names such executions itself.
   */
  readonly onProblem?: ((error: unknown) => void) | undefined;
}

/** Entry points for serverless platforms. */
export interface ServerlessHandlers {
  /**
   * Answers `POST /sweep` (or `GET`, because some cron services support nothing else) with `runtime.sweep()`, and `POST /wake-up` with the
   * body `{ "workflowIds": ["order-7"] }` with a sweep of these executions. It does nothing else, and nothing without the secret.
   */
  readonly fetch: FetchHandler;
  /**
   * Answers events of an SQS queue, which name executions, and of EventBridge schedules, which start a sweep. Only messages that could not
   * be handled go back to the queue: switch on `ReportBatchItemFailures`. It ends before the function's time is up.
   */
  readonly lambda: LambdaHandler;
}

/**
 * Makes entry points for platforms that call a function and give it a limited time. Each call is a time slice: it ends before its time is
 * up, and what is left is sent on to the queue of the runtime, or found by the next sweep. Create the runtime with `drive: false`.
 *
 * ```ts
 * import { handle } from "stepfold/serverless";
 *
 * const runtime = createRuntime({ store, queue, workflows, nodeDefinitions, drive: false });
 * const handlers = handle(runtime, { secret: process.env.STEPFOLD_SECRET });
 * export default { fetch: handlers.fetch };
 * export const handler = handlers.lambda;
 * ```
 *
 * A message that comes twice, late or never can only delay an execution: one process at a time can claim the execution, and each step is
 * committed once.
 *
 * @throws StepfoldError `OPTION_INVALID`, `OPTION_UNKNOWN`
 */
export function handle(runtime: Pick<Runtime, "sweep">, options: ServerlessOptions): ServerlessHandlers {
  requireMethods("runtime", runtime, "a runtime of createRuntime", ["sweep"]);
  const checks = { secret: anything, basePath: anything, timeoutMs: anything, limit: aCount, concurrency: aCount, onProblem: aFunction };
  checkOptions("handle", options, checks);
  const { secret, basePath = "", timeoutMs = 10_000, limit, concurrency, onProblem = () => undefined } = options;
  const bounds = { limit, concurrency };
  return {
    fetch: fetchHandler(runtime, { isAllowed: secretCheck(secret), basePath, bounds: { ...bounds, timeoutMs } }),
    lambda: lambdaHandler(runtime, { bounds, onProblem }),
  };
}
