import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Limits } from "../../core/values/limits.ts";
import type { CountQuery, ExecutionSummary, Page, SnapshotStore } from "../../ports/snapshot-store.ts";

/** Executions that are listed at once. */
const pageSize = 200;

/**
 * The executions that wait for a signal under a key now. What begins to wait meanwhile may be among them or not.
 *
 * @param where which of them
 * @throws StepfoldError `LIMIT_EXCEEDED` if they are more than one signal may reach
 */
export async function receiversOf(
  store: Pick<SnapshotStore, "list">,
  signal: { readonly name: string; readonly key: string },
  where: CountQuery,
  { receivers: max }: Pick<Limits, "receivers">,
  isMeant: (summary: ExecutionSummary) => boolean = () => true,
): Promise<readonly string[]> {
  const { name, key } = signal;
  const found: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = { ...where, waiting: { ...where.waiting, signal: name, key }, limit: pageSize, ...(cursor !== undefined && { cursor }) };
    const page: Page<ExecutionSummary> = await store.list(query);
    for (const item of page.items) if (isMeant(item)) found.push(item.workflowId);
    if (found.length > max) {
      const what = `A signal "${name}" to all that wait for it with the key "${key}"`;
      throw new StepfoldError("LIMIT_EXCEEDED", { what, limit: "receivers", max, actual: found.length });
    }
    cursor = page.nextCursor;
  }
  return found;
}

/** Codes of a receiver that does not wait any more. */
const gone: readonly string[] = ["WAIT_GONE", "WAIT_EXPIRED", "EXECUTION_ENDED", "WORKFLOW_NOT_FOUND"];
/** Codes that are no matter of one receiver: the next one would fare no better, or nothing more is to be sent. */
const ofAll: readonly string[] = [
  ...["STORE_UNAVAILABLE", "OUTCOME_UNKNOWN", "VERSION_CONFLICT", "FENCE_LOST", "RUNTIME_CLOSED"],
  ...["OPTION_INVALID", "OPTION_UNKNOWN"],
];

/**
 * What has become of a signal to one of many.
 *
 * @throws whatever is no matter of this receiver
 */
export async function outcomeOf(send: () => Promise<unknown>): Promise<"reached" | "gone" | StepfoldError> {
  try {
    await send();
    return "reached";
  } catch (error) {
    if (!StepfoldError.is(error) || ofAll.includes(error.code)) throw error;
    // else it waits and cannot take it, be it that somebody has damaged it: that keeps nothing from the others
    return gone.includes(error.code) ? "gone" : error;
  }
}
