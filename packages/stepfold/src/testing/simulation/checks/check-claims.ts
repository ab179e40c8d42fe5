import { isTerminal } from "../../../core/snapshot/snapshot.ts";
import type { Claim, ClaimOptions } from "../../../ports/snapshot-store.ts";
import type { Ledger, LedgerEntry } from "../ledger.ts";
import { beginsAt } from "../machines/machine.ts";

/**
 * How many milliseconds an execution that is due may wait for a process
 * that was told of it. A later claim by a poll counts as a rescue.
 */
const graceMs = 150;

/**
 * I14: fences rise, and no process gets an execution that another process holds. I3: no ended execution is claimed. The claim also
 * becomes the holder in the ledger.
 *
 * @param options the options of the call; null if the execution was created with the claim
 * @param machine the process that made the call; null if it is not known
 */
export function checkClaim(ledger: Ledger, claim: Claim, options: ClaimOptions | null, machine: string | null): void {
  const { workflowId, owner, fence, leaseMs, withoutPermit = false } = claim;
  const entry = ledger.entries.get(workflowId);
  if (!entry) {
    ledger.violate("I14", "what is not there was claimed", workflowId);
    return;
  }
  if (fence <= entry.fence) ledger.violate("I14", `a claim got fence ${fence} after ${entry.fence}`, workflowId);
  const name = `${workflowId} ${entry.incarnation} ${fence}`;
  // A `create` that is sent again is the same commit of the same process, and returns the same claim.
  if (options !== null && fence > entry.fence && ledger.fences.has(name))
    ledger.violate("I14", `a claim got fence ${fence}, which a failover has lost and somebody may still use`, workflowId);
  ledger.fences.add(name);
  if (entry.holder && ledger.nowMs < entry.holder.untilMs)
    ledger.violate(
      "I14",
      `${owner} got what ${entry.holder.owner} holds for another ${entry.holder.untilMs - ledger.nowMs} ms`,
      workflowId,
    );
  if (isTerminal(entry.status)) ledger.violate("I3", "what has ended was claimed", workflowId);
  if (!withoutPermit) checkPermit(ledger, entry);
  const isFound = options !== null && options.workflowId === undefined;
  // An execution that shares a limit waits for its turn, and no process is told when its turn comes.
  const wasTold = !ledger.isMixed && !entry.head.permit && !entry.head.rate && (entry.wakeAt === 0 || ledger.hasQueue);
  const dueAtMs = Math.max(entry.committedAtMs, (entry.wakeAt ?? 0) - beginsAt);
  if (entry.holder || (isFound && wasTold && ledger.nowMs - dueAtMs > graceMs)) ledger.rescues++;
  // A claim that was lost before its holder had begun is the fault of a slow store, not of the execution.
  if (entry.holder?.hasBegun && !isLostAgain(ledger, entry)) entry.crashes++;
  entry.crashesBeforeCommit = 0;
  entry.fence = Math.max(fence, entry.fence);
  entry.holder = { owner, machine, fence, untilMs: ledger.nowMs + leaseMs, hasBegun: false, withoutPermit };
}

/** I21: no more executions that share a limit are held at the same time than the limit allows. */
function checkPermit(ledger: Ledger, entry: LedgerEntry): void {
  const { permit } = entry.head;
  if (!permit) return;
  const isHeld = ({ head, holder }: LedgerEntry): boolean =>
    head.permit?.key === permit.key && holder !== null && !holder.withoutPermit && ledger.nowMs < holder.untilMs;
  const others = [...ledger.entries.values()].filter((other) => other !== entry && isHeld(other)).length;
  if (others >= permit.limit)
    ledger.violate(
      "I21",
      `it was claimed as one more than ${others} of key ${permit.key}, whose limit is ${permit.limit}`,
      entry.workflowId,
    );
}

/**
 * True if the same brown-out has already cost the execution a holder. Only one holder of an execution can have begun when the store
 * became slow. All later ones get no answer to their claims in time, so none of them begins.
 */
function isLostAgain({ brownOut }: Ledger, entry: LedgerEntry): boolean {
  const { untilMs } = entry.holder!;
  if (!brownOut || untilMs < brownOut.fromMs || untilMs > brownOut.untilMs) return false;
  const isAgain = entry.brownOut === brownOut;
  entry.brownOut = brownOut;
  return isAgain;
}

/** I14: only the holder of an execution may renew its claim. */
export function checkRenewal(ledger: Ledger, { workflowId, owner, fence, leaseMs, crashes }: Claim, machine: string | null): void {
  const entry = ledger.entries.get(workflowId);
  if (!entry || isTerminal(entry.status)) return;
  if (entry.holder?.fence === fence) {
    checkHolder(ledger, entry, machine);
    entry.holder.untilMs = ledger.nowMs + leaseMs;
    entry.holder.hasBegun = true;
    passOnLosses(entry, crashes);
  } else ledger.violate("I14", `${owner} prolonged what it had lost`, workflowId);
}

/**
 * Takes over the count of crashes that a renewal or release stores. A holder that does not know yet that its
 * commit was applied passes the count of its claim; with a later renewal or release it corrects the count.
 */
function passOnLosses(entry: LedgerEntry, crashes: number): void {
  if (entry.crashesBeforeCommit > 0) entry.crashes = Math.min(crashes, entry.crashesBeforeCommit);
}

/** I14: no process uses the claim of another process, also if a failover has lost the claim of the first one. */
export function checkHolder(ledger: Ledger, { workflowId, holder }: LedgerEntry, machine: string | null): void {
  if (holder?.machine && machine && holder.machine !== machine)
    ledger.violate("I14", `${machine} went on under the claim of ${holder.machine}`, workflowId);
}

/** I7: a holder releases only the version that it knows. Otherwise no process would react to a newer commit from outside. */
export function checkRelease(ledger: Ledger, { workflowId, fence, crashes }: Claim, version: number): void {
  const entry = ledger.entries.get(workflowId);
  if (entry?.holder?.fence !== fence) return;
  if (version !== entry.version) ledger.violate("I7", `version ${entry.version} was given back as version ${version}`, workflowId);
  passOnLosses(entry, crashes);
  entry.holder = null;
}
