import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { RecordKind, RecordTable, RecordWrite } from "../../kit/record-table.ts";
import type { TablesOptions } from "./mysql-schema.ts";
import { columnText, committedRows, inTransaction, type MysqlSession } from "./mysql-session.ts";
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
      const text = `SELECT name, revision, CAST(body AS BINARY) FROM ${records} WHERE kind = ? AND name ${names.text}`;
      const rows = await committedRows(pool, text, [kind, ...names.values]);
      return new Map(
        rows.map(([key, revision, body]) => [
          columnText(key),
          { key: columnText(key), revision: columnText(revision), text: columnText(body) },
        ]),
      );
    },
    async put(kind, writes) {
      for (const { next } of writes) if (next) refuseLargeRecord(kind, next.text, maxValueBytes);
      const maxBytes = await ready();
      return inTransaction(pool, (session) => putRecords(session, records, kind, writes, maxBytes));
    },
  };
}

/** Compares and sets records in a few statements, however many they are. Those that are there are locked before they are compared. */
async function putRecords(
  session: MysqlSession,
  records: string,
  kind: RecordKind,
  writes: readonly RecordWrite[],
  maxBytes: number,
): Promise<readonly boolean[]> {
  const names = among(writes.map(({ key }) => key));
  const revisions = async (lock = ""): Promise<ReadonlyMap<string, string>> => {
    const text = `SELECT name, revision FROM ${records} WHERE kind = ? AND name ${names.text} ${lock}`;
    return new Map((await session.rows(text, [kind, ...names.values])).map(([name, revision]) => [columnText(name), columnText(revision)]));
  };
  const before = await revisions("FOR UPDATE");
  const allowed = writes.filter(({ key, expected }) => (before.get(key) ?? null) === expected);
  const put = async (some: readonly RecordWrite[], ifThere: string): Promise<void> => {
    const rows = some.flatMap(({ key, next }) => (next ? [[kind, key, next.revision, next.text]] : []));
    await insertOrUpdate(session, rows, maxBytes, {
      into: `${records} (kind, name, revision, body)`,
      row: "(?, ?, ?, ?)",
      filling: (last) => last,
      update: ifThere,
    });
  };
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
    await session.run(`DELETE FROM ${records} WHERE kind = ? AND name ${text}`, [kind, ...values]);
  }
  const after = created.length > 0 ? await revisions() : before;
  return writes.map((write) => allowed.includes(write) && (write.expected !== null || after.get(write.key) === write.next?.revision));
}

function refuseLargeRecord(kind: RecordKind, text: string, max: number): void {
  const actual = Buffer.byteLength(text);
  if (actual <= max) return;
  throw new StepfoldError("LIMIT_EXCEEDED", { what: `The ${kind}`, limit: "mysql value in bytes", max, actual });
}
