import type { WrittenCommit } from "../../kit/written-commit.ts";
import { batchesOf, each, filled } from "./batches.ts";
import type { Session, SqlValue } from "./mysql-session.ts";
import type { Tables } from "./tables.ts";

/** A commit that was accepted, and the row of its execution. */
export interface Accepted {
  readonly seq: number;
  readonly written: WrittenCommit;
}

/** Adds the events of commits, and writes their children. */
export async function append(session: Session, tables: Tables, accepted: readonly Accepted[], maxBytes: number): Promise<void> {
  await appendEvents(session, tables, accepted, maxBytes);
  await deleteChildren(session, tables, accepted, maxBytes);
  await putChildren(session, tables, accepted, maxBytes);
}

type EventRow = readonly [execution: number, version: number, commitId: string, event: string];

async function appendEvents(session: Session, { events }: Tables, accepted: readonly Accepted[], maxBytes: number): Promise<void> {
  const rows = accepted.flatMap(({ seq, written: { commitId, events: texts } }) =>
    texts.map(({ version, text }): EventRow => [seq, version, commitId, text]),
  );
  for (const batch of batchesOf(rows, maxBytes)) {
    const values = filled(batch, ([execution, version]): EventRow => [execution, version, "", ""]);
    // only what fills up may be there already; for any other the sum overflows, which is an error in every sql_mode
    await session.run(
      `INSERT INTO ${events} (execution, version, commit_id, event) VALUES ${each(values.length, "(?, ?, ?, ?)")}
      ON DUPLICATE KEY UPDATE version = version + IF(VALUES(event) = '', 0, ~0 + VALUES(version) + 1)`,
      values.flat(),
    );
  }
}

/** Of keys, which may be of any length, the index holds a hash. */
const hashed = "UNHEX(SHA2(?, 256))";

async function deleteChildren(session: Session, { children }: Tables, accepted: readonly Accepted[], maxBytes: number): Promise<void> {
  const rows = accepted.flatMap(({ seq, written }) =>
    written.children.filter(({ text, last }) => text === null || last).map(({ key }): readonly SqlValue[] => [seq, key]),
  );
  for (const batch of batchesOf(rows, maxBytes / 2)) {
    const shortest = shortestOf(batch);
    const values = filled(batch, () => shortest);
    await session.run(
      `DELETE FROM ${children} WHERE ${each(values.length, `(execution = ? AND hash = ${hashed})`, " OR ")}`,
      values.flat(),
    );
  }
}

type ChildRow = readonly [execution: number, key: string, sameKey: string, place: number, head: string];

async function putChildren(session: Session, { children }: Tables, accepted: readonly Accepted[], maxBytes: number): Promise<void> {
  const rows = accepted.flatMap(({ seq, written }) =>
    written.children.flatMap(({ key, text }, index): ChildRow[] =>
      text === null ? [] : [[seq, key, key, written.version * 1_000_000 + index, text]],
    ),
  );
  for (const batch of batchesOf(rows, maxBytes / 2)) {
    const [execution, key] = shortestOf(batch);
    const values = filled(batch, (): ChildRow => [execution, key, key, 0, ""]);
    await session.run(
      `INSERT INTO ${children} (execution, hash, name, place, head) VALUES ${each(values.length, `(?, ${hashed}, ?, ?, ?)`)}
      ON DUPLICATE KEY UPDATE head = IF(VALUES(head) = '', head, VALUES(head))`,
      values.flat(),
    );
  }
}

/** The row with the shortest key: what fills up a statement must not make it much larger. */
function shortestOf<R extends readonly SqlValue[]>(rows: readonly R[]): R {
  return rows.reduce((shortest, row) => (String(row[1]).length < String(shortest[1]).length ? row : shortest));
}
