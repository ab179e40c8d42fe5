import type { AskedWait, ExecutionSummary } from "stepfold";
import type { ListedExecution } from "stepfold/client";
import type { Audience } from "./audience.ts";

/** Returns an execution of a list as a caller sees it. */
export function rowFor({ values, payloads }: Audience, summary: ExecutionSummary): ListedExecution {
  if (values) return summary;
  const { error, parked, asked } = summary;
  return {
    ...summary,
    error: error && { ...error, message: "" },
    ...(parked && { parked: { ...parked, message: "" } }),
    ...(asked && { asked: asked.map((wait) => askedFor(payloads, wait)) }),
  };
}

/** Returns a wait without what the caller may not see: an incident quotes the error of a step, a schema may have been made from data. */
function askedFor(payloads: boolean, { payload, schema, ...wait }: AskedWait): AskedWait {
  return {
    ...wait,
    ...(payload !== undefined && payloads && wait.kind !== "incident" && { payload }),
    ...(schema !== undefined && payloads && { schema }),
  };
}
