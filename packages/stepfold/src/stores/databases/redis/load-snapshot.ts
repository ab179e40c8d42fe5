import type { Event } from "../../../core/snapshot/event.ts";
import type { Snapshot, Status } from "../../../core/snapshot/snapshot.ts";
import type { AppendedRow } from "../../../ports/snapshot-store.ts";
import { restoredSnapshot } from "../../kit/restored-snapshot.ts";
import { eventsScript, loadScript } from "./read-scripts.ts";
import { childrenOf, listOf, readEventRow, said } from "./redis-reply.ts";
import { budgetBytes, damaged, type ScriptStore } from "./script-store.ts";

/** Loads an execution as it is in one moment; null if there is none. */
export async function loadSnapshot(store: ScriptStore, workflowId: string): Promise<Snapshot | null> {
  for (;;) {
    const rows = listOf(await store.run(loadScript, [store.keys.due, store.keys.head(workflowId)], [budgetBytes]));
    if (rows.length === 0) return null;
    const snapshot = await snapshotOf(store, workflowId, rows);
    if (snapshot) return snapshot;
  }
}

/**
 * The snapshot from what `rowsOf` of the scripts tells. The rest of a long history is fetched: it only grows, so that what
 * belongs to this version stays the same. Null if the execution was deleted meanwhile.
 *
 * @throws StepfoldError `STORE_REJECTED` if what is stored is damaged
 */
export async function snapshotOf(store: ScriptStore, workflowId: string, rows: readonly unknown[]): Promise<Snapshot | null> {
  const [, incarnation, version, status, head] = rows.slice(0, 5).map(said);
  if (incarnation == null || version == null || head == null) throw damaged(store.name, workflowId);
  const length = Number(version) + 1;
  const events = [...listOf(rows[5])];
  while (events.length < length) {
    const more = await eventsPart(store, workflowId, events.length, length - events.length);
    if (more.incarnation !== incarnation) return null;
    if (more.rows.length === 0) throw damaged(store.name, workflowId);
    events.push(...more.rows);
  }
  return restoredSnapshot(store.name, {
    workflowId,
    version: Number(version),
    status: status as Status,
    head,
    events: events.map((row) => readEventRow(row).event),
    children: childrenOf(listOf(rows[6])),
  });
}

/** History after a version, oldest first. */
export async function eventsOf(store: ScriptStore, workflowId: string, afterVersion: number, limit: number): Promise<AppendedRow[]> {
  const found: AppendedRow[] = [];
  let first: string | null = null;
  while (found.length < limit) {
    const from = afterVersion + 1 + found.length;
    const { incarnation, rows } = await eventsPart(store, workflowId, from, limit - found.length);
    first ??= incarnation;
    if (rows.length === 0 || incarnation !== first) break;
    for (const [index, row] of rows.entries()) found.push(appendedRow(store, workflowId, from + index, row));
  }
  return found;
}

function appendedRow({ name }: ScriptStore, workflowId: string, version: number, row: unknown): AppendedRow {
  const { commitId, event } = readEventRow(row);
  try {
    return { version, commitId, event: JSON.parse(event) as Event };
  } catch {
    throw damaged(name, workflowId);
  }
}

async function eventsPart(
  { keys, run }: ScriptStore,
  workflowId: string,
  from: number,
  most: number,
): Promise<{ readonly incarnation: string | null; readonly rows: readonly unknown[] }> {
  const [incarnation, rows] = listOf(await run(eventsScript, [keys.due, keys.head(workflowId)], [String(from), String(most), budgetBytes]));
  return { incarnation: said(incarnation), rows: listOf(rows) };
}
