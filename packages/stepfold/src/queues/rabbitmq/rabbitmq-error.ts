/** What RabbitMQ refuses for good: rights, names that are taken with other settings, things that are not there. */
const refusals: readonly string[] = [
  "ACCESS_REFUSED",
  "NOT_ALLOWED",
  "NOT_FOUND",
  "PRECONDITION_FAILED",
  "NOT_IMPLEMENTED",
  "COMMAND_INVALID",
];

/** Whether the same call would be refused again. */
export function isRefusedByRabbitmq(cause: unknown): boolean {
  const { code } = (cause ?? {}) as { code?: unknown };
  return refusals.includes(String(code));
}
