import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { ParkedEvent } from "../../core/snapshot/event.ts";
import type { Parked, Snapshot } from "../../core/snapshot/snapshot.ts";
import { parkedBy } from "../../core/transition/draft/draft-status.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { PreparedWorkflow } from "../../engine/workflow/prepared-workflow.ts";
import type { Claimed, Commit } from "../../ports/snapshot-store.ts";
import { publishCommit, type RuntimeContext } from "../context/runtime-context.ts";

const firstRestMs = 1_000;
const maxRestMs = 15 * 60_000;
const maxMessageLength = 1_000;

/** Gives the workflow that a claimed execution runs, or parks the execution if it cannot run here. */
export async function workflowOrPark(
  context: RuntimeContext,
  claimed: Claimed,
): Promise<{ readonly workflow: PreparedWorkflow } | { readonly parked: Snapshot }> {
  const { registry, store, maxCrashes } = context;
  const { claim, snapshot } = claimed;
  if (claim.crashes >= maxCrashes) return { parked: await park(context, claimed, afterCrashes(claim, snapshot, claim.claimedAt)) };
  try {
    return { workflow: await registry.pinned(claim.workflowId, snapshot.definition.hash) };
  } catch (error) {
    const why = withoutDefinition(error, snapshot, claim.claimedAt);
    if (why) return { parked: await park(context, claimed, why) };
    // this process has not died over it: given back, the claim counts as no crash
    await store.release(claim, snapshot.version).catch(() => undefined);
    throw error;
  }
}

async function park(context: RuntimeContext, claimed: Claimed, why: Parked): Promise<Snapshot> {
  const { store, newCommitId, onProblem } = context;
  const { workflowId } = claimed.claim;
  const commit = parkCommit(claimed, why, newCommitId());
  await store.commit(commit);
  const parked: Snapshot = Object.freeze({ ...claimed.snapshot, ...commit.head });
  publishCommit(context, { workflowId, version: parked.version, status: parked.status, snapshot: () => parked }, commit.events);
  onProblem(workflowId, new StepfoldError("EXECUTION_PARKED", { workflowId, code: why.code, message: why.message }));
  return parked;
}

/** Several workers in a row died or lost their claim: the execution rests until somebody has looked at it. */
function afterCrashes({ crashes }: Claimed["claim"], { activePaths }: Snapshot, at: EpochMs): Parked {
  const nodes = [...new Set(activePaths.filter(({ status }) => status === "ready").map(({ nodeId }) => `"${nodeId}"`))];
  const steps = nodes.length === 0 ? "" : `; to be performed then: ${nodes.slice(0, 5).join(", ")}${nodes.length > 5 ? ", ..." : ""}`;
  const message = `${crashes} workers in a row died while they drove it, or lost it before they had committed anything${steps}`;
  return { code: "WORKER_CRASHED", message, at };
}

const lackingCodes: readonly string[] = ["DEFINITION_MISSING", "DEFINITION_INVALID", "DEFINITION_CHANGED"];

/** This worker lacks the definition or a node type, or the stored definition is not the one that was pinned: it is tried again, perhaps by another worker, after twice as long each time. */
function withoutDefinition(error: unknown, { parked }: Snapshot, at: EpochMs): Parked | null {
  if (!StepfoldError.is(error) || !lackingCodes.includes(error.code)) return null;
  const restedMs = parked?.until === undefined ? 0 : parked.until - parked.at;
  const restMs = Math.min(Math.max(firstRestMs, 2 * restedMs), maxRestMs);
  return { code: error.code, message: error.message.slice(0, maxMessageLength), at, until: at + restMs };
}

/** The commit that parks an execution and gives its claim back. It is made without the definition, which may be missing. */
function parkCommit({ claim, snapshot }: Claimed, why: Parked, commitId: string): Commit {
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
