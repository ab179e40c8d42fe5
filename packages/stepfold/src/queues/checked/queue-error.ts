import { StepfoldError } from "../../core/errors/stepfold-error.ts";

/** SQLSTATEs after which the same call may succeed: connection, resources, deadlock, timeouts, shutdown and failover. */
const transientStates = /^(08|53|40001$|40P01$|40003$|55P03$|57014$|57P0|25006$|25P03$|58030$)/;

/** The same for Redis, by the first word of its answer. */
const transientReplies = /^(LOADING|READONLY|OOM|BUSY|CLUSTERDOWN|TRYAGAIN|MASTERDOWN|MISCONF|NOREPLICAS|UNBLOCKED)\b/;

/**
 * Turns an error of a queue, or of the connection to it, into a `StepfoldError`.
 *
 * @param refuses whether the server would refuse the same call again, for servers that have their own way to say so
 */
export function queueError(queue: string, cause: unknown, refuses: (cause: unknown) => boolean = () => false): StepfoldError {
  if (StepfoldError.is(cause)) return cause;
  const message = cause instanceof Error ? cause.message : String(cause);
  const details = { queue, reason: withoutUrls(message || "the connection failed") };
  return new StepfoldError(!refuses(cause) && isTransient(cause, message) ? "QUEUE_UNAVAILABLE" : "QUEUE_REJECTED", details, { cause });
}

function isTransient(cause: unknown, message: string): boolean {
  const { code, name } = (cause ?? {}) as { code?: unknown; name?: unknown };
  // a SQLSTATE: five digits or capital letters, with at least one digit
  if (typeof code === "string" && /^(?=.*\d)[0-9A-Z]{5}$/.test(code)) return transientStates.test(code);
  if (name === "ReplyError" || name === "ErrorReply") return transientReplies.test(message);
  // not from a server: a failure of the connection, unless it is a mistake in code or options
  return !(cause instanceof TypeError || cause instanceof RangeError || cause instanceof SyntaxError || code === "ERR_ASSERTION");
}

function withoutUrls(message: string): string {
  return message.replace(/\b[a-z][a-z0-9+.-]*:\/\/\S+/gi, "(address)");
}
