import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Limits } from "../../core/values/limits.ts";
import type { CountQuery, ExecutionSummary, Page } from "../../ports/execution-list.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";

/** The number of executions in one page of the list. */
const pageSize = 200;

/**
 * Finds the executions that wait for a signal with a key. Executions that begin to wait meanwhile may be missing.
 *
 * @param where which of these executions are listed
 * @param isMeant whether a listed execution is meant
 * @throws StepfoldError `LIMIT_EXCEEDED` if there are more executions than one signal may reach
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
      const what = `The broadcast of the signal "${name}" with the key "${key}"`;
      throw new StepfoldError("LIMIT_EXCEEDED", { what, limit: "receivers", max, actual: found.length });
    }
    cursor = page.nextCursor;
  }
  return found;
}

/** Codes of a receiver that does not wait any more. */
const gone: readonly string[] = ["WAIT_GONE", "WAIT_EXPIRED", "EXECUTION_ENDED", "WORKFLOW_NOT_FOUND"];
/** Codes that concern all receivers: the next receiver would give the same error, or nothing more may be sent. */
const callWideCodes: readonly string[] = [
  ...["STORE_UNAVAILABLE", "OUTCOME_UNKNOWN", "VERSION_CONFLICT", "FENCE_LOST", "RUNTIME_CLOSED"],
  ...["OPTION_INVALID", "OPTION_UNKNOWN"],
];

/**
 * Sends a signal to one of many receivers. Returns `gone` if the receiver no longer waits, or the error if it cannot take the signal.
 *
 * @throws errors that concern all receivers
 */
export async function outcomeOf(send: () => Promise<unknown>): Promise<"reached" | "gone" | StepfoldError> {
  try {
    await send();
    return "reached";
  } catch (error) {
    if (!StepfoldError.is(error) || callWideCodes.includes(error.code)) throw error;
    // any other error concerns this receiver alone, which may even be damaged; the other receivers still get the signal
    return gone.includes(error.code) ? "gone" : error;
  }
}
