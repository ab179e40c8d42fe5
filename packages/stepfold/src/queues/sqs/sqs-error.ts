import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { SqsBatchResult } from "./sqs-client.ts";

/** Names of errors that SQS calls the client's fault, although the same call may succeed later. */
const passing = /Throttl|LimitExceeded|Timeout|TooMany|OverLimit|ExpiredToken|RequestExpired/i;

/** Whether SQS would refuse the same call again. */
export function isRefusedBySqs(cause: unknown): boolean {
  const { name = "", $fault, $retryable } = (cause ?? {}) as { name?: string; $fault?: unknown; $retryable?: unknown };
  return $fault === "client" && $retryable === undefined && !passing.test(name);
}

/**
 * Throws an error again, unless it says that this consumer has held the message for too long: then SQS has given the message to another
 * consumer.
 */
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
