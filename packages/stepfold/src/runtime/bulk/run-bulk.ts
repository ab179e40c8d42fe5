import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Status } from "../../core/snapshot/snapshot.ts";
import { refuseUnknown } from "../../core/values/check-arguments.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { CountQuery, ExecutionSummary, ListQuery, Page } from "../../ports/execution-list.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";
import { type Caller, queryIn } from "../callers/caller.ts";
import { requireNoSchedule } from "../context/require-no-schedule.ts";
import type { Run } from "../handle/run.ts";
import type { BulkAction, BulkOptions, BulkOutcome } from "./bulk.ts";
import { type BulkMove, moveOf } from "./bulk-moves.ts";
import { checkWhere } from "./check-where.ts";

/** The number of executions in one page of the list. */
const pageSize = 200;
/** Codes of errors that concern the whole call, and not only one execution. */
const callWideCodes: ReadonlySet<string> = new Set(["STORE_UNAVAILABLE", "RUNTIME_CLOSED", "OPTION_INVALID", "OPTION_UNKNOWN"]);

/** What a bulk action needs of a runtime. */
export interface BulkHost {
  readonly store: SnapshotStore;
  readonly caller: Caller;
  /** The time by the store's clock. */
  now(): Promise<EpochMs>;
  /** Returns the handle of an execution. */
  run(workflowId: string): Run;
  /** Throws once the runtime is closed. */
  requireOpen(action: string): void;
}

/**
 * Applies an action to many executions, one after the other, and yields the outcome of each. An execution that refuses the action, for
 * example because it has ended meanwhile, has the outcome `refused`; one that was deleted is left out. The others are not affected.
 */
export async function* runBulk(host: BulkHost, action: BulkAction, options: BulkOptions): AsyncGenerator<BulkOutcome, void, void> {
  refuseUnknown("runtime.bulk", options, ["where", "dryRun", "limit"]);
  const { where = {}, dryRun = false, limit = Number.POSITIVE_INFINITY } = options;
  if (limit !== Number.POSITIVE_INFINITY && !(Number.isInteger(limit) && limit >= 1))
    throw invalid("limit", "must be a whole number above 0");
  checkWhere("runtime.bulk", where);
  const move = moveOf(action);
  const status = statusesOf(move, action, where.status);
  let count = 0;
  for await (const summary of listed(host, queryIn(host.caller, { ...where, status }))) {
    const outcome = await applyMove(host, { move, action: action.action, dryRun }, summary);
    if (!outcome) continue;
    yield outcome;
    if (++count >= limit) return;
  }
}

/**
 * Lists the executions that exist now, and not those that are created meanwhile. If the store can sort, the oldest comes first: so an
 * execution comes before the detached executions that it has started, which end with it.
 */
async function* listed({ store, now, requireOpen }: BulkHost, where: CountQuery): AsyncGenerator<ExecutionSummary, void, void> {
  const createdBefore = Math.min(where.createdBefore ?? Number.POSITIVE_INFINITY, (await now()) + 1);
  const query: ListQuery = { ...where, createdBefore, limit: pageSize, ...(store.features.lists && { order: "oldest" }) };
  for (let cursor: string | null | undefined; cursor !== null; ) {
    requireOpen("do anything to executions");
    const page: Page<ExecutionSummary> = await store.list({ ...query, ...(cursor !== undefined && { cursor }) });
    yield* page.items;
    cursor = page.nextCursor;
  }
}

/** Applies an action to one execution, which must not be a schedule. Null: there is nothing to do, or the execution was deleted. */
async function applyMove(
  { run }: BulkHost,
  { move, action, dryRun }: { readonly move: BulkMove; readonly action: BulkAction["action"]; readonly dryRun: boolean },
  summary: ExecutionSummary,
): Promise<BulkOutcome | null> {
  const { workflowId, status } = summary;
  try {
    requireNoSchedule(summary, action);
    const did = await move.do(run(workflowId), dryRun);
    return did && { workflowId, status, ...did };
  } catch (error) {
    if (!StepfoldError.is(error) || callWideCodes.has(error.code)) throw error;
    if (error.code === "WORKFLOW_NOT_FOUND") return null;
    return { workflowId, status, outcome: "refused", error: { message: error.message, code: error.code } };
  }
}

/** Returns the statuses to look for. @throws StepfoldError `OPTION_INVALID` if the action cannot be applied to one of those asked for */
function statusesOf({ statuses }: BulkMove, { action }: BulkAction, asked: readonly Status[] = statuses): readonly Status[] {
  const impossible = asked.find((status) => !statuses.includes(status));
  if (impossible === undefined) return asked;
  throw invalid("where.status", `must not be "${impossible}": ${action} is for executions that are ${statuses.join(", ")}`);
}

function invalid(option: string, reason: string): StepfoldError {
  return new StepfoldError("OPTION_INVALID", { option, reason });
}
