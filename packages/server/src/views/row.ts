import type { ExecutionSummary } from "stepfold";
import type { ListedExecution } from "stepfold/client";
import type { Audience } from "./audience.ts";

/** Returns an execution of a list as a caller sees it. */
export function rowFor({ values }: Audience, summary: ExecutionSummary): ListedExecution {
  if (values) return summary;
  const { error, parked } = summary;
  return { ...summary, error: error && { ...error, message: "" }, ...(parked && { parked: { ...parked, message: "" } }) };
}
