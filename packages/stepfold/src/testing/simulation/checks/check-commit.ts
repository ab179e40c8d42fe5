import { scopedKey } from "../../../core/snapshot/address.ts";
import type { Checkpoint } from "../../../core/snapshot/checkpoint.ts";
import type { Event } from "../../../core/snapshot/event.ts";
import { isTerminal, type SnapshotHead } from "../../../core/snapshot/snapshot.ts";
import type { Commit } from "../../../ports/snapshot-store.ts";
import type { Ledger, LedgerEntry } from "../ledger.ts";
import { beginsAt } from "../machines/machine.ts";
import { checkHolder } from "./check-claims.ts";
import { checkGoingOn, opensExecution } from "./check-life.ts";
import { waitOf, waitsOfState } from "./waits-in.ts";

/** The longest time between a decision and its commit. After that time, leases have ended and callers have given up. */
const maxTransitMs = 60_000;

/** Checks an acknowledged commit against everything that was acknowledged before. */
export function checkCommit(ledger: Ledger, entry: LedgerEntry, commit: Commit, machine: string | null): void {
  const { workflowId, expectedVersion, fence, head, events, release } = commit;
  const before = commit.expectedVersion === -1 ? -1 : entry.version;
  const isReopened = events[0]?.type === "restarted" && entry.status !== "completed";
  if (isTerminal(entry.status) && before !== -1 && !isReopened)
    ledger.violate("I3", `${events[0]?.type} followed the end (${entry.status})`, workflowId);
  if (expectedVersion < before) ledger.violate("I2", `version ${expectedVersion + 1} was committed twice`, workflowId);
  const versions = events.map(({ version }) => version);
  if (events.length === 0 || head.version !== before + events.length || versions.some((version, i) => version !== before + 1 + i))
    ledger.violate("I1", `versions ${versions.join(", ")} and head ${head.version} followed version ${before}`, workflowId);
  if (fence !== undefined && fence !== entry.holder?.fence)
    ledger.violate("I14", `a commit with fence ${fence} was taken, the one that holds is ${entry.holder?.fence ?? "nobody"}`, workflowId);
  if (fence !== undefined) {
    checkHolder(ledger, entry, machine);
    const step = events.find((event) => "startedAt" in event);
    if (step && entry.holder?.withoutPermit) ledger.violate("I21", `${step.type} was committed under a claim without a permit`, workflowId);
    const [first] = events;
    const isGivenUp = first?.type === "parked" && first.code === "WORKER_CRASHED";
    if (entry.crashes >= ledger.maxCrashes && first?.type !== "parked")
      ledger.violate("I9", `${entry.crashes} holders had lost it in a row, and it was driven on`, workflowId);
    if (isGivenUp && entry.crashes < ledger.maxCrashes)
      ledger.violate("I9", `${entry.crashes} holders had lost it in a row after they had begun, and it was given up`, workflowId);
    // A renewal that was sent before the commit may arrive after it, and after further renewals.
    entry.crashesBeforeCommit = Math.max(entry.crashes, entry.crashesBeforeCommit);
    entry.crashes = 0;
    if (entry.holder) entry.holder.hasBegun = false;
  }
  if (release || isTerminal(head.status)) entry.holder = null;
  // with the end of an execution its lost holders are forgotten: a restart counts anew
  if (isTerminal(head.status)) Object.assign(entry, { crashes: 0, crashesBeforeCommit: 0 });
  checkWake(ledger, commit);
  const known = [...entry.events, ...events];
  checkGoingOn(ledger, entry, commit);
  for (const event of events) {
    if (event.type === "started" && event.checkpoint) checkWaitsOfFork(ledger, workflowId, event.checkpoint);
    checkStamp(ledger, workflowId, event);
    checkTime(ledger, entry, known, event);
    checkDeadline(ledger, workflowId, known, event);
  }
}

/**
 * I7: an execution that can move by itself is due no later than the first
 * thing that moves it: a path, a timer, the outbox or the deadline.
 */
function checkWake(ledger: Ledger, { workflowId, head, wakeAt }: Commit): void {
  const needed = neededAt(head);
  if (needed !== null && (wakeAt === null || wakeAt > needed))
    ledger.violate("I7", `it is ${head.status}, needs somebody at ${needed} and is due at ${wakeAt}`, workflowId);
}

/** When the execution needs a process, in milliseconds since 1970: 0 at once, null never. */
function neededAt({ status, activePaths, outbox, deadlineAt, ending, closing }: SnapshotHead): number | null {
  if (isTerminal(status) || status === "parked") return null;
  if (outbox && outbox.length > 0) return 0;
  let needed = ending || closing ? Number.POSITIVE_INFINITY : (deadlineAt ?? Number.POSITIVE_INFINITY);
  for (const { status: standing, nextRetryAt, waits = [] } of activePaths) {
    if (standing === "ready") return 0;
    if (standing === "retrying") needed = Math.min(needed, nextRetryAt ?? 0);
    for (const { resumeAt, timeoutAt } of waits) needed = Math.min(needed, resumeAt ?? needed, timeoutAt ?? needed);
  }
  return needed === Number.POSITIVE_INFINITY ? null : needed;
}

/** I8: every event has a time of the store's clock, even if the clock of the process is wrong. */
function checkStamp(ledger: Ledger, workflowId: string, { type, at }: Event): void {
  const agoMs = ledger.nowMs - (at - beginsAt);
  if (agoMs < 0 || agoMs > maxTransitMs)
    ledger.violate(
      "I8",
      `${type} is said to have happened ${Math.abs(agoMs)} ms ${agoMs < 0 ? "after" : "before"} it was committed`,
      workflowId,
    );
}

/** I8: no timer fires too early by the store's clock, which is right. I7: without faults no timer fires late, whatever else runs. */
function checkTime(ledger: Ledger, { workflowId, head }: LedgerEntry, known: readonly Event[], event: Event): void {
  const isTimer = event.type === "timedOut" || (event.type === "resumed" && event.by === "timer");
  if (!isTimer) return;
  const wait = waitOf(known, event.waitId);
  const dueAt = event.type === "timedOut" ? wait?.timeoutAt : wait?.resumeAt;
  const earlyMs = (dueAt ?? Number.POSITIVE_INFINITY) - beginsAt - ledger.nowMs;
  if (earlyMs > 0) ledger.violate("I8", `timer ${event.waitId} fired ${earlyMs} ms early`, workflowId);
  // An execution that shares a limit may have to wait for its turn.
  if (-earlyMs > ledger.maxLateMs && !head.permit) ledger.violate("I7", `timer ${event.waitId} fired ${-earlyMs} ms late`, workflowId);
}

/** I8, I7: an execution fails neither before its deadline nor long after it. I19: no step begins after the deadline. */
function checkDeadline(ledger: Ledger, workflowId: string, known: readonly Event[], event: Event): void {
  const deadlineAt = deadlineBefore(known, event.version);
  if (event.type === "expired" && event.scope === undefined) {
    const earlyMs = (deadlineAt ?? Number.POSITIVE_INFINITY) - beginsAt - ledger.nowMs;
    if (earlyMs > 0) ledger.violate("I8", `it failed ${earlyMs} ms before its deadline`, workflowId);
    if (-earlyMs > ledger.maxLateMs) ledger.violate("I7", `it failed ${-earlyMs} ms after its deadline`, workflowId);
  }
  if (
    "startedAt" in event &&
    !event.undoes &&
    !isAtEnd(event) &&
    !isRest(event) &&
    event.startedAt >= (deadlineAt ?? Number.POSITIVE_INFINITY)
  )
    ledger.violate("I19", `${event.nodeId} was begun ${event.startedAt - deadlineAt!} ms after the deadline`, workflowId);
}

/** Returns the deadline that an event comes under: that of its run, or of the last restart. */
function deadlineBefore(known: readonly Event[], version: number): number | undefined {
  const sets = known.findLast((event) => event.version < version && opensExecution(event));
  return sets && opensExecution(sets) ? sets.deadlineAt : undefined;
}

/** True if code rests: nothing begins by that. */
function isRest(event: Event): boolean {
  return event.type === "suspended" && event.waits.length === 0;
}

/** True if a step runs at the end of the execution (`finally`), or in a child of such a step. */
function isAtEnd({ scope = "", pathId }: { readonly scope?: string; readonly pathId: string }): boolean {
  return scopedKey(scope, pathId).startsWith("finally");
}

/** I8: an execution that continues from a checkpoint of another execution waits no shorter than the other execution did then. */
function checkWaitsOfFork(ledger: Ledger, workflowId: string, { from, state }: Checkpoint): void {
  const origin = ledger.entries.get(from.workflowId);
  if (origin?.incarnation !== from.incarnation) return;
  // the other execution may have been restarted since, and a restart opens its waits again, with later times
  const known = origin!.events.filter(({ version }) => version <= from.version);
  for (const wait of waitsOfState(state)) {
    const before = waitOf(known, wait.id);
    for (const timer of ["resumeAt", "timeoutAt"] as const)
      if ((wait[timer] ?? Number.POSITIVE_INFINITY) < (before?.[timer] ?? 0))
        ledger.violate("I8", `${timer} of wait ${wait.id} is earlier than in ${from.workflowId}`, workflowId);
  }
}
