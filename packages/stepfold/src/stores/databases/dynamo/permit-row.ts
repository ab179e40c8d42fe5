import { bytesOf } from "../../kit/value-limit.ts";
import { type Holder, type SeenHolder, standingOf } from "../../record/permit-holders.ts";
import { entriesBefore } from "./agenda.ts";
import { batchGet } from "./batch-get.ts";
import type { Item, TransactAction } from "./dynamo-client.ts";
import { type Head, intactHead } from "./dynamo-heads.ts";
import { headKey, permitRowKey, storedText, turnAt, turnIn, turnsUntil } from "./dynamo-keys.ts";
import { type Connection, conditional, updateItem } from "./dynamo-requests.ts";
import { conditionOf, type Test } from "./expression.ts";

/** How long the row of a key stays at least. */
const keptMs = 3_600_000;

/**
 * Who has the places of one key. They are noted in an item of the key in the transaction that claims the executions, and
 * nobody takes them out when a claim ends: the next who wants a place looks at the executions.
 */
export interface PermitRow {
  readonly key: string;
  /** Another one with every write; null: there is no row. */
  readonly nonce: string | null;
  /** From when on it may be forgotten if nobody uses it, as a place in the agenda. */
  readonly turn: string | null;
  readonly held: readonly Holder[];
  /** Their leases have ended, but they might still renew them. */
  readonly lost: readonly Holder[];
}

/** One who is about to be claimed. */
export type NewHolder = Omit<Holder, "until">;

/** Rows as they are now, and the heads of their holders and of some other executions, by partition. */
export interface SeenRows {
  readonly rows: readonly PermitRow[];
  readonly heads: ReadonlyMap<string, Head>;
}

/** Reads the rows of some keys. */
export async function permitRows(
  connection: Connection,
  keys: readonly string[],
  others: () => Promise<readonly string[]> = async () => [],
): Promise<SeenRows> {
  const asked = keys.map((key) => ({ pk: connection.keys.permit(key), sk: permitRowKey }));
  const [items, more] = await Promise.all([batchGet(connection, asked), others()]);
  const noted = asked.map(({ pk }) => items.get(pk));
  const heads = await headsAt(connection, [...noted.flatMap(holdersIn).map(({ id }) => connection.keys.execution(id)), ...more]);
  const now = connection.now();
  const rows = noted.map((item, index): PermitRow => {
    const holders = holdersIn(item);
    const of = (standing: string): Holder[] => holders.filter((one) => standingOf(one, seenIn(connection, heads, one, now)) === standing);
    const shown = { nonce: item ? String(item.nonce) : null, turn: item ? String(item.turn) : null };
    return { key: keys[index]!, ...shown, held: of("held"), lost: of("lost") };
  });
  return { rows, heads };
}

async function headsAt(connection: Connection, partitions: readonly string[]): Promise<Map<string, Head>> {
  if (partitions.length === 0) return new Map();
  const asked = [...new Set(partitions)].map((pk) => ({ pk, sk: headKey }));
  const heads = new Map<string, Head>();
  for (const [pk, item] of await batchGet(connection, asked)) {
    const head = intactHead(connection, item);
    if (head) heads.set(pk, head);
  }
  return heads;
}

function holdersIn(item: Item | undefined): Holder[] {
  if (typeof item?.holders !== "string") return [];
  // they were claimed with the same write
  return (JSON.parse(item.holders) as NewHolder[]).map((one) => ({ ...one, until: Number.MAX_SAFE_INTEGER }));
}

function seenIn({ keys }: Connection, heads: ReadonlyMap<string, Head>, { id }: Holder, now: number): SeenHolder | null {
  const head = heads.get(keys.execution(id));
  return head ? { ...head, now } : null;
}

/** How many bytes of holders a row takes: an item has 400 KB, with its key. */
const mostBytes = 380_000;

/** Whether a row can take so many more. */
export function hasRoom({ held }: PermitRow, added: readonly NewHolder[]): boolean {
  return bytesOf(holdersText(held, added)) <= mostBytes;
}

function holdersText(held: readonly Holder[], added: readonly NewHolder[]): string {
  return JSON.stringify([...held, ...added].map(({ id, incarnation, fence }) => ({ id, incarnation, fence })));
}

/** The write of a row: who holds places, in place of all who are gone. */
export function rowAction({ table, keys, now }: Connection, row: PermitRow, added: readonly NewHolder[]): TransactAction {
  const { key, nonce, held } = row;
  const holders = holdersText(held, added);
  // its place in the agenda stays: the index is written once
  const place = { lane: keys.lane("permits", keys.shardOf(key)), turn: row.turn ?? turnAt(now() + keptMs) };
  const item = { pk: keys.permit(key), sk: permitRowKey, nonce: crypto.randomUUID(), holders, ...place };
  return { Put: { TableName: table, Item: item, ...conditionOf(unchanged(nonce)) } };
}

function unchanged(nonce: string | null): Test[] {
  return nonce === null ? [["pk", "absent"]] : [["nonce", "=", nonce]];
}

/**
 * Ends the claim of one whose lease has ended, so that it cannot renew it any longer.
 *
 * @returns false if that is not so: it was renewed, or its claim has ended otherwise
 */
export async function endLost(connection: Connection, key: string, { id, incarnation, fence }: Holder): Promise<boolean> {
  const outcome = await updateItem(
    connection,
    { pk: connection.keys.execution(id), sk: headKey },
    {
      // the count of those that were lost has it already
      set: { owner: null },
      when: [
        ["incarnation", "=", storedText(incarnation)],
        ["fence", "=", fence],
        ["owner", "exists"],
        ["turn", "<", turnIn(key, turnsUntil(connection.now()))],
      ],
    },
  );
  return "value" in outcome;
}

/** Deletes rows that nobody uses any longer. */
export async function forgetRows(connection: Connection, limit: number): Promise<void> {
  const { client, table, keys, now } = connection;
  const old = await entriesBefore(connection, { lanes: ["permits"], before: turnsUntil(now()), limit });
  const { rows } = await permitRows(
    connection,
    old.map(({ pk }) => keys.permitOf(pk)),
  );
  for (const { key, nonce, held, lost } of rows) {
    if (nonce === null) continue;
    const ended = await Promise.all(lost.map((one) => endLost(connection, key, one)));
    const place = { pk: keys.permit(key), sk: permitRowKey };
    const when = unchanged(nonce);
    if (held.length > 0 || ended.includes(false)) await updateItem(connection, place, { set: { turn: turnAt(now() + keptMs) }, when });
    else await conditional(() => client.delete({ TableName: table, Key: place, ...conditionOf(when) }));
  }
}
