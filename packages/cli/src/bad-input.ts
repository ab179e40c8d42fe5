/** The stable code of a mistake in what the user gave to a command: options, files, the config or the database. */
export type BadInputCode =
  | "USAGE"
  | "FILE_NOT_FOUND"
  | "FILE_UNREADABLE"
  | "JSON_INVALID"
  | "WORKFLOW_INVALID"
  | "DEFINITION_INVALID"
  | "DEFINITION_CHANGED"
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

/**
 * The error of a command whose input cannot be used. The command has changed nothing; only `prune` may have deleted executions before it,
 * whose histories it had kept.
 */
export class BadInput extends Error {
  override readonly name: string = "BadInput";
  readonly code: BadInputCode;
  /** Tells the user what to do; null if there is no advice. */
  readonly hint: string | null;
  /** Data about the mistake for `--json`; null if there is none. */
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
