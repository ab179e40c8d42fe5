import type { SchemaIssue } from "../../errors/schema-issue.ts";
import type { EpochMs } from "../../values/json.ts";

/**
 * Why the last answer to a wait does not count: the code of its node did not accept the payload. A JSON Schema of the payload, if there is
 * one, had accepted it before.
 */
export interface Refusal {
  readonly at: EpochMs;
  /** Who had answered, according to the caller. */
  readonly who?: string;
  /** The mistakes in the payload, at most 20. */
  readonly issues: readonly SchemaIssue[];
}
