/** Stable name of a mistake in what the command was given. */
export type BadInputCode =
  | "USAGE"
  | "FILE_NOT_FOUND"
  | "FILE_UNREADABLE"
  | "JSON_INVALID"
  | "WORKFLOW_INVALID"
  | "PAYLOAD_INVALID"
  | "START_CONFLICT"
  | "RESUME_AMBIGUOUS"
  | "RESPONDER_DENIED"
  | "WAIT_GONE"
  | "NODE_UNKNOWN"
  | "RETRY_NOT_PENDING"
  | "RESTART_COMPENSATED"
  | "NOT_PARKED"
  | "CONFIG_NOT_FOUND"
  | "CONFIG_ELSEWHERE"
  | "CONFIG_UNTRUSTED"
  | "CONFIG_INVALID"
  | "CONFIG_FAILED"
  | "DATABASE_NOT_FOUND"
  | "DATABASE_UNUSABLE"
  | "FOLDER_UNUSABLE";

/** What the command was given cannot be used. Nothing was changed. */
export class BadInput extends Error {
  override readonly name: string = "BadInput";
  readonly code: BadInputCode;
  /** What to do about it. */
  readonly hint: string | null;
  readonly details: Readonly<Record<string, unknown>> | null;

  constructor(
    code: BadInputCode,
    message: string,
    {
      hint = null,
      details = null,
      cause,
    }: { hint?: string | null; details?: Readonly<Record<string, unknown>> | null; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.code = code;
    this.hint = hint;
    this.details = details;
  }
}
