import { type EpochMs, type LiveWorker, noWorkerFor, noWorkerText, type Snapshot, type Status } from "stepfold";
import { durationText } from "stepfold/core";
import type { Store } from "./database.ts";

/** An execution that does not go on as it should. */
interface Finding {
  readonly workflowId: string;
  /** `unclaimed`: due, but no worker takes it. `abandoned`: its lease ended, but no worker takes it over. `crashing`: it kills workers. */
  readonly kind: "parked" | "unclaimed" | "abandoned" | "crashing";
  readonly sentence: string;
}

/** The state of the executions that have not ended. */
export interface OpenExecutions {
  readonly counts: Readonly<Partial<Record<Status, number>>>;
  /** The first findings; `found` is the number of all of them. */
  readonly findings: readonly Finding[];
  readonly found: number;
  /** True if there are more executions than were looked at. */
  readonly isPartial: boolean;
}

type Summary = Awaited<ReturnType<Store["list"]>>["items"][number];

const pageSize = 1_000;
/** The most executions of one status that are looked at. */
const maxPerStatus = 20_000;
/** The most findings that are reported one by one. */
const maxReported = 20;
/** How long an execution may be due before it counts as stuck: clocks may differ, and workers poll only now and then. */
const graceMs = 60_000;

/** Finds executions that are stuck: parked, due and not claimed, held by a process without a sign of life, or killing workers. */
export async function examineExecutions(store: Store, now: EpochMs): Promise<OpenExecutions> {
  const counts: Partial<Record<Status, number>> = {};
  const findings: Finding[] = [];
  let [found, isPartial] = [0, false];
  const workers = (await store.workers?.()) ?? [];
  for (const status of ["parked", "active", "error", "paused"] as const) {
    let cursor: string | null = null;
    let count = 0;
    do {
      const page = await store.list({ status: [status], limit: pageSize, ...(cursor !== null && { cursor }) });
      for (const summary of page.items) {
        const told = await findingOf(summary, {
          now,
          workers,
          load: () => store.load(summary.workflowId),
          isTold: findings.length < maxReported,
        });
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

/** What an execution is examined with. */
interface Examining {
  readonly now: EpochMs;
  readonly workers: readonly LiveWorker[];
  /** Loads the execution. */
  readonly load: () => Promise<Snapshot | null>;
  /** True: the reason why it is parked, or why no worker can run it, is looked up too. */
  readonly isTold: boolean;
}

/** Returns what is wrong with an execution; null if nothing is. */
async function findingOf(summary: Summary, { now, workers, load, isTold }: Examining): Promise<Finding | null> {
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
  // 0 means due at once: such an execution is due since its last change
  const lateMs = wakeAt === null ? 0 : now - (wakeAt === 0 ? updatedAt : wakeAt);
  if (lateMs <= graceMs) return null;
  const snapshot = isTold && workers.length > 0 ? await load() : null;
  const nobody = snapshot && noWorkerFor(snapshot, workers);
  const why = nobody ? `nobody has taken it. ${noWorkerText(nobody)}` : "nobody has taken it: does a worker run?";
  return { workflowId, kind: "unclaimed", sentence: `has been due for ${durationText(lateMs)}, and ${why}` };
}
