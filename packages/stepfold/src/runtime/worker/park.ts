import { parkedBy } from "../../core/draft/parking.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { ParkedEvent } from "../../core/snapshot/event.ts";
import type { Parked, Snapshot } from "../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { Claimed, Commit } from "../../ports/snapshot-store.ts";

const firstRestMs = 1_000;
const longestRestMs = 15 * 60_000;
const longestMessage = 1_000;

/** Those who drove it died, or lost it, again and again: it rests until somebody has looked at it. */
export function crashed({ crashes }: Claimed["claim"], { activePaths }: Snapshot, at: EpochMs): Parked {
  const nodes = [...new Set(activePaths.filter(({ status }) => status === "ready").map(({ nodeId }) => `"${nodeId}"`))];
  const steps = nodes.length === 0 ? "" : `; to be performed then: ${nodes.slice(0, 5).join(", ")}${nodes.length > 5 ? ", ..." : ""}`;
  const message = `${crashes} workers in a row died while they drove it, or lost it before they had committed anything${steps}`;
  return { code: "WORKER_CRASHED", message, at };
}

/** Whoever tried to drive it lacks what it needs: it is tried again, each time after twice as long, perhaps by others. */
export function lacking(error: unknown, { parked }: Snapshot, at: EpochMs): Parked | null {
  if (!StepfoldError.is(error, "DEFINITION_MISSING") && !StepfoldError.is(error, "DEFINITION_INVALID")) return null;
  const rested = parked?.until === undefined ? 0 : parked.until - parked.at;
  const restMs = Math.min(Math.max(firstRestMs, 2 * rested), longestRestMs);
  return { code: error.code, message: error.message.slice(0, longestMessage), at, until: at + restMs };
}

/** The write that lets an execution rest, and gives its claim back. It needs no definition: there may be none. */
export function parkCommit({ claim, snapshot }: Claimed, why: Parked, commitId: string): Commit {
  const { context: _, childStates: __, mapItems: ___, compensations: ____, ...head } = snapshot;
  const version = snapshot.version + 1;
  const event: ParkedEvent = { type: "parked", version, ...why };
  return {
    workflowId: claim.workflowId,
    incarnation: claim.incarnation,
    fence: claim.fence,
    release: true,
    expectedVersion: snapshot.version,
    commitId,
    head: { ...head, version, status: "parked", parked: parkedBy(event) },
    events: [event],
    wakeAt: why.until ?? null,
  };
}
