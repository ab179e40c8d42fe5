import type { EpochMs, Snapshot, Status } from "stepfold";
import { durationText } from "../text/duration-text.ts";
import type { Store } from "./database.ts";

/** An execution that does not go on as it should. */
interface Finding {
  readonly workflowId: string;
  readonly kind: "parked" | "unclaimed" | "abandoned" | "crashing";
  readonly sentence: string;
}

/** Where executions that have not ended stand. */
export interface OpenExecutions {
  readonly counts: Readonly<Partial<Record<Status, number>>>;
  /** The first of each kind; how many there are in all is in `found`. */
  readonly findings: readonly Finding[];
  readonly found: number;
  /** There are more executions than were looked at. */
  readonly isPartial: boolean;
}

type Summary = Awaited<ReturnType<Store["list"]>>["items"][number];

const pageSize = 1_000;
const maxPerStatus = 20_000;
const maxReported = 20;
/** How long an execution may be due before it counts as stuck: clocks may differ, and workers poll only now and then. */
const graceMs = 60_000;

/** Looks for executions that are stuck: parked, due and not claimed, held by a process without sign of life, or killing workers. */
export async function examineExecutions(store: Store, now: EpochMs): Promise<OpenExecutions> {
  const counts: Partial<Record<Status, number>> = {};
  const findings: Finding[] = [];
  let [found, isPartial] = [0, false];
  for (const status of ["parked", "active", "error", "paused"] as const) {
    let cursor: string | null = null;
    let count = 0;
    do {
      const page = await store.list({ status: [status], limit: pageSize, ...(cursor !== null && { cursor }) });
      for (const summary of page.items) {
        const told = await findingOf(summary, now, () => store.load(summary.workflowId), findings.length < maxReported);
        if (!told) continue;
        found++;
        if (findings.length < maxReported) findings.push(told);
      }
      count += page.items.length;
      cursor = page.nextCursor;
    } while (cursor !== null && count < maxPerStatus);
    isPartial ||= cursor !== null;
    counts[status] = count;
  }
  return { counts, findings, found, isPartial };
}

async function findingOf(summary: Summary, now: EpochMs, load: () => Promise<Snapshot | null>, isTold: boolean): Promise<Finding | null> {
  const { workflowId, status, wakeAt, updatedAt, lease } = summary;
  if (status === "parked") {
    const parked = isTold ? (await load())?.parked : undefined;
    const why = parked ? `${parked.message} (${parked.code})` : "";
    const then = parked && parked.until === undefined ? "; stepfold dlq retry lets it go on" : "";
    return { workflowId, kind: "parked", sentence: `is parked: ${why}${then}` };
  }
  if (lease) {
    const silentMs = now - lease.until;
    if (silentMs > graceMs) {
      const sentence = `is held by ${lease.owner}, whose lease ended ${durationText(silentMs)} ago, and nobody has taken it over: does a worker run?`;
      return { workflowId, kind: "abandoned", sentence };
    }
    if (lease.crashes > 0) {
      return { workflowId, kind: "crashing", sentence: `has been lost by ${lease.crashes} workers in a row; ${lease.owner} tries now` };
    }
    return null;
  }
  const lateMs = wakeAt === null ? 0 : now - (wakeAt === 0 ? updatedAt : wakeAt);
  if (lateMs <= graceMs) return null;
  return {
    workflowId,
    kind: "unclaimed",
    sentence: `has been due for ${durationText(lateMs)}, and nobody has taken it: does a worker run?`,
  };
}
