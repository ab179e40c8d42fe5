import { refuseUnknown } from "../core/values/refuse-unknown.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { type FetchHandler, fetchHandler } from "./fetch-handler.ts";
import { type LambdaHandler, lambdaHandler } from "./lambda-handler.ts";
import { secretCheck } from "./secret.ts";

/** How a serverless platform moves executions. */
export interface ServerlessOptions {
  /**
   * What every request of `fetch` has to bring, as `Authorization: Bearer SECRET`: a text of at least 16 characters. Several while you
   * replace one: each is right.
   */
  readonly secret: string | readonly string[];
  /** The path below which `fetch` answers: `/api/stepfold`. Default: none. */
  readonly basePath?: string | undefined;
  /** How long one request of `fetch` works at most, in milliseconds; must be less than your platform allows. Default 10 s. */
  readonly timeoutMs?: number | undefined;
  /** Executions that one call takes at most. Default 1,000. */
  readonly limit?: number | undefined;
  /** Executions that one call runs at once. Default: `maxExecutions` of the runtime. */
  readonly concurrency?: number | undefined;
  /** Called with messages that are not of Stepfold; they are dropped. */
  readonly onProblem?: ((error: unknown) => void) | undefined;
}

/** Entry points for serverless platforms. */
export interface ServerlessHandlers {
  /**
   * Answers `POST /sweep` (also `GET`, because some cron services know nothing else) by `runtime.sweep()`, and `POST /wake-up` with
   * `{ "workflowIds": ["order-7"] }` by a sweep of these. Nothing else can be done with it, and nothing without the secret.
   */
  readonly fetch: FetchHandler;
  /**
   * Answers events of an SQS queue, which name executions, and of EventBridge schedules, which sweep. What could not be handled goes back
   * to the queue alone: switch on `ReportBatchItemFailures`. It ends before the function's time is up.
   */
  readonly lambda: LambdaHandler;
}

/**
 * Entry points for platforms that call a function and give it some time. Each call is a time slice: it ends before its time is up, and what
 * is left is sent on to the queue of the runtime, or found by the next sweep. Create the runtime with `drive: false`.
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
 * A message that comes twice, late or never delays an execution at most: only one process can claim it, and each step is committed once.
 *
 * @throws StepfoldError `OPTION_INVALID`, `OPTION_UNKNOWN`
 */
export function handle(runtime: Pick<Runtime, "sweep">, options: ServerlessOptions): ServerlessHandlers {
  refuseUnknown("handle", options, ["secret", "basePath", "timeoutMs", "limit", "concurrency", "onProblem"]);
  const { secret, basePath = "", timeoutMs = 10_000, limit, concurrency, onProblem = () => undefined } = options;
  const bounds = { limit, concurrency };
  return {
    fetch: fetchHandler(runtime, { isAllowed: secretCheck(secret), basePath, bounds: { ...bounds, timeoutMs } }),
    lambda: lambdaHandler(runtime, { bounds, onProblem }),
  };
}
