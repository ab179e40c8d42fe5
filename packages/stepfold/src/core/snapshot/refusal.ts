import type { SchemaIssue } from "../errors/schema-issue.ts";
import type { EpochMs } from "../values/json.ts";

/** Why the last answer to a wait does not count: the code of its node did not accept what the JSON Schema had let through. */
export interface Refusal {
  readonly at: EpochMs;
  /** Who had answered, as told. */
  readonly who?: string;
  /** What is wrong with the payload: at most 20 of it. */
  readonly issues: readonly SchemaIssue[];
}
