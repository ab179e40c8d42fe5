import { type Holder, type SeenHolder, standingOf } from "../../record/permit-holders.ts";
import { type Collections, literal, now, reading, writing } from "./collections.ts";
import type { MongoDocument } from "./mongo-client.ts";
import { isDuplicate } from "./mongo-error.ts";

/** How long whoever noted a claim has to make it. After that the place may be given to somebody else. */
const noticeMs = 10_000;

/** How long the document of a key stays at least. */
const keptMs = 3_600_000;

/**
 * Who has the places of one key. They are noted in a document of the key before the executions themselves are claimed, and
 * nobody takes them out when a claim ends: the next who wants a place looks at the executions.
 */
export interface PermitRow {
  readonly key: string;
  /** Another one with every write; null: there is no document. */
  readonly nonce: string | null;
  readonly held: readonly Holder[];
  /** Their time is over, but they might still come back. */
  readonly lost: readonly Holder[];
}

/** One who is about to be claimed. */
export type NewHolder = Omit<Holder, "until">;

/** The rows of some keys, as things are now. */
export async function permitRows(collections: Collections, keys: readonly string[]): Promise<PermitRow[]> {
  const rows = await collections.permits.find({ _id: { $in: [...keys] } }, reading).toArray();
  const noted = new Map(rows.map((row) => [row._id as string, row as unknown as { nonce: string; holders: readonly Holder[] }]));
  const seen = await seenHolders(
    collections,
    [...noted.values()].flatMap(({ holders }) => holders.map(({ id }) => id)),
  );
  return keys.map((key) => {
    const { nonce = null, holders = [] } = noted.get(key) ?? {};
    const of = (standing: string): Holder[] => holders.filter((one) => standingOf(one, seen.get(one.id) ?? null) === standing);
    return { key, nonce, held: of("held"), lost: of("lost") };
  });
}

async function seenHolders({ executions }: Collections, ids: readonly string[]): Promise<Map<string, SeenHolder>> {
  if (ids.length === 0) return new Map();
  const shown = { incarnation: 1, fence: 1, owner: 1, leaseUntil: 1, now };
  const steps = [{ $match: { _id: { $in: [...ids] }, deletedAt: { $exists: false } } }, { $project: shown }];
  const found = await executions.aggregate(steps, reading).toArray();
  return new Map(found.map((one) => [one._id as string, one as unknown as SeenHolder]));
}

/**
 * Ends the claim of one who is lost, or keeps it from being made: from then on it cannot come back.
 *
 * @returns false if that is not so: it was claimed, renewed or ended meanwhile
 */
export async function settle({ executions }: Collections, { id, incarnation, fence }: Holder): Promise<boolean> {
  const isOver = { $lte: [{ $ifNull: ["$leaseUntil", 0] }, now] };
  const before = { $ifNull: ["$crashes", 0] };
  const crashes = { $cond: [{ $eq: ["$owner", null] }, before, { $add: [before, 1] }] };
  const which = { _id: id, incarnation, fence: { $lte: fence }, $expr: isOver };
  const { matchedCount } = await executions.updateOne(which, [{ $set: { owner: null, leaseUntil: null, fence, crashes } }], writing);
  return matchedCount === 1;
}

/**
 * Notes who is about to be claimed, in place of all who are gone.
 *
 * @returns false if somebody else has written the row since it was read
 */
export async function noteHolders(
  { permits }: Collections,
  row: PermitRow,
  added: readonly NewHolder[],
  leaseMs: number,
): Promise<boolean> {
  const until = { $add: [now, Math.min(leaseMs, noticeMs)] };
  const fresh = added.map(({ id, incarnation, fence }) => ({ id: literal(id), incarnation: literal(incarnation), fence, until }));
  const holders = { $concatArrays: [literal(row.held), fresh] };
  return write(permits, row, { holders, nonce: literal(crypto.randomUUID()), forgetAt: { $add: [now, keptMs] } });
}

async function write(permits: Collections["permits"], { key, nonce }: PermitRow, set: MongoDocument): Promise<boolean> {
  try {
    // where there is none, `nonce` is null: one that is there does not match, and is not inserted twice
    const { matchedCount } = await permits.updateOne({ _id: key, nonce }, [{ $set: set }], { ...writing, upsert: nonce === null });
    return nonce === null || matchedCount === 1;
  } catch (cause) {
    if (!isDuplicate(cause)) throw cause;
    return false;
  }
}

/** Takes out one whose claim was not made, and will not be. */
export async function takeOut({ permits }: Collections, key: string, { id, fence }: NewHolder): Promise<void> {
  const isOther = { $or: [{ $ne: ["$$this.id", literal(id)] }, { $ne: ["$$this.fence", fence] }] };
  const holders = { $filter: { input: "$holders", as: "this", cond: isOther } };
  await permits.updateOne({ _id: key, nonce: { $ne: null } }, [{ $set: { holders, nonce: literal(crypto.randomUUID()) } }], writing);
}

/** Deletes rows that nobody has used for a while. */
export async function forgetRows(collections: Collections, limit: number): Promise<void> {
  const { permits } = collections;
  const isOld = { $expr: { $lte: ["$forgetAt", now] } };
  const old = await permits.find(isOld, { ...reading, sort: { forgetAt: 1 }, limit, projection: { _id: 1 } }).toArray();
  const rows = await permitRows(
    collections,
    old.map(({ _id }) => _id as string),
  );
  for (const { key, nonce, held, lost } of rows) {
    const ended = await Promise.all(lost.map((one) => settle(collections, one)));
    const isUsed = held.length > 0 || ended.includes(false);
    if (isUsed) await permits.updateOne({ _id: key, nonce }, [{ $set: { forgetAt: { $add: [now, keptMs] } } }], writing);
    else await permits.deleteMany({ _id: key, nonce }, writing);
  }
}
