import type { RecordKind, RecordTable, RecordWrite, StoredRecord } from "../../kit/record-table.ts";
import { refuseLarge } from "../../kit/writing/value-limit.ts";
import type { MysqlTransaction, OpenTables } from "./mysql-schema.ts";
import { inList, refuseLongName } from "./mysql-statement.ts";
import { insertOrUpdate } from "./mysql-write.ts";

/** Returns the table of records, which a store keeps in addition to its executions. */
export function recordsOf(open: OpenTables, maxValueBytes: number): RecordTable {
  return {
    async get(kind, keys) {
      for (const key of keys) refuseLongName(`The name of a ${kind}`, key);
      const names = inList(keys);
      const columns = "name AS `key`, revision, CAST(body AS BINARY) AS text";
      const sql = `SELECT ${columns} FROM ${open.tables.records} WHERE kind = ? AND name ${names.text}`;
      const rows = await open.send("read", sql, [kind, ...names.values]);
      return new Map((rows as unknown as StoredRecord[]).map((record) => [record.key, record]));
    },
    async put(kind, writes) {
      for (const { next } of writes) if (next) refuseLarge("mysql", maxValueBytes, `The ${kind}`, next.text);
      return open.run("write", (to) => putRecords(to, kind, writes));
    },
  };
}

/** Compares and sets any number of records with a few statements. Existing records are locked before they are compared. */
async function putRecords(to: MysqlTransaction, kind: RecordKind, writes: readonly RecordWrite[]): Promise<readonly boolean[]> {
  const { records } = to.tables;
  const names = inList(writes.map(({ key }) => key));
  const revisions = async (lock = ""): Promise<ReadonlyMap<unknown, unknown>> => {
    const rows = await to.ask(`SELECT name, revision FROM ${records} WHERE kind = ? AND name ${names.text} ${lock}`, [
      kind,
      ...names.values,
    ]);
    return new Map(rows.map(({ name, revision }) => [name, revision]));
  };
  const put = async (some: readonly RecordWrite[], update: string): Promise<void> => {
    const rows = some.flatMap(({ key, next }) => (next ? [[kind, key, next.revision, next.text]] : []));
    const into = `${records} (kind, name, revision, body)`;
    await insertOrUpdate(to, rows, { into, row: "(?, ?, ?, ?)", padding: (last) => last, update });
  };
  const before = await revisions("FOR UPDATE");
  const allowed = writes.filter(({ key, expected }) => (before.get(key) ?? null) === expected);
  const created = allowed.filter(({ expected }) => expected === null);
  const changed = allowed.filter(({ expected }) => expected !== null);
  await put(changed, "revision = VALUES(revision), body = VALUES(body)");
  // a record that another process creates at this moment stays as it is; the revisions that are read below tell who created it
  await put(created, "revision = revision");
  const deleted = allowed.filter(({ next }) => !next).map(({ key }) => key);
  if (deleted.length > 0) {
    const { text, values } = inList(deleted);
    await to.ask(`DELETE FROM ${records} WHERE kind = ? AND name ${text}`, [kind, ...values]);
  }
  const after = created.length > 0 ? await revisions() : before;
  return writes.map((write) => allowed.includes(write) && (write.expected !== null || after.get(write.key) === write.next?.revision));
}
