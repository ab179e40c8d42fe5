import type { Status } from "../../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { Claim, Claimed } from "../../../ports/snapshot-store.ts";
import type { CheckedClaim } from "../../kit/checked-store.ts";
import { endedClaim, keptClaim } from "../../kit/verdict.ts";
import { shareRoom } from "../../record/share-room.ts";
import { type Entry, entriesBefore } from "./agenda.ts";
import { claimInLine } from "./claim-line.ts";
import { claimInLines } from "./claim-lines.ts";
import { claimedOf, unlessDamaged } from "./claimed-execution.ts";
import { type Head, headOf, noteKey, readHead, rememberHead } from "./dynamo-heads.ts";
import { headKey, storedText, turnAt, turnIn, turnsAtOnceAfter, turnsUntil, turnToWake } from "./dynamo-keys.ts";
import { type Connection, updateItem } from "./dynamo-requests.ts";
import type { Test } from "./expression.ts";

/** Claims made at once. */
const together = 16;

/** Takes what is due. The index only says who might be; the item itself decides. */
export async function claimDue(connection: Connection, options: CheckedClaim): Promise<readonly Claimed[]> {
  const { workflowId, permit, limit } = options;
  if (workflowId !== undefined) return claimOne(connection, workflowId, options);
  if (permit !== undefined) return claimInLine(connection, permit, options);
  // in lines what is due at once and what has a time go together
  if (options.timedOnly) return claimPlain(connection, options);
  const plain = (most: number): Promise<Claimed[]> => claimPlain(connection, { ...options, limit: most });
  return shareRoom(connection.walk, limit, plain, (most) => claimInLines(connection, { ...options, limit: most }));
}

/** Claims the one with an id, in its line if it has to wait for its turn. */
async function claimOne(connection: Connection, workflowId: string, options: CheckedClaim): Promise<readonly Claimed[]> {
  const found = await take(connection, workflowId, options);
  if (typeof found === "string") return claimInLine(connection, found, { ...options, limit: 1 });
  return found ? [found] : [];
}

/** Claims of those that take turns with nobody. */
async function claimPlain(connection: Connection, options: CheckedClaim): Promise<Claimed[]> {
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
      for (const one of taken) if (one && typeof one !== "string") claimed.push(one);
    }
  }
  return claimed;
}

/** What the index says is due, in order. */
async function dueEntries(connection: Connection, limit: number, { overdueMs, timedOnly }: CheckedClaim): Promise<Entry[]> {
  const latest = connection.now() - overdueMs;
  const due = { lanes: ["due"], before: turnsUntil(latest), limit } as const;
  const [from, to] = turnsAtOnceAfter(latest);
  if (timedOnly) return entriesBefore(connection, { ...due, from: to });
  if (overdueMs === 0) return entriesBefore(connection, due);
  const parts = [{ ...due, before: from }, ...(due.before > to ? [{ ...due, from: to }] : [])];
  return (await Promise.all(parts.map((part) => entriesBefore(connection, part)))).flat().slice(0, limit);
}

/** Prolongs a claim. */
export async function renewClaim(connection: Connection, claim: Claim): Promise<{ version: number; status: Status; storeNow: EpochMs }> {
  const { workflowId, incarnation, leaseMs } = claim;
  const storeNow = connection.now();
  const pk = connection.keys.execution(workflowId);
  const prolong = (line: string | null): ReturnType<typeof updateItem> => {
    const when = [...heldBy(claim), line === null ? (["permitKey", "absent"] as const) : (["permitKey", "=", storedText(line)] as const)];
    return updateItem(connection, { pk, sk: headKey }, { set: { turn: turnIn(line, turnAt(storeNow + leaseMs)) }, when });
  };
  const known = connection.lines.get(noteKey(pk, incarnation)) ?? null;
  let outcome = await prolong(known);
  // a handle that has not met it
  const stored = "stored" in outcome ? headOf(connection, outcome.stored) : null;
  if (isHeld(stored, claim) && (stored.permit?.key ?? null) !== known) {
    rememberHead(connection, stored);
    outcome = await prolong(stored.permit?.key ?? null);
  }
  const { version, status } =
    "value" in outcome ? headOf(connection, outcome.value)! : endedClaim(claim, headOf(connection, outcome.stored));
  return { version, status, storeNow };
}

/** Gives a claim back. */
export async function releaseClaim(connection: Connection, claim: Claim, version: number): Promise<void> {
  const { workflowId } = claim;
  const stored = await readHead(connection, workflowId);
  if (!isHeld(stored, claim) || stored.version !== version) return keptClaim(claim, version, stored);
  const { wakeAt, made, pk, crashes, permit } = stored;
  const line = permit?.key ?? null;
  const outcome = await updateItem(
    connection,
    { pk, sk: headKey },
    {
      // when it wakes depends on the version alone
      set: {
        owner: null,
        turn: wakeAt === null ? null : turnIn(line, turnToWake(wakeAt, connection.now(), made)),
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

/** Claims one. Null if it is not due after all, or damaged; the key of its permit if it has one. */
function take(connection: Connection, workflowId: string, options: CheckedClaim): Promise<Claimed | string | null> {
  const claimedAt = connection.now();
  return unlessDamaged(async () => {
    const found = await takeHead(connection, workflowId, options, claimedAt);
    if (found === null || typeof found === "string") return found;
    return claimedOf(connection, found, options, claimedAt);
  });
}

async function takeHead(
  connection: Connection,
  workflowId: string,
  { owner, leaseMs, overdueMs }: CheckedClaim,
  claimedAt: EpochMs,
): Promise<Head | string | null> {
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
        ["permitKey", "absent"],
        ["endedAt", "absent"],
        ["deletedAt", "absent"],
      ],
    },
  );
  return "stored" in outcome ? (headOf(connection, outcome.stored)?.permit?.key ?? null) : headOf(connection, outcome.value);
}
