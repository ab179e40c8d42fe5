import type { WorkflowDefinition } from "../../core/definition/definition.ts";
import type { Event } from "../../core/snapshot/event.ts";
import type { Snapshot, Status } from "../../core/snapshot/snapshot.ts";
import type { AppendedRow } from "../../ports/snapshot-store.ts";
import type { LibsqlRow } from "../databases/libsql/libsql-client.ts";
import { restoredSnapshot } from "../kit/restored-snapshot.ts";
import type { Connection } from "./connection.ts";
import { sql } from "./statements.ts";

/** The whole snapshot. */
export async function loadSnapshot(connection: Connection, workflowId: string): Promise<Snapshot | null> {
  const { rows } = await connection.execute(sql.snapshot(workflowId));
  const parts: [LibsqlRow[], LibsqlRow[], LibsqlRow[]] = [[], [], []];
  for (const row of rows) parts[Number(row.part) as 0 | 1 | 2].push(row);
  const [[execution], events, children] = parts;
  return execution ? snapshotOf(execution, events, children) : null;
}

/** A snapshot from its rows. @throws StepfoldError `STORE_REJECTED` if they are damaged */
export function snapshotOf(execution: LibsqlRow, events: readonly LibsqlRow[], children: readonly LibsqlRow[]): Snapshot {
  return restoredSnapshot("libsql", {
    workflowId: textOf(execution.key),
    version: Number(execution.place),
    status: execution.status as Status,
    head: execution.text as string,
    events: events.map(({ text }) => text as string),
    children: children.map(({ key, text }) => [textOf(key), text as string] as const),
  });
}

/** Part of the history. */
export async function eventsOf(connection: Connection, workflowId: string, afterVersion: number, limit: number): Promise<AppendedRow[]> {
  const { rows } = await connection.execute(sql.rows(workflowId, afterVersion, limit));
  return rows.map(({ version, commitId, event }) => {
    return { version: Number(version), commitId: commitId as string, event: JSON.parse(event as string) as Event };
  });
}

/** A definition by its hash. */
export async function definitionOf(connection: Connection, hash: string): Promise<WorkflowDefinition | null> {
  const { rows } = await connection.execute(sql.definition(hash));
  return rows[0] ? (JSON.parse(rows[0].definition as string) as WorkflowDefinition) : null;
}

/** Text that came as JSON. */
export function textOf(quoted: unknown): string {
  return JSON.parse(quoted as string) as string;
}
