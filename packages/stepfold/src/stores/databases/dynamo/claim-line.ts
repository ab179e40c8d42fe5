import type { EpochMs } from "../../../core/values/json.ts";
import type { Claimed } from "../../../ports/snapshot-store.ts";
import type { CheckedClaim } from "../../kit/checked-store.ts";
import { type Entry, entriesOf } from "./agenda.ts";
import { claimedOf } from "./claimed-execution.ts";
import type { TransactAction } from "./dynamo-client.ts";
import { failedCondition, isCongestion } from "./dynamo-error.ts";
import type { Head } from "./dynamo-heads.ts";
import { headKey, isDueAt, noTurn, readTurn, storedText, turnAt, turnIn, turnsAtOnceAfter, turnsUntil } from "./dynamo-keys.ts";
import { type Connection, pause, updateAction } from "./dynamo-requests.ts";
import { endLost, hasRoom, type NewHolder, type PermitRow, permitRows, rowAction } from "./permit-row.ts";

/** Most executions that are claimed at once. */
const mostTogether = 16;

/** How many are looked at beside those that are wanted. */
const mostSpare = 256;

/** How often it is tried to write a row that others write in the same moment: each time, one of them was let in. */
const mostTries = 20;

/** Claims executions that share a key, longest due first; with `workflowId` that one, if there is a place for it. */
export function claimInLine(connection: Connection, key: string, options: CheckedClaim): Promise<readonly Claimed[]> {
  const { workflowId, overdueMs } = options;
  return connection.turnstile.pass(`key ${key}`, workflowId === undefined ? overdueMs : null, () => claimNext(connection, key, options));
}

async function claimNext(
  connection: Connection,
  key: string,
  options: CheckedClaim,
): Promise<{ readonly found: readonly Claimed[]; readonly isAll: boolean }> {
  const claimed: Claimed[] = [];
  let spare = 4;
  for (let tries = 0; tries < mostTries && claimed.length < options.limit; tries++) {
    if (tries > 0) await pause(tries);
    const wanted = Math.min(options.limit - claimed.length, mostTogether);
    const looked = wanted + spare;
    const { row, found, waiting } = await readLine(connection, key, looked, options);
    const ended = await Promise.all(row.lost.map((one) => endLost(connection, key, one)));
    if (ended.includes(false)) continue;
    if (waiting.length < wanted && found >= looked && spare < mostSpare) {
      // an index that lags shows what others, or we, have taken
      spare *= 8;
      continue;
    }
    const next = nextOf(row, waiting, wanted);
    if (next.length === 0) return { found: claimed, isAll: true };
    const claimedAt = connection.now();
    const taken = await takeTogether(connection, row, next, options, claimedAt);
    if (!taken) continue;
    tries = -1;
    const all = await Promise.all(taken.map((head) => claimedOf(connection, head, options, claimedAt)));
    claimed.push(...all.filter((one) => one !== null));
    if (next.length < wanted) return { found: claimed, isAll: true };
  }
  return { found: claimed, isAll: false };
}

/** The row of a key, and those that are due and not held, longest due first. The index only says who might be; the heads decide. */
async function readLine(
  connection: Connection,
  key: string,
  limit: number,
  options: CheckedClaim,
): Promise<{ readonly row: PermitRow; readonly found: number; readonly waiting: readonly Head[] }> {
  const { workflowId, overdueMs } = options;
  const latest = connection.now() - overdueMs;
  const found: string[] = [];
  const { rows, heads } = await permitRows(connection, [key], async () => {
    if (workflowId !== undefined) found.push(connection.keys.execution(workflowId));
    else for (const { pk } of await dueIn(connection, key, latest, limit, overdueMs)) found.push(pk);
    return found;
  });
  const [row] = rows as [PermitRow];
  const held = new Set(row.held.map(({ id }) => id));
  const waiting = found.flatMap((pk) => heads.get(pk) ?? []);
  return { row, found: found.length, waiting: waiting.filter((head) => !held.has(head.workflowId) && isDue(head, key, latest, overdueMs)) };
}

async function dueIn(connection: Connection, key: string, latest: EpochMs, limit: number, overdueMs: number): Promise<Entry[]> {
  const { keys } = connection;
  const lane = keys.lane("turns", keys.shardOf(key));
  const before = turnIn(key, turnsUntil(latest));
  const start = { from: turnIn(key, noTurn), limit };
  if (overdueMs === 0) return entriesOf(connection, lane, { ...start, before });
  const [from, to] = turnsAtOnceAfter(latest).map((turn) => turnIn(key, turn)) as [string, string];
  const parts = [{ ...start, before: from }, ...(before > to ? [{ ...start, from: to, before }] : [])];
  return (await Promise.all(parts.map((part) => entriesOf(connection, lane, part)))).flat();
}

function isDue({ permit, turn, endedAt }: Head, key: string, latest: EpochMs, overdueMs: number): boolean {
  return permit?.key === key && endedAt === null && turn !== null && isDueAt(readTurn(turn).turn, latest, overdueMs);
}

/** Those whose turn it is. Whoever comes after one that has to wait has to wait, too. */
function nextOf(row: PermitRow, waiting: readonly Head[], limit: number): readonly Head[] {
  const { held } = row;
  const some = waiting.slice(0, limit);
  const first = some.findIndex(({ permit }, index) => held.length + index >= permit!.limit);
  const next = first < 0 ? some : some.slice(0, first);
  // of very many holders not all can be noted: then it is full before its limit
  return hasRoom(row, next.map(holderOf)) ? next : [];
}

/** What is noted of one that is about to be claimed. */
function holderOf({ workflowId: id, incarnation, fence }: Head): NewHolder {
  return { id, incarnation, fence: fence + 1 };
}

/** Claims all of them and notes them as holders, or nothing. Null: somebody else was faster. */
async function takeTogether(
  connection: Connection,
  row: PermitRow,
  next: readonly Head[],
  { owner, leaseMs }: CheckedClaim,
  claimedAt: EpochMs,
): Promise<Head[] | null> {
  const turn = turnIn(row.key, turnAt(claimedAt + leaseMs));
  const actions = next.map(({ pk, incarnation, fence, version, turn: before }): TransactAction => {
    const change = { set: { owner: storedText(owner), turn }, add: { fence: 1, nextCrashes: 1 } };
    const when = [
      ["incarnation", "=", storedText(incarnation)],
      ["fence", "=", fence],
      ["version", "=", version],
      ["turn", "=", before!],
    ] as const;
    return { Update: updateAction(connection, { pk, sk: headKey }, { ...change, when }) };
  });
  try {
    await connection.client.transactWrite({ TransactItems: [rowAction(connection, row, next.map(holderOf)), ...actions] });
  } catch (cause) {
    // what it met has changed the row: it is to be read again
    if (failedCondition(cause) !== undefined || isCongestion(cause)) return null;
    throw cause;
  }
  return next.map((head) => ({ ...head, fence: head.fence + 1, crashes: head.crashes + (head.owner === null ? 0 : 1), owner, turn }));
}
