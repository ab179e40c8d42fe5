import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Status } from "../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { Claim, Claimed } from "../../ports/snapshot-store.ts";
import type { CheckedClaim } from "../record/checked-store.ts";
import { endedClaim, keptClaim } from "../record/refusal.ts";
import { type Entry, entriesBefore } from "./agenda.ts";
import { type Connection, updateItem } from "./connection.ts";
import { isInvalid } from "./dynamo-error.ts";
import type { Test } from "./expression.ts";
import { foldAway } from "./fold-children.ts";
import { type Head, headOf, readHead, rememberHead } from "./head-item.ts";
import { headKey, storedText, turnAt, turnsAtOnceAfter, turnsUntil, turnToWake } from "./keys.ts";
import { loadExecution } from "./read-execution.ts";

/** Claims made at once. */
const together = 16;

/** Takes what is due. The index only says who might be; the item itself decides. */
export async function claimDue(connection: Connection, options: CheckedClaim): Promise<Claimed[]> {
  if (options.workflowId !== undefined) {
    const one = await take(connection, options.workflowId, options);
    return one ? [one] : [];
  }
  const claimed: Claimed[] = [];
  // an index that lags shows what others have taken
  const tried = new Set<string>();
  while (claimed.length < options.limit) {
    const missing = options.limit - claimed.length;
    const limit = Math.min(missing + tried.size, 1000);
    const entries = await dueEntries(connection, limit, options);
    const fresh = entries.filter(({ workflowId, turn }) => !tried.has(`${turn} ${workflowId}`));
    if (fresh.length === 0) break;
    for (let at = 0; at < fresh.length && claimed.length < options.limit; ) {
      const some = fresh.slice(at, at + Math.min(together, options.limit - claimed.length));
      at += some.length;
      for (const { workflowId, turn } of some) tried.add(`${turn} ${workflowId}`);
      const taken = await Promise.all(some.map(({ workflowId }) => take(connection, workflowId, options)));
      for (const one of taken) if (one) claimed.push(one);
    }
  }
  return claimed;
}

/** What the index says is due, in order. */
async function dueEntries(connection: Connection, limit: number, { overdueMs }: CheckedClaim): Promise<Entry[]> {
  const latest = connection.now() - overdueMs;
  const due = { lanes: ["due"], before: turnsUntil(latest), limit } as const;
  if (overdueMs === 0) return entriesBefore(connection, due);
  const [from, to] = turnsAtOnceAfter(latest);
  const parts = [{ ...due, before: from }, ...(due.before > to ? [{ ...due, from: to }] : [])];
  return (await Promise.all(parts.map((part) => entriesBefore(connection, part)))).flat().slice(0, limit);
}

/** Prolongs a claim. */
export async function renewClaim(connection: Connection, claim: Claim): Promise<{ version: number; status: Status; storeNow: EpochMs }> {
  const { workflowId, leaseMs } = claim;
  const storeNow = connection.now();
  const outcome = await updateItem(
    connection,
    { pk: connection.keys.execution(workflowId), sk: headKey },
    {
      set: { turn: turnAt(storeNow + leaseMs) },
      when: heldBy(claim),
    },
  );
  const { version, status } =
    "value" in outcome ? headOf(connection, outcome.value)! : endedClaim(claim, headOf(connection, outcome.stored));
  return { version, status, storeNow };
}

/** Gives a claim back. */
export async function releaseClaim(connection: Connection, claim: Claim, version: number): Promise<void> {
  const { workflowId } = claim;
  const stored = await readHead(connection, workflowId);
  if (!isHeld(stored, claim) || stored.version !== version) return keptClaim(claim, version, stored);
  const { wakeAt, made, pk, crashes } = stored;
  const outcome = await updateItem(
    connection,
    { pk, sk: headKey },
    {
      // when it wakes depends on the version alone
      set: {
        owner: null,
        turn: wakeAt === null ? null : turnToWake(wakeAt, connection.now(), made),
        nextCrashes: crashes === 0 ? null : crashes,
      },
      when: [...heldBy(claim), ["version", "=", version]],
    },
  );
  if ("stored" in outcome) keptClaim(claim, version, headOf(connection, outcome.stored));
}

function isHeld(stored: Head | null, { incarnation, fence }: Claim): stored is Head {
  return stored?.incarnation === incarnation && stored.fence === fence && stored.owner !== null;
}

function heldBy({ incarnation, fence }: Claim): Test[] {
  return [
    ["incarnation", "=", storedText(incarnation)],
    ["fence", "=", fence],
    ["owner", "exists"],
    ["deletedAt", "absent"],
  ];
}

/**
 * Claims one. Null if it is not due after all, or if what is stored is damaged: then it stays claimed until the lease ends,
 * so that it is not tried again and again.
 */
async function take(connection: Connection, workflowId: string, options: CheckedClaim): Promise<Claimed | null> {
  const { owner, leaseMs } = options;
  const claimedAt = connection.now();
  try {
    const head = await takeHead(connection, workflowId, options, claimedAt);
    const loaded = head && (await loadExecution(connection, workflowId, head));
    if (!loaded) return null;
    await foldAway(connection, loaded);
    const { incarnation, fence, crashes } = head;
    return { claim: { workflowId, incarnation, owner, leaseMs, fence, claimedAt, crashes }, snapshot: loaded.snapshot };
  } catch (error) {
    if (StepfoldError.is(error, "STORE_REJECTED") || isInvalid(error)) return null;
    throw error;
  }
}

async function takeHead(
  connection: Connection,
  workflowId: string,
  { owner, leaseMs, overdueMs }: CheckedClaim,
  claimedAt: EpochMs,
): Promise<Head | null> {
  const latest = claimedAt - overdueMs;
  const outcome = await updateItem(
    connection,
    { pk: connection.keys.execution(workflowId), sk: headKey },
    {
      set: { owner: storedText(owner), turn: turnAt(claimedAt + leaseMs) },
      // counts this claim; whoever gives it back takes it out again
      add: { fence: 1, nextCrashes: 1 },
      when: [
        ["turn", "<", turnsUntil(latest)],
        ...(overdueMs > 0 ? ([["turn", "outside", ...turnsAtOnceAfter(latest)]] as const) : []),
        ["endedAt", "absent"],
        ["deletedAt", "absent"],
      ],
    },
  );
  if ("stored" in outcome) return null;
  const head = headOf(connection, outcome.value);
  if (head) rememberHead(connection, head);
  return head;
}
