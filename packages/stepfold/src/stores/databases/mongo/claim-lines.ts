import type { Claimed } from "../../../ports/snapshot-store.ts";
import type { CheckedClaim } from "../../kit/checked-store.ts";
import type { Rota } from "../../record/share-room.ts";
import type { Turnstile } from "../../record/turnstile.ts";
import { claimInLine } from "./claim-line.ts";
import { type Collections, reading } from "./collections.ts";
import { isDue } from "./due-time.ts";
import type { MongoDocument } from "./mongo-client.ts";
import { type PermitRow, permitRows } from "./permit-row.ts";

/** Most lines in which is claimed at once. */
const mostTogether = 16;

/** Most executions that are looked at in one go. */
const mostLookedAt = 64;

/** Executions that share a key, of which at least one is due. */
interface Line {
  readonly key: string;
  /** Of the first in it. */
  readonly limit: number;
}

/** Where the last claim stopped: the next one goes on from there, so that each line has its chance. */
export interface Walk extends Rota {
  at: string;
  /** For claims of one key, and of all. */
  readonly turnstile: Turnstile;
}

/** The first executions that are due in lines after a key. Those that are alone in their line come with the lines after it. */
function linesAfter(key: string, upTo: string | null, overdueMs: number): MongoDocument[] {
  const keys = { $gt: key, ...(upTo !== null && { $lte: upTo }) };
  return [
    { $match: { permitKey: keys, turnAt: { $gte: 0 }, $expr: isDue(overdueMs, "$turnAt") } },
    { $sort: { permitKey: 1, turnAt: 1, createdAt: 1, seq: 1 } },
    { $limit: mostLookedAt },
    { $project: { _id: 0, key: "$permitKey", limit: "$permitLimit" } },
  ];
}

/** Whether there is a line in which somebody is due, as steps that find something. */
export function anyLine(overdueMs: number): MongoDocument[] {
  return [
    { $match: { turnAt: { $gte: 0 }, permitKey: { $gt: "" }, $expr: isDue(overdueMs, "$turnAt") } },
    { $limit: 1 },
    { $project: { _id: 0, isWaiting: { $literal: true } } },
  ];
}

/** The lines of what was found. */
function linesOf(found: readonly MongoDocument[]): Line[] {
  const lines = new Map<string, Line>();
  for (const one of found as unknown as readonly Line[]) if (!lines.has(one.key)) lines.set(one.key, one);
  return [...lines.values()];
}

/** Claims in all lines until there is no more room. */
export function claimInLines(collections: Collections, walk: Walk, options: CheckedClaim): Promise<readonly Claimed[]> {
  return walk.turnstile.pass("all", options.overdueMs, async () => {
    const found = await walkOn(collections, walk, options);
    return { found, isAll: found.length < options.limit };
  });
}

async function walkOn(collections: Collections, walk: Walk, options: CheckedClaim): Promise<Claimed[]> {
  const claimed: Claimed[] = [];
  const begin = walk.at;
  const laps = begin === "" ? [null] : [null, begin];
  for (const upTo of laps) {
    let lines = await find(collections, upTo === null ? begin : "", upTo, options);
    while (lines.length > 0) {
      const some = await claimInSome(collections, walk, lines, { ...options, limit: options.limit - claimed.length });
      claimed.push(...some.claimed);
      walk.at = some.last;
      if (claimed.length >= options.limit) return claimed;
      lines = await find(collections, some.last, upTo, options);
    }
  }
  walk.at = "";
  return claimed;
}

async function find({ executions }: Collections, after: string, upTo: string | null, { overdueMs }: CheckedClaim): Promise<Line[]> {
  return linesOf(await executions.aggregate(linesAfter(after, upTo, overdueMs), reading).toArray());
}

/** Claims in some lines. Gives the last of those that had their chance, too. */
async function claimInSome(
  collections: Collections,
  { turnstile }: Walk,
  lines: readonly Line[],
  options: CheckedClaim,
): Promise<{ readonly claimed: readonly Claimed[]; readonly last: string }> {
  const claimed: Claimed[] = [];
  const last = lines.at(-1)!.key;
  for (let left: readonly Line[] = lines, isFirst = true; left.length > 0; isFirst = false) {
    const rows = await openRows(collections, left);
    const generous = new Set<string>();
    while (rows.length > 0) {
      const room = options.limit - claimed.length;
      const some = rows.splice(0, Math.min(mostTogether, room));
      const limit = Math.floor(room / some.length);
      const each = await Promise.all(some.map((row) => claimInLine(collections, turnstile, row.key, { ...options, limit }, row)));
      claimed.push(...each.flat());
      for (const [index, { key }] of some.entries()) if (each[index]!.length === limit) generous.add(key);
      if (claimed.length >= options.limit) return { claimed, last: isFirst ? some.at(-1)!.key : last };
    }
    // who gave all that was asked for may have more
    left = left.filter(({ key }) => generous.has(key));
  }
  return { claimed, last };
}

/** The rows of those lines in which there is a place. */
async function openRows(collections: Collections, lines: readonly Line[]): Promise<PermitRow[]> {
  const keys = lines.map(({ key }) => key);
  const rows = await permitRows(collections, keys);
  return rows.filter(({ held, lost }, index) => lost.length > 0 || held.length < lines[index]!.limit);
}
