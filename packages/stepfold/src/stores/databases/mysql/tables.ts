import { StepfoldError } from "../../../core/errors/stepfold-error.ts";

/** Names of the tables, quoted. */
export interface Tables {
  readonly executions: string;
  readonly events: string;
  readonly children: string;
  readonly definitions: string;
  readonly tombstones: string;
  readonly blobs: string;
  readonly permits: string;
  readonly layout: string;
  readonly results: string;
  readonly contexts: string;
  readonly view: string;
}

/** What the parts of a store depend on. */
export interface Settings {
  readonly tables: Tables;
  /** How long the id of a deleted execution stays taken. */
  readonly retentionMs: number;
  /** Of the values of one statement. */
  readonly maxBytes: number;
}

/**
 * The tables of a prefix.
 *
 * @throws StepfoldError `OPTION_INVALID` unless it consists of at most 44 letters, digits and underscores
 */
export function tablesOf(prefix: string): Tables {
  // a name may have 64 characters
  if (typeof prefix !== "string" || !/^[A-Za-z0-9_]{0,44}$/.test(prefix)) {
    throw new StepfoldError("OPTION_INVALID", { option: "prefix", reason: "must be letters, digits and underscores, at most 44" });
  }
  const name = (table: string): string => `\`${prefix}${table}\``;
  return {
    executions: name("executions"),
    events: name("events"),
    children: name("children"),
    definitions: name("definitions"),
    tombstones: name("tombstones"),
    blobs: name("blobs"),
    permits: name("permits"),
    layout: name("layout"),
    results: name("execution_results"),
    contexts: name("execution_contexts"),
    view: name("workflow_executions"),
  };
}

/**
 * The server's clock in epoch milliseconds, as of the beginning of the statement: whatever the session's time zone is, and
 * also while clocks are set back in autumn.
 */
export const clock = "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(6)) DIV 1000)";

/** For `status IN ...`. */
export const terminal = "('completed', 'failed', 'cancelled')";
