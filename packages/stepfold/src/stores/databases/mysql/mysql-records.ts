import type { RecordKind, RecordTable, RecordWrite } from "../../kit/record-table.ts";
import { refuseLarge } from "../../kit/writing/value-limit.ts";
import type { TablesOptions } from "./mysql-schema.ts";
import { committedRows, inTransaction, type MysqlAsk } from "./mysql-session.ts";
import { among, refuseLongName, tablesOf } from "./mysql-statement.ts";
import { insertOrUpdate } from "./mysql-write.ts";

/** What stands beside the executions. */
export function recordsOf({ pool, prefix, maxValueBytes }: TablesOptions, ready: () => Promise<number>): RecordTable {
  const { records } = tablesOf(prefix);
  return {
    async get(kind, keys) {
      for (const key of keys) refuseLongName(`The name of a ${kind}`, key);
      await ready();
      const names = among(keys);
      const sql = `SELECT name, revision, CAST(body AS BINARY) AS body FROM ${records} WHERE kind = ? AND name ${names.text}`;
      const rows = (await committedRows(pool, sql, [kind, ...names.values])) as readonly Record<"name" | "revision" | "body", string>[];
      return new Map(rows.map(({ name: key, revision, body: text }) => [key, { key, revision, text }]));
    },
    async put(kind, writes) {
      for (const { next } of writes) if (next) refuseLarge("mysql", maxValueBytes, `The ${kind}`, next.text);
      const maxBytes = await ready();
      return inTransaction(pool, (ask) => putRecords({ ask, maxBytes }, records, kind, writes));
    },
  };
}

/** Compares and sets records in a few statements, however many they are. Those that are there are locked before they are compared. */
async function putRecords(
  to: { readonly ask: MysqlAsk; readonly maxBytes: number },
  records: string,
  kind: RecordKind,
  writes: readonly RecordWrite[],
): Promise<readonly boolean[]> {
  const names = among(writes.map(({ key }) => key));
  const revisions = async (lock = ""): Promise<ReadonlyMap<unknown, unknown>> => {
    const rows = await to.ask(`SELECT name, revision FROM ${records} WHERE kind = ? AND name ${names.text} ${lock}`, [
      kind,
      ...names.values,
    ]);
    return new Map(rows.map(({ name, revision }) => [name, revision]));
  };
  const put = (some: readonly RecordWrite[], ifThere: string): Promise<void> =>
    insertOrUpdate(
      to,
      some.flatMap(({ key, next }) => (next ? [[kind, key, next.revision, next.text]] : [])),
      { into: `${records} (kind, name, revision, body)`, row: "(?, ?, ?, ?)", filling: (last) => last, update: ifThere },
    );
  const before = await revisions("FOR UPDATE");
  const allowed = writes.filter(({ key, expected }) => (before.get(key) ?? null) === expected);
  const created = allowed.filter(({ expected }) => expected === null);
  await put(
    allowed.filter(({ expected }) => expected !== null),
    "revision = VALUES(revision), body = VALUES(body)",
  );
  // one that another process creates in this moment is that process's
  await put(created, "revision = revision");
  const deleted = allowed.filter(({ next }) => !next).map(({ key }) => key);
  if (deleted.length > 0) {
    const { text, values } = among(deleted);
    await to.ask(`DELETE FROM ${records} WHERE kind = ? AND name ${text}`, [kind, ...values]);
  }
  const after = created.length > 0 ? await revisions() : before;
  return writes.map((write) => allowed.includes(write) && (write.expected !== null || after.get(write.key) === write.next?.revision));
}
