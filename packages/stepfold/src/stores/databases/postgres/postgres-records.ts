import type { RecordTable, RecordWrite } from "../../kit/record-table.ts";
import type { PostgresSession } from "./postgres-session.ts";
import { type InputColumn, idOf, inputRows, inputSql, joined, plainText, textsIn } from "./postgres-text.ts";

const inputColumns: readonly InputColumn<RecordWrite>[] = [
  { name: "key", is: "id", of: ({ key }) => key },
  { name: "expected", is: "id", of: ({ expected }) => expected },
  { name: "revision", is: "id", of: ({ next }) => next?.revision },
  { name: "value", is: "json", of: ({ next }) => next?.text },
];

/** Returns the table of records, which a store keeps in addition to its executions. */
export function postgresRecords({ schema, ask, askUnprepared }: PostgresSession): RecordTable {
  const records = `${schema}.records`;
  return {
    async get(kind, keys) {
      const text = `SELECT key, revision, value::text FROM ${records} WHERE kind = $1 AND key = ANY(${textsIn(2)})`;
      const rows = await ask(text, [kind, joined(keys.map(plainText))]);
      return new Map(rows.map(({ key, revision, value }) => [idOf(key!), { key: idOf(key!), revision: revision!, text: value! }]));
    },
    async put(kind, writes) {
      const { values, shape } = inputRows(inputColumns, writes);
      const isOfKey = `r.kind = '${kind}' AND r.key = w.key AND r.revision = w.expected`;
      const text = `
        WITH ${inputSql(inputColumns, shape, writes.length === 1).sql},
        inserted AS (
          INSERT INTO ${records} (kind, key, revision, value) SELECT '${kind}', key, revision, value::json FROM input
          WHERE expected IS NULL AND revision IS NOT NULL ORDER BY key ON CONFLICT DO NOTHING RETURNING key
        ),
        updated AS (
          UPDATE ${records} AS r SET revision = w.revision, value = w.value::json FROM input AS w
          WHERE ${isOfKey} AND w.revision IS NOT NULL RETURNING r.key
        ),
        deleted AS (DELETE FROM ${records} AS r USING input AS w WHERE ${isOfKey} AND w.revision IS NULL RETURNING r.key)
        SELECT ordinal::text FROM input WHERE key IN (SELECT key FROM inserted UNION ALL SELECT key FROM updated UNION ALL SELECT key FROM deleted)`;
      const made = new Set((await askUnprepared(text, values)).map(({ ordinal }) => Number(ordinal)));
      return writes.map((_, index) => made.has(index + 1));
    },
  };
}
