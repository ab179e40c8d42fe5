import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { SqsBatchResult } from "./sqs-client.ts";

/** Errors of the client's side after which the same call may succeed. */
const passing = /Throttl|LimitExceeded|Timeout|TooMany|OverLimit|ExpiredToken|RequestExpired/i;

/** Whether SQS would refuse the same call again. */
export function isRefusedBySqs(cause: unknown): boolean {
  const { name = "", $fault, $retryable } = (cause ?? {}) as { name?: string; $fault?: unknown; $retryable?: unknown };
  return $fault === "client" && $retryable === undefined && !passing.test(name);
}

/** Throws an error again, unless it says that a message was held for too long: SQS has given it to somebody else, who handles it. */
export function unlessNoLongerHeld(cause: unknown): void {
  if ((cause as { readonly name?: unknown } | null)?.name !== "MessageNotInflight") throw cause;
}

/** Throws if a message of a batch was refused. @throws StepfoldError `QUEUE_REJECTED`, `QUEUE_UNAVAILABLE` */
export function requireAllSent({ Failed = [] }: SqsBatchResult): void {
  const [first] = Failed;
  if (!first) return;
  const code = first.SenderFault === true && !passing.test(first.Code ?? "") ? "QUEUE_REJECTED" : "QUEUE_UNAVAILABLE";
  throw new StepfoldError(code, { queue: "sqs", reason: `${Failed.length} messages were refused: ${first.Code ?? "no reason given"}` });
}
