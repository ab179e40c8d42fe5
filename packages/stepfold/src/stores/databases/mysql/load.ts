import type { Snapshot, Status } from "../../../core/snapshot/snapshot.ts";
import type { AppendedRow } from "../../../ports/snapshot-store.ts";
import { restoredSnapshot } from "../../kit/restored-snapshot.ts";
import type { Verdict } from "../../record/group-commit.ts";
import { amongValues, each } from "./batches.ts";
import { numberOf, type Row, type Session, textOf } from "./mysql-session.ts";
import type { Tables } from "./tables.ts";

/** Columns of `HeadRow`. */
export const headColumns = "seq, id, incarnation, version, status, CAST(head AS BINARY)";

/** What of an execution's row makes its snapshot. */
export interface HeadRow {
  readonly seq: number;
  readonly id: string;
  readonly incarnation: string;
  readonly version: number;
  readonly status: Status;
  readonly head: string;
}

export function headRowOf([seq, id, incarnation, version, status, head]: Row): HeadRow {
  return {
    seq: numberOf(seq),
    id: textOf(id),
    incarnation: textOf(incarnation),
    version: numberOf(version),
    status: textOf(status) as Status,
    head: textOf(head),
  };
}

/** Loads executions that are asked for at once in the round trips of one; null for those that are not there. The session reads one state. */
export async function loadSnapshots(session: Session, tables: Tables, workflowIds: readonly string[]): Promise<Verdict<Snapshot | null>[]> {
  const values = amongValues(workflowIds);
  const rows = await session.rows(
    `SELECT ${headColumns} FROM ${tables.executions} FORCE INDEX (ids) WHERE id IN (${each(values.length, "?")})`,
    values,
  );
  const heads = new Map(rows.map(headRowOf).map((head) => [head.id, head]));
  const snapshotOf = await historiesOf(
    session,
    tables,
    [...heads.values()].map(({ seq }) => seq),
  );
  return workflowIds.map((workflowId) => {
    const head = heads.get(workflowId);
    try {
      return { value: head ? snapshotOf(head) : null };
    } catch (refused) {
      return { refused };
    }
  });
}

/**
 * Reads what lies beside heads, for all of them at once.
 *
 * @returns what makes the snapshot of one of them; it throws `STORE_REJECTED` if the rows are damaged
 */
export async function historiesOf(session: Session, tables: Tables, seqs: readonly number[]): Promise<(head: HeadRow) => Snapshot> {
  const parts = new Map(seqs.map((seq) => [seq, { events: [] as Part[], children: [] as Part[] }]));
  if (seqs.length > 0) {
    const values = amongValues(seqs);
    const among = each(values.length, "?");
    const rows = await session.rows(
      `SELECT execution, version, NULL, CAST(event AS BINARY) FROM ${tables.events} WHERE execution IN (${among})
      UNION ALL SELECT execution, place, name, CAST(head AS BINARY) FROM ${tables.children} WHERE execution IN (${among})`,
      [...values, ...values],
    );
    for (const [execution, place, name, text] of rows) {
      const { events, children } = parts.get(numberOf(execution))!;
      const part = { place: numberOf(place), text: textOf(text) };
      if (name === null) events.push({ ...part, name: "" });
      else children.push({ ...part, name: textOf(name) });
    }
  }
  return ({ seq, id: workflowId, version, status, head }) => {
    const { events, children } = parts.get(seq)!;
    return restoredSnapshot("mysql", {
      ...{ workflowId, version, status, head },
      events: inOrder(events).map(({ text }) => text),
      children: inOrder(children).map(({ name, text }) => [name, text] as const),
    });
  };
}

/** An event, or a child. */
interface Part {
  readonly place: number;
  readonly name: string;
  readonly text: string;
}

/** A union has no order. */
function inOrder(parts: Part[]): Part[] {
  return parts.sort((a, b) => a.place - b.place);
}

/** The history after a version. */
export async function eventsOf(
  session: Session,
  { executions, events }: Tables,
  workflowId: string,
  afterVersion: number,
  limit: number,
): Promise<AppendedRow[]> {
  const rows = await session.rows(
    `SELECT v.version, v.commit_id, CAST(v.event AS BINARY)
    FROM ${executions} AS e STRAIGHT_JOIN ${events} AS v ON v.execution = e.seq
    WHERE e.id = ? AND v.version > ? ORDER BY v.version LIMIT ?`,
    [workflowId, afterVersion, limit],
  );
  return rows.map(([version, commitId, event]) => ({
    version: numberOf(version),
    commitId: textOf(commitId),
    event: JSON.parse(textOf(event)) as AppendedRow["event"],
  }));
}
