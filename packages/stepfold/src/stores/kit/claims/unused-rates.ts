import type { EpochMs } from "../../../core/values/json.ts";
import type { ExecutionTable } from "../execution-table.ts";
import type { RecordWrite, StoredRecord } from "../record-table.ts";
import { limitsUntil, type RateState } from "./decide-rates.ts";

/** The key of the record that lists the records to delete later. No permit and no rate has such a key. */
const listKey = '"rates to forget';

/** The most records that are listed, so that the list fits into one item of every database. */
const maxListed = 2_000;
/** How many of the listed records are looked at in one call. */
const maxLooked = 100;
/** How many times the list is written if other processes keep changing it first. */
const maxTries = 100;

/** Records to delete later, with the time from which they limit no claim. */
type Listed = Map<string, EpochMs>;

/**
 * Deletes the records of rates that no longer limit any claim. Those that still do are listed, in a record of its own, so that a later call
 * deletes them, whichever process makes it. A list that is full takes no more of them.
 *
 * @param lines the keys of records whose executions were deleted
 */
export async function deleteUnusedRates(table: ExecutionTable, lines: readonly string[]): Promise<void> {
  const { records } = table;
  if (lines.length === 0) return;
  const [{ now }, found] = await Promise.all([table.read([]), records.get("permit", [...lines, listKey])]);
  const list = found.get(listKey);
  const over = [...listedIn(list)].flatMap(([key, until]) => (until <= now && !lines.includes(key) ? key : [])).slice(0, maxLooked);
  const others = over.length > 0 ? await records.get("permit", over) : new Map<string, StoredRecord>();
  const later: Listed = new Map();
  const deletions: RecordWrite[] = [];
  for (const { key, revision, text } of [...found.values(), ...others.values()]) {
    if (key === listKey) continue;
    const state = JSON.parse(text) as RateState;
    const until = limitsUntil(state);
    if (until > now || state.pending.length > 0) later.set(key, until);
    else deletions.push({ key, expected: revision, next: null });
  }
  const deleted = deletions.length > 0 ? await records.put("permit", deletions) : [];
  // a record that has changed since it was read has not gone
  for (const [index, { key }] of deletions.entries()) if (!deleted[index]) later.set(key, now);
  await changeList(records, list, over, later);
}

/** Takes keys from the list, and adds others to it. */
async function changeList(
  records: ExecutionTable["records"],
  known: StoredRecord | undefined,
  over: readonly string[],
  later: Listed,
): Promise<void> {
  let list = known;
  for (let tries = 0; tries < maxTries; tries++) {
    const listed = listedIn(list);
    const before = JSON.stringify([...listed]);
    for (const key of over) if (!later.has(key)) listed.delete(key);
    for (const [key, until] of later) if (listed.has(key) || listed.size < maxListed) listed.set(key, until);
    const text = JSON.stringify([...listed]);
    if (text === before) return;
    const next = listed.size > 0 ? { revision: crypto.randomUUID(), text } : null;
    const [isMade] = await records.put("permit", [{ key: listKey, expected: list?.revision ?? null, next }]);
    if (isMade) return;
    list = (await records.get("permit", [listKey])).get(listKey);
  }
}

function listedIn(list: StoredRecord | undefined): Listed {
  return new Map(list ? (JSON.parse(list.text) as [string, EpochMs][]) : []);
}
