/** Codes of errors that the same call would get again: missing rights, names that exist with other settings, names that do not exist. */
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
