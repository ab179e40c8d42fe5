/** Statuses of JetStream after which the same call may succeed: JetStream starts, has no leader, or is overloaded. */
const passing: readonly unknown[] = [408, 429, 503];

/** Whether NATS would refuse the same call again. */
export function isRefusedByNats(cause: unknown): boolean {
  if (!(cause instanceof Error)) return false;
  if (/^(InvalidName|InvalidArgument|InvalidSubject|PermissionViolation|Authorization|JetStreamNotEnabled)/.test(cause.name)) return true;
  const { status } = cause as { readonly status?: unknown };
  return typeof status === "number" && !passing.includes(status) && !isMissing(cause);
}

/** Whether the stream or the consumer does not exist; the next call creates it. */
export function isMissing(cause: unknown): boolean {
  return cause instanceof Error && /^(StreamNotFound|ConsumerNotFound|NoResponders)/.test(cause.name);
}
