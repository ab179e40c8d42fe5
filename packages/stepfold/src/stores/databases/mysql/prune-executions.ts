import type { SnapshotHead } from "../../../core/snapshot/snapshot.ts";
import type { PruneReport } from "../../../ports/snapshot-store.ts";
import type { CheckedPrune } from "../../kit/checked-store.ts";
import { refuseDelete } from "../../kit/verdict.ts";
import { amongValues, batchesOf, each, filled } from "./batches.ts";
import { lockedRows } from "./locked.ts";
import type { MysqlPool } from "./mysql-client.ts";
import { numberOf, reading, type Session, type SqlValue, textOf, writing } from "./mysql-session.ts";
import { clock, type Settings, type Tables, terminal } from "./tables.ts";

/** Most executions that are deleted in one transaction. */
const mostTogether = 64;

/** Deletes one ended execution. */
export function deleteExecution(pool: MysqlPool, settings: Settings, workflowId: string): Promise<void> {
  return writing(pool, async (session) => {
    const stored = (await lockedRows(session, settings.tables, [workflowId])).get(workflowId);
    refuseDelete(workflowId, stored?.status ?? null);
    await bury(session, settings, [stored!.seq]);
  });
}

/** Deletes ended executions, those first that were changed least recently, and forgets ids whose retention is over. */
export async function pruneExecutions(pool: MysqlPool, settings: Settings, options: CheckedPrune): Promise<PruneReport> {
  const { tables, retentionMs } = settings;
  const { before, definitionId, statuses, limit, dryRun } = options;
  const seqs = await reading(pool, async (session) => {
    if (statuses.length === 0) return [];
    const text = endedOf(tables, each(statuses.length, "?"), definitionId !== null);
    const values = [before, ...statuses, ...(definitionId === null ? [] : [definitionId]), limit];
    return (await session.rows(text, values)).map(([seq]) => numberOf(seq));
  });
  const report = { executions: 0, events: 0 };
  for (let from = 0; from < seqs.length; from += mostTogether) {
    const some = seqs.slice(from, from + mostTogether);
    const done = dryRun
      ? await reading(pool, (session) => countOf(session, tables, some))
      : await writing(pool, (session) => bury(session, settings, some));
    report.executions += done.executions;
    report.events += done.events;
  }
  if (!dryRun) {
    const forget = `DELETE FROM ${tables.tombstones} WHERE deleted_at <= ${clock} - CAST(? AS SIGNED)`;
    await writing(pool, (session) => session.run(forget, [retentionMs]));
    await forgetKeys(pool, tables);
  }
  return report;
}

/** Deletes the rows of keys that no execution has. Whoever locks one that is missing makes it again. */
async function forgetKeys(pool: MysqlPool, { executions, permits }: Tables): Promise<void> {
  const unused = `SELECT permit_key FROM ${permits} AS p
    WHERE NOT EXISTS (SELECT 1 FROM ${executions} AS e FORCE INDEX (due_by_key) WHERE e.permit_key = p.permit_key) LIMIT 256`;
  const rows = await reading(pool, (session) => session.rows(unused));
  if (rows.length === 0) return;
  const keys = amongValues(rows.map(([key]) => textOf(key)));
  await writing(pool, (session) => session.run(`DELETE FROM ${permits} WHERE permit_key IN (${each(keys.length, "?")})`, keys));
}

/** The statement that finds what ended before, longest ago first. */
export function endedOf({ executions }: Tables, statuses: string, isOfOneWorkflow: boolean): string {
  const condition = `ended_at < ? AND status IN (${statuses})${isOfOneWorkflow ? " AND definition_id = ?" : ""}`;
  return `SELECT seq FROM ${executions} FORCE INDEX (ended) WHERE ${condition} ORDER BY ended_at, seq LIMIT ?`;
}

async function countOf(session: Session, { events }: Tables, seqs: readonly number[]): Promise<PruneReport> {
  const values = amongValues(seqs);
  const [row] = await session.rows(`SELECT COUNT(*) FROM ${events} WHERE execution IN (${each(values.length, "?")})`, values);
  return { executions: seqs.length, events: numberOf(row![0]) };
}

/** Leaves tombstones in place of executions. Those that somebody else deleted meanwhile do not count. */
async function bury(session: Session, { tables, maxBytes }: Settings, seqs: readonly number[]): Promise<PruneReport> {
  const { executions, events, children, tombstones } = tables;
  const among = (values: readonly number[]): string => each(values.length, "?");
  const asked = amongValues(seqs);
  const ended = await session.rows(
    `SELECT seq, id, incarnation, status, CAST(head AS BINARY) FROM ${executions}
    WHERE seq IN (${among(asked)}) AND status IN ${terminal} ORDER BY seq FOR UPDATE`,
    asked,
  );
  if (ended.length === 0) return { executions: 0, events: 0 };
  const rows = ended.map(([, id, incarnation, status, head]): SqlValue[] => {
    return [textOf(id), textOf(incarnation), textOf(status), outputOf(textOf(head))];
  });
  for (const batch of batchesOf(rows, maxBytes)) {
    const values = filled(batch, ([id, incarnation, status]) => [id!, incarnation!, status!, ""]);
    await session.run(
      `INSERT INTO ${tombstones} (id, incarnation, status, output, deleted_at) VALUES ${each(values.length, `(?, ?, ?, ?, ${clock})`)}
      ON DUPLICATE KEY UPDATE output = IF(VALUES(output) = '', output, VALUES(output)), incarnation = VALUES(incarnation),
        status = VALUES(status), deleted_at = VALUES(deleted_at)`,
      values.flat(),
    );
  }
  const found = amongValues(ended.map(([seq]) => numberOf(seq)));
  const [count] = await session.rows(`SELECT COUNT(*) FROM ${events} WHERE execution IN (${among(found)})`, found);
  for (const table of [events, children]) await session.run(`DELETE FROM ${table} WHERE execution IN (${among(found)})`, found);
  await session.run(`DELETE FROM ${executions} WHERE seq IN (${among(found)})`, found);
  return { executions: ended.length, events: numberOf(count![0]) };
}

function outputOf(head: string): string | null {
  try {
    const { output } = JSON.parse(head) as Pick<SnapshotHead, "output">;
    return output === undefined ? null : JSON.stringify(output);
  } catch {
    // damaged: it may be deleted all the same
    return null;
  }
}
