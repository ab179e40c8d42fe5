import { isTerminal } from "../../../core/snapshot/snapshot.ts";
import type { Permit } from "../../../core/values/shared-keys.ts";
import { type ColumnRow, guardOf } from "../../kit/columns.ts";
import type { ExecutionGuard, RowAnswer, RowChanges, RowHistory, RowWrite, RowWritten } from "../../kit/execution-rows.ts";
import { dueAtAfter, meetsCondition, skipsLocked } from "../../kit/row-rules.ts";
import { insertedColumns } from "../../kit/sql-layout.ts";
import { guardSql } from "./mysql-rows.ts";
import type { MysqlTransaction } from "./mysql-schema.ts";
import type { MysqlValue } from "./mysql-session.ts";
import { batchesOf, clock, inList, paddedList, refuseLongName, repeated } from "./mysql-statement.ts";

type Insert = RowWrite & { readonly kind: "insert" };

/** A write whose condition holds, so that it is made. */
interface Accepted {
  readonly write: RowWrite;
  /** The row before the write; for a new execution, the row that was inserted. */
  readonly row: ExecutionGuard;
  readonly after: RowWritten;
}

/**
 * Makes writes on different executions in one transaction. Writes of the same kind with little text take as many round trips as a single
 * write.
 *
 * All rows are locked before any condition is checked, so the rows cannot change until the transaction ends. A row that is not locked,
 * because another transaction has locked it or it does not exist, is answered with `passedOver`.
 */
export async function writeRows(to: MysqlTransaction, writes: readonly RowWrite[]): Promise<RowAnswer[]> {
  const creator = crypto.randomUUID();
  const inserts = writes.filter((write): write is Insert => write.kind === "insert");
  await insertRows(to, inserts, creator);
  const locked = await lockRows(to, writes);
  const verdicts = writes.map((write): Accepted | null => {
    const columns = locked.get(write.id);
    if (!columns) return null;
    const row = guardOf(columns);
    // the lease of a new execution counts from its insert; after that, the transaction may have waited for the rows of other writes
    const now = Number((write.kind === "insert" && columns.created_at) || columns.now);
    if (write.kind === "insert" ? columns.creator !== creator : !meetsCondition(row, write.when, now)) return null;
    const { version, status } = (write.kind === "update" && write.set.state) || row;
    return { write, row, after: { now, version, status } };
  });
  const accepted = verdicts.filter((verdict) => verdict !== null);
  await updateRows(to, accepted);
  await changeRuns(to, accepted);
  await moveRows(to, accepted);
  await deleteRows(to, accepted);
  await appendHistories(
    to,
    accepted.flatMap(({ write, row, after }): AppendedHistory[] =>
      "history" in write && write.history ? [{ ...write.history, seq: row.seq, version: after.version }] : [],
    ),
  );
  return verdicts.map((verdict, index) => verdict?.after ?? (locked.has(writes[index]!.id) ? null : "passedOver"));
}

/** Refuses a write with a name that is too long for its column. @throws StepfoldError `LIMIT_EXCEEDED` */
export function refuseLongNames(write: RowWrite): void {
  const row = write.kind === "insert" ? write.row : null;
  refuseLongName("The id of an execution", write.id);
  refuseLongName("The incarnation of an execution", row?.incarnation);
  refuseLongName("The id of a workflow", row?.definitionId);
  refuseLongName("The key of a permit", (write.kind === "update" ? write.set.permit : row?.permit)?.key);
  refuseLongName("The id of a commit", "history" in write ? write.history?.commitId : null);
  refuseLongName("The owner of a claim", write.kind === "update" ? write.set.owner : row?.owner);
}

/** Inserts executions. A row whose id exists already stays as it is; the column `creator` tells which rows are new. */
async function insertRows(to: MysqlTransaction, inserts: readonly Insert[], creator: string): Promise<void> {
  const rows = inserts.map((insert): MysqlValue[] => {
    const { wakeAt, due, status } = insert.row;
    const isAtOnce = wakeAt !== null && wakeAt <= 0;
    // due in `inMs` milliseconds, or else at the time `at`; never if both are null
    const [inMs, at] = due !== "atWakeUp" ? [due.inMs, null] : isAtOnce ? [0, null] : [null, wakeAt];
    return [...insertedColumns.map(({ of }) => of(insert)), creator, inMs, at, isTerminal(status) ? 1 : 0];
  });
  await insertOrUpdate(to, rows, {
    into: `${to.tables.executions} (${insertedColumns.map(({ name }) => name).join(", ")}, creator, due_at, ended_at, created_at, updated_at)`,
    row: `(${repeated(insertedColumns.length, "?")}, ?, COALESCE(${clock} + CAST(? AS SIGNED), ?), IF(? > 0, ${clock}, NULL), ${clock}, ${clock})`,
    padding: ([id, ...others]) => [id!, ...others.map((value) => (typeof value === "string" ? "" : value))],
    update: "seq = seq",
  });
}

/** The parts of a statement that inserts rows, or changes the rows that exist already. */
interface InsertStatement {
  /** The table and its columns. */
  readonly into: string;
  /** The values of one row, with placeholders. */
  readonly row: string;
  /** Makes, from another row, a row that changes nothing. */
  readonly padding: (row: readonly MysqlValue[]) => readonly MysqlValue[];
  /** The assignments for a row that exists already. */
  readonly update: string;
}

/** Inserts rows with as few statements as possible. */
export async function insertOrUpdate(
  { ask, maxBytes }: MysqlTransaction,
  rows: readonly (readonly MysqlValue[])[],
  { into, row, padding, update }: InsertStatement,
): Promise<void> {
  for (const batch of batchesOf(rows, maxBytes)) {
    const values = paddedList(batch, padding);
    await ask(`INSERT INTO ${into} VALUES ${repeated(values.length, row)} ON DUPLICATE KEY UPDATE ${update}`, values.flat());
  }
}

/**
 * Locks executions, in order of id, and returns their columns by id. Rows that do not exist are missing. If there are several writes, or
 * the only one has `skipLocked`, rows that another transaction has locked are missing too.
 */
async function lockRows({ ask, tables }: MysqlTransaction, writes: readonly RowWrite[]): Promise<ReadonlyMap<string, ColumnRow>> {
  const { text, values } = inList(writes.map(({ id }) => id));
  // without the hint, the server could read and lock all rows of a small table
  const rows = await ask(
    `SELECT ${guardSql}, creator, created_at, ${clock} AS now FROM ${tables.executions} FORCE INDEX (ids) WHERE id ${text} FOR UPDATE${writes.length > 1 || writes.some(skipsLocked) ? " SKIP LOCKED" : ""}`,
    values,
  );
  return new Map(rows.map((row) => [row.id as string, row]));
}

/**
 * Changes executions that exist and are locked. The statement is an insert that always finds its row, because no other statement sets
 * different values in many rows without a temporary table. An empty head, owner or metadata, or a checkpoint version of NULL, means that
 * the column stays as it is.
 */
async function updateRows(to: MysqlTransaction, accepted: readonly Accepted[]): Promise<void> {
  const rows = accepted.flatMap(({ write, row, after: { now } }): MysqlValue[][] => {
    if (write.kind !== "update") return [];
    const { state, fence = row.fence, crashes = row.crashes } = write.set;
    const { version, status, sizeBytes, wakeAt, exemptAt = row.exemptAt } = state ?? row;
    return [
      [
        ...[row.seq, version, status, state?.head ?? "", sizeBytes, wakeAt, exemptAt, dueAtAfter(row, write.set, now)],
        ...[ownerValue(row, write.set), fence, crashes, state?.checkpointVersion ?? null, write.set.metadata ?? "", write.set.labels ?? ""],
      ],
    ];
  });
  const ifWritten = (value: string, otherwise: string): string => `IF(VALUES(head) = '', ${otherwise}, ${value})`;
  await insertOrUpdate(to, rows, {
    into: `${to.tables.executions} (seq, version, status, head, size_bytes, wake_at, exempt_at, due_at, owner, fence, crashes,
      checkpoint_version, metadata, labels, id, incarnation, definition_id, definition, creator, updated_at)`,
    row: `(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', '', '', '', '', ${clock})`,
    padding: (row) => row.with(3, "").with(-2, "").with(-1, ""),
    update: `version = VALUES(version), status = VALUES(status), size_bytes = VALUES(size_bytes), wake_at = VALUES(wake_at),
      exempt_at = VALUES(exempt_at), due_at = VALUES(due_at),
      owner = IF(VALUES(owner) = '', owner, VALUES(owner)), fence = VALUES(fence), crashes = VALUES(crashes),
      checkpoint_version = COALESCE(VALUES(checkpoint_version), checkpoint_version),
      labels = IF(VALUES(metadata) = '', labels, VALUES(labels)), metadata = IF(VALUES(metadata) = '', metadata, VALUES(metadata)),
      updated_at = ${ifWritten("VALUES(updated_at)", "updated_at")},
      ended_at = ${ifWritten("IF(VALUES(status) IN ('completed', 'failed', 'cancelled'), VALUES(updated_at), NULL)", "ended_at")},
      head = ${ifWritten("VALUES(head)", "head")}`,
  });
}

/** Notes the runs that commits begin, and deletes the events of earlier runs. Both are rare, so they have statements of their own. */
async function changeRuns({ ask, tables: { executions, events } }: MysqlTransaction, accepted: readonly Accepted[]): Promise<void> {
  for (const { write, row } of accepted) {
    const { run, trimmed } = (write.kind === "update" && write.set.state) || {};
    if (trimmed !== undefined) await ask(`UPDATE ${executions} SET trimmed = ? WHERE seq = ?`, [trimmed, row.seq]);
    if (run) await ask(`UPDATE ${executions} SET run_since = ?, run_at = ? WHERE seq = ?`, [run.since, run.at, row.seq]);
    if (write.kind !== "trim") continue;
    const upTo = write.when.runSince - 1;
    await ask(`DELETE FROM ${events} WHERE execution = ? AND version BETWEEN 1 AND ?`, [row.seq, upTo]);
    await ask(`UPDATE ${executions} SET run_since = NULL, run_at = NULL, trimmed = ? WHERE seq = ?`, [upTo, row.seq]);
  }
}

/** Moves executions into other partitions, with one statement for each. */
async function moveRows({ ask, tables: { executions } }: MysqlTransaction, accepted: readonly Accepted[]): Promise<void> {
  const partitions = new Map<string, { readonly permit: Permit | null; readonly seqs: number[] }>();
  for (const { write, row } of accepted) {
    const permit = write.kind === "update" ? write.set.permit : undefined;
    if (permit === undefined) continue;
    const name = JSON.stringify([permit?.key, permit?.limit]);
    const partition = partitions.get(name) ?? { permit, seqs: [] };
    partition.seqs.push(row.seq);
    partitions.set(name, partition);
  }
  for (const { permit, seqs } of partitions.values()) {
    const { text, values } = inList(seqs);
    await ask(`UPDATE ${executions} SET permit_key = ?, permit_limit = ? WHERE seq ${text}`, [
      permit?.key ?? null,
      permit?.limit ?? null,
      ...values,
    ]);
  }
}

/** Returns the owner to send: an empty text if the owner does not change, so that it need not be sent again. */
function ownerValue(row: ExecutionGuard, { owner = row.owner }: RowChanges): string | null {
  return owner === row.owner && owner !== null ? "" : owner;
}

/** Turns executions into tombstones, and removes rows, each together with its events and children. */
async function deleteRows(
  { ask, tables: { executions, events, children } }: MysqlTransaction,
  accepted: readonly Accepted[],
): Promise<void> {
  const seqsOf = (...kinds: RowWrite["kind"][]): number[] =>
    accepted.filter(({ write }) => kinds.includes(write.kind)).map(({ row }) => row.seq);
  const run = async (statement: string, column: string, seqs: readonly number[]): Promise<void> => {
    if (seqs.length === 0) return;
    const { text, values } = inList(seqs);
    await ask(`${statement} WHERE ${column} ${text}`, values);
  };
  for (const table of [events, children]) await run(`DELETE FROM ${table}`, "execution", seqsOf("bury", "remove"));
  const emptied = "definition_id = '', definition = '', metadata = '', labels = '', creator = '', head = '', crashes = 0";
  const columns = [
    ...["wake_at", "due_at", "owner", "permit_key", "permit_limit", "exempt_at"],
    ...["created_at", "ended_at", "run_at", "run_since"],
  ];
  const nothing = columns.map((column) => `${column} = NULL`).join(", ");
  await run(`UPDATE ${executions} SET ${emptied}, ${nothing}, deleted_at = ${clock}`, "seq", seqsOf("bury"));
  await run(`DELETE FROM ${executions}`, "seq", seqsOf("remove"));
}

/** What a write adds to the history of an execution. */
interface AppendedHistory extends RowHistory {
  readonly seq: number;
  /** The version after the write. */
  readonly version: number;
}

/** SQL for the hash of a child's key. The index holds the hash, because a key may have any length. */
const hashed = "UNHEX(SHA2(?, 256))";

async function appendHistories(to: MysqlTransaction, histories: readonly AppendedHistory[]): Promise<void> {
  const { events, children } = to.tables;
  // half the size for children, because the rows that fill up a statement have their keys too
  const half = { ...to, maxBytes: to.maxBytes / 2 };
  const added = histories.flatMap(({ seq, commitId, events: some }) => some.map(({ version, text }) => [seq, version, commitId, text]));
  await insertOrUpdate(to, added, {
    into: `${events} (execution, version, commit_id, event)`,
    row: "(?, ?, ?, ?)",
    padding: ([execution, version]) => [execution!, version!, "", ""],
    // only rows that fill up may exist already; for any other existing row the sum overflows, which is an error in every sql_mode
    update: "version = version + IF(VALUES(event) = '', 0, ~0 + VALUES(version) + 1)",
  });
  const changed = histories.flatMap(({ seq, version, children: some }) =>
    some.map((child, index) => ({ ...child, seq, place: version * 1_000_000 + index })),
  );
  // rows that fill up have the key of the last row: the shortest key comes last, so that they do not make the statement much larger
  changed.sort((a, b) => b.key.length - a.key.length);
  const deleted = changed.filter(({ text, moved }) => text === null || moved).map(({ seq, key }) => [seq, key]);
  for (const batch of batchesOf(deleted, half.maxBytes)) {
    const values = paddedList(batch, (last) => last);
    const which = repeated(values.length, `(execution = ? AND hash = ${hashed})`, " OR ");
    await to.ask(`DELETE FROM ${children} WHERE ${which}`, values.flat());
  }
  const put = changed.flatMap(({ seq, key, text, place }) => (text === null ? [] : [[seq, key, key, place, text]]));
  await insertOrUpdate(half, put, {
    into: `${children} (execution, hash, name, place, head)`,
    row: `(?, ${hashed}, ?, ?, ?)`,
    padding: ([execution, key]) => [execution!, key!, key!, 0, ""],
    update: "head = IF(VALUES(head) = '', head, VALUES(head))",
  });
}
