import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Event } from "../../core/snapshot/event.ts";
import type { Snapshot, Status } from "../../core/snapshot/snapshot.ts";
import type { AppendedRow } from "../../ports/snapshot-store.ts";
import { restoredSnapshot } from "../kit/restored-snapshot.ts";
import type { Connection, TextRow } from "./connection.ts";
import { idOf, plainText, separator, wholeText } from "./plain-text.ts";

/** The whole snapshot, of one version: one statement sees one state of the data. */
export async function loadSnapshot({ ask, sql }: Connection, workflowId: string): Promise<Snapshot | null> {
  const [row] = await ask(sql.load, [plainText(workflowId)]);
  return row && row.deleted_at === null ? snapshotOf(row) : null;
}

/** Snapshots by the number of their row; what is damaged, or gone by now, is not among them. */
export async function loadSnapshots({ askAnew, sql }: Connection, numbers: readonly string[]): Promise<Map<string, Snapshot>> {
  const rows = await askAnew(sql.loadMany, [numbers.join(separator)]);
  const found = new Map<string, Snapshot>();
  for (const row of rows) {
    if (row.deleted_at !== null) continue;
    try {
      found.set(row.seq!, snapshotOf(row));
    } catch (error) {
      if (!StepfoldError.is(error, "STORE_REJECTED")) throw error;
    }
  }
  return found;
}

/** History after a version. */
export async function readEvents(
  { ask, sql }: Connection,
  workflowId: string,
  afterVersion: number,
  limit: number,
): Promise<AppendedRow[]> {
  const rows = await ask(sql.events, [plainText(workflowId), wholeText(afterVersion, Math.floor), wholeText(limit)]);
  return rows.map(({ version, commit_id: commitId, event }) => {
    return { version: Number(version), commitId: idOf(commitId!), event: JSON.parse(event!) as Event };
  });
}

function snapshotOf({ id, version, status, head, events, children }: TextRow): Snapshot {
  const workflowId = idOf(id!);
  const rows = { workflowId, version: Number(version), status: status as Status, head: head!, events: partsOf(events!), children: [] };
  if (children === "") return restoredSnapshot("postgres", rows);
  return restoredSnapshot("postgres", { ...rows, children: pairsOf(partsOf(children!)) });
}

function partsOf(text: string): string[] {
  return text === "" ? [] : text.split(separator);
}

/** Keys, which are JSON, and heads follow one another. */
function pairsOf(parts: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let index = 0; index < parts.length; index += 2) pairs.push([JSON.parse(parts[index]!) as string, parts[index + 1]!]);
  return pairs;
}
