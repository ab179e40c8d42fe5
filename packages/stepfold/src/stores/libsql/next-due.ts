import type { LibsqlRow, LibsqlStatement } from "../databases/libsql/libsql-client.ts";
import type { CheckedClaim } from "../kit/checked-store.ts";
import type { DueSpan } from "../record/due-time.ts";
import { type Due, longestDue, mostWaiting, openLines, type Waiting, walkFrom } from "../sql/sqlite-turns.ts";
import type { Connection } from "./connection.ts";
import { textOf } from "./read-snapshot.ts";
import { sql } from "./statements.ts";

/** An execution that was found. Whether it may be claimed is judged again when it is. */
export interface Found extends Due {
  readonly takesTurns: boolean;
}

/** What may be claimed next, longest due first. As long as nobody takes turns that is one statement. */
export async function nextDue(connection: Connection, options: CheckedClaim, span: DueSpan, most: number): Promise<readonly Found[]> {
  const { workflowId, permit } = options;
  const { from, behindMs } = span;
  const begin = [connection.time(), from, behindMs] as const;
  const rowsOf = async (statement: LibsqlStatement): Promise<readonly LibsqlRow[]> => (await connection.execute(statement)).rows;
  const turnsIn = async (waiting: readonly Waiting[]): Promise<readonly Found[]> => {
    const lines = openLines(waiting);
    if (lines.length === 0) return [];
    return (await rowsOf(sql.turns(...begin, JSON.stringify(lines.map(({ seq }) => seq)), most))).map((row) => foundOf(row, true));
  };
  if (workflowId !== undefined)
    return (await rowsOf(sql.dueOne(...begin, workflowId))).map((row) => foundOf(row, Number(row.takesTurns) === 1));
  if (permit !== undefined) return turnsIn((await rowsOf(sql.waitingFor(...begin, permit))).map(waitingOf));
  const rows = await rowsOf(sql.due(...begin, most));
  const plain = rows.filter(({ key }) => key === null).map((row) => foundOf(row, false));
  const waiting = rows.filter(({ key }) => key !== null).map(waitingOf);
  const turns = await turnsIn(waiting);
  if (turns.length > 0 || waiting.length < mostWaiting) return longestDue(plain, turns, most);
  // none of those that have waited longest may be taken, but perhaps others
  for (const { from: after, upTo } of walkFrom(connection.walk)) {
    for (let key = after; ; ) {
      const others = (await rowsOf(sql.waitingAfter(...begin, key, upTo))).map(waitingOf);
      key = others.at(-1)?.key ?? "";
      connection.walk.after = key;
      if (others.length === 0) break;
      const found = await turnsIn(others);
      if (found.length > 0) return longestDue(plain, found, most);
    }
  }
  return plain;
}

function foundOf({ seq, dueAt }: LibsqlRow, takesTurns: boolean): Found {
  return { seq: Number(seq), dueAt: Number(dueAt), takesTurns };
}

function waitingOf({ seq, dueAt, key, isOpen }: LibsqlRow): Waiting {
  return { seq: Number(seq), dueAt: Number(dueAt), key: textOf(key), isOpen: Number(isOpen) === 1 };
}
