/** A failed request, as it is shown. */
export interface Failure {
  /** The code of the error; `CONNECTION_LOST` if there was no answer. */
  readonly code: string;
  readonly message: string;
  /** By which the operators of the server find the request in their logs. */
  readonly requestId: string | null;
  /** The status of the answer; 0 if there was none. */
  readonly httpStatus: number;
  readonly at: number;
}

/**
 * Returns what to show of something that a call of the client has thrown.
 *
 * @param at the time of the failure, in milliseconds since 1970
 */
export function failureOf(thrown: unknown, at: number): Failure {
  const { code, message, status, requestId } = membersOf(thrown);
  const hasCode = typeof code === "string" && code !== "";
  return {
    code: hasCode ? code : "CONNECTION_LOST",
    message: typeof message === "string" && message !== "" && hasCode ? message : "The server does not answer.",
    requestId: typeof requestId === "string" ? requestId : null,
    httpStatus: typeof status === "number" ? status : 0,
    at,
  };
}

/** Returns a failure as text that can be sent to the people who run the server. */
export function failureText({ code, message, requestId, at }: Failure): string {
  return [`${code}: ${message}`, ...(requestId ? [`request ${requestId}`] : []), new Date(at).toISOString()].join("\n");
}

function membersOf(thrown: unknown): Readonly<Record<string, unknown>> {
  return typeof thrown === "object" && thrown !== null ? (thrown as Readonly<Record<string, unknown>>) : {};
}
