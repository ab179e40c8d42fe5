/** One mistake or warning about a workflow definition. */
export interface Issue {
  /** `error`: the workflow cannot run. `warning`: it can run, but probably not as intended. */
  readonly severity: "error" | "warning";
  readonly code: IssueCode;
  /** JSON pointer (RFC 6901) into the definition: `/nodes/3/data/url`. */
  readonly pointer: string;
  readonly message: string;
}

/** Stable name of a kind of mistake. */
export type IssueCode =
  | "NOT_JSON"
  | "TYPE"
  | "REQUIRED"
  | "KEY_UNKNOWN"
  | "ID_INVALID"
  | "ID_DUPLICATE"
  | "EDGE_DANGLING"
  | "NODE_UNREACHABLE"
  | "NODE_UNKNOWN"
  | "VARIABLE_UNKNOWN"
  | "JOIN_MISSING"
  | "JOIN_UNREACHABLE"
  | "JOIN_UNHANDLED"
  | "JOIN_LEFT"
  | "HANDLE_UNUSED"
  | "INPUT_UNKNOWN"
  | "KEY_POINTLESS"
  | "WORKFLOW_UNKNOWN"
  | "START_UNKNOWN"
  | "FINALLY_INVALID"
  | "TOO_MANY"
  | "DURATION_INVALID"
  | "MOMENT_INVALID"
  | "RETRY_INVALID"
  | "EXPRESSION_INVALID"
  | "NODE_TYPE_UNKNOWN"
  | "NODE_TYPE_MISPLACED"
  | "HANDLE_UNKNOWN"
  | "DATA_INVALID"
  | "SCHEMA_INVALID"
  | "GLOBAL_DENIED"
  | "NEED_UNKNOWN"
  | "CONDITION_CONSTANT";
