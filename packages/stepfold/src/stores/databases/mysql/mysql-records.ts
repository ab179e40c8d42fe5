import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { RecordKind, RecordTable, RecordWrite } from "../../kit/record-table.ts";
import type { MysqlPool } from "./mysql-client.ts";
import { isDuplicate } from "./mysql-error.ts";
import type { TablesOptions } from "./mysql-schema.ts";
import { connected, reading, type SqlValue, textOf } from "./mysql-session.ts";
import { among, refuseLongName, tablesOf } from "./mysql-statement.ts";

/** What stands beside the executions. Each write is one statement, which also compares. */
export function recordsOf({ pool, prefix, maxValueBytes }: TablesOptions, ready: () => Promise<unknown>): RecordTable {
  const { records } = tablesOf(prefix);
  return {
    async get(kind, keys) {
      for (const key of keys) refuseLongName(`The name of a ${kind}`, key);
      await ready();
      const names = among(keys);
      const text = `SELECT name, revision, CAST(body AS BINARY) FROM ${records} WHERE kind = ? AND name ${names.text}`;
      const rows = await reading(pool, text, [kind, ...names.values]);
      return new Map(
        rows.map(([key, revision, body]) => [textOf(key), { key: textOf(key), revision: textOf(revision), text: textOf(body) }]),
      );
    },
    async put(kind, writes) {
      for (const { next } of writes) if (next) refuseLargeRecord(kind, next.text, maxValueBytes);
      await ready();
      const made: boolean[] = [];
      for (const write of writes) made.push(await putRecord(pool, records, kind, write));
      return made;
    },
  };
}

async function putRecord(pool: MysqlPool, records: string, kind: RecordKind, { key, expected, next }: RecordWrite): Promise<boolean> {
  const run = (text: string, values: readonly SqlValue[]): Promise<number> => connected(pool, (session) => session.run(text, values));
  const which = "WHERE kind = ? AND name = ? AND revision = ?";
  if (!next) return (await run(`DELETE FROM ${records} ${which}`, [kind, key, expected])) > 0;
  const { revision, text } = next;
  if (expected !== null) {
    return (await run(`UPDATE ${records} SET revision = ?, body = ? ${which}`, [revision, text, kind, key, expected])) > 0;
  }
  try {
    return (await run(`INSERT INTO ${records} (kind, name, revision, body) VALUES (?, ?, ?, ?)`, [kind, key, revision, text])) > 0;
  } catch (cause) {
    if (isDuplicate(cause)) return false;
    throw cause;
  }
}

function refuseLargeRecord(kind: RecordKind, text: string, max: number): void {
  const actual = Buffer.byteLength(text);
  if (actual <= max) return;
  throw new StepfoldError("LIMIT_EXCEEDED", { what: `The ${kind}`, limit: "mysql value in bytes", max, actual });
}
