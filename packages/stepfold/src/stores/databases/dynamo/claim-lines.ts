import type { Claimed } from "../../../ports/snapshot-store.ts";
import type { CheckedClaim } from "../../kit/checked-store.ts";
import { entriesOf } from "./agenda.ts";
import { claimInLine } from "./claim-line.ts";
import { afterLine, isDueAt, linesKey, noTurn, readTurn } from "./dynamo-keys.ts";
import { type Connection, insist, itemAt } from "./dynamo-requests.ts";
import { permitRows } from "./permit-row.ts";

/** Most lines in which is claimed at once. */
const mostTogether = 16;

/** Most entries that are looked at in one go. */
const mostLookedAt = 100;

/** How often is asked whether anything has a permit, while nothing has. */
const askEveryMs = 5_000;

/** Executions that share a key, and the partition of the first of them. */
interface Line {
  readonly key: string;
  readonly first: string;
}

/** Tells all handles, once, that there are executions with permits. */
export async function noteLines({ client, table, keys, walk }: Connection): Promise<void> {
  if (walk.isUsed) return;
  await insist(() => client.put({ TableName: table, Item: { pk: keys.lines, sk: linesKey } }));
  walk.isUsed = true;
}

/** Whether there are executions with permits. Where there are none, that costs one small read in a while. */
async function hasLines(connection: Connection): Promise<boolean> {
  const { walk, keys } = connection;
  const now = connection.now();
  if (walk.isUsed || (walk.askedAt !== null && Math.abs(now - walk.askedAt) < askEveryMs)) return walk.isUsed;
  walk.askedAt = now;
  if (await itemAt(connection, { pk: keys.lines, sk: linesKey })) walk.isUsed = true;
  return walk.isUsed;
}

/** Claims in all lines until there is no more room. It goes on where the last claim stopped, so that each line has its chance. */
export async function claimInLines(connection: Connection, options: CheckedClaim): Promise<readonly Claimed[]> {
  if (!(await hasLines(connection))) return [];
  return connection.turnstile.pass("all", options.overdueMs, async () => {
    const found = await walkOn(connection, options);
    return { found, isAll: found.length < options.limit };
  });
}

async function walkOn(connection: Connection, options: CheckedClaim): Promise<Claimed[]> {
  const claimed: Claimed[] = [];
  const { walk, keys } = connection;
  for (const { shard, from: begin, before } of partsFrom(walk, keys.shards)) {
    const lane = keys.lane("turns", shard);
    for (let from: string | null = begin; from !== null; ) {
      const entries = await entriesOf(connection, lane, { from, ...(before !== undefined && { before }), limit: mostLookedAt });
      const lines = linesOf(connection, entries, options);
      const some = await claimInSome(connection, lines, { ...options, limit: options.limit - claimed.length });
      claimed.push(...some.claimed);
      if (claimed.length >= options.limit) {
        Object.assign(walk, { shard, from: afterLine(some.last) });
        return claimed;
      }
      from = entries.length < mostLookedAt ? null : afterLine(readTurn(entries.at(-1)!.turn).line!);
    }
  }
  Object.assign(walk, { shard: 0, from: noTurn });
  return claimed;
}

/** Once through all lines, from where the last claim stopped. */
function partsFrom({ shard, from }: Connection["walk"], shards: number): { shard: number; from: string; before?: string }[] {
  const others = Array.from({ length: shards - 1 }, (_, index) => ({ shard: (shard + 1 + index) % shards, from: noTurn }));
  return [{ shard, from }, ...others, ...(from === noTurn ? [] : [{ shard, from: noTurn, before: from }])];
}

/** The lines of which the first is due. */
function linesOf(
  connection: Connection,
  entries: readonly { readonly pk: string; readonly turn: string }[],
  { overdueMs }: CheckedClaim,
): Line[] {
  const lines = new Map<string, Line>();
  const latest = connection.now() - overdueMs;
  const seen = new Set<string>();
  for (const { pk, turn: stored } of entries) {
    const { line: key, turn } = readTurn(stored);
    if (key === null || seen.has(key)) continue;
    seen.add(key);
    // what is overdue need not be the first: timers come after what is due at once
    if (overdueMs > 0 || isDueAt(turn, latest, 0)) lines.set(key, { key, first: pk });
  }
  return [...lines.values()];
}

/** Claims in some lines. Gives the last of those that had their chance, too. */
async function claimInSome(
  connection: Connection,
  lines: readonly Line[],
  options: CheckedClaim,
): Promise<{ readonly claimed: readonly Claimed[]; readonly last: string }> {
  const claimed: Claimed[] = [];
  const last = lines.at(-1)?.key ?? "";
  for (let left = await openLines(connection, lines), isFirst = true; left.length > 0; isFirst = false) {
    const generous: string[] = [];
    for (let at = 0; at < left.length; ) {
      const room = options.limit - claimed.length;
      const some = left.slice(at, at + Math.min(mostTogether, room));
      at += some.length;
      const limit = Math.floor(room / some.length);
      const each = await Promise.all(some.map((key) => claimInLine(connection, key, { ...options, limit })));
      claimed.push(...each.flat());
      if (claimed.length >= options.limit) return { claimed, last: isFirst ? some.at(-1)! : last };
      generous.push(...some.filter((_, index) => each[index]!.length === limit));
    }
    // who gave all that was asked for may have more
    left = generous;
  }
  return { claimed, last };
}

/** The keys of those lines in which there is a place, or may be one. */
async function openLines(connection: Connection, lines: readonly Line[]): Promise<string[]> {
  if (lines.length === 0) return [];
  const { rows, heads } = await permitRows(
    connection,
    lines.map(({ key }) => key),
    async () => lines.map(({ first }) => first),
  );
  const open = rows.filter(({ held, lost }, index) => {
    const limit = heads.get(lines[index]!.first)?.permit?.limit;
    return lost.length > 0 || limit === undefined || held.length < limit;
  });
  return open.map(({ key }) => key);
}
