import type { RecordTable } from "../../kit/record-table.ts";
import type { PostgresSession } from "./postgres-session.ts";
import { idOf, joined, nullableTextsIn, plainText, textsIn } from "./postgres-text.ts";

/** What stands beside the executions. */
export function postgresRecords({ schema, ask, askAnew }: PostgresSession): RecordTable {
  const records = `${schema}.records`;
  return {
    async get(kind, keys) {
      const text = `SELECT key, revision, value::text FROM ${records} WHERE kind = $1 AND key = ANY(${textsIn(2)})`;
      const rows = await ask(text, [kind, joined(keys.map(plainText))]);
      return new Map(rows.map(({ key, revision, value }) => [idOf(key!), { key: idOf(key!), revision: revision!, text: value! }]));
    },
    async put(kind, writes) {
      const columns = [
        writes.map(({ key }) => plainText(key)),
        writes.map(({ expected }) => expected),
        writes.map(({ next }) => next?.revision ?? null),
        writes.map(({ next }) => next?.text ?? null),
      ];
      const made = await askAnew(
        `
        WITH wanted AS MATERIALIZED (
          SELECT * FROM unnest(${textsIn(2)}, ${[3, 4, 5].map(nullableTextsIn).join(", ")}) WITH ORDINALITY AS each (key, expected, revision, value, ordinal)
        ),
        inserted AS (
          INSERT INTO ${records} (kind, key, revision, value) SELECT $1, key, revision, value::json FROM wanted
          WHERE expected IS NULL AND revision IS NOT NULL ORDER BY key ON CONFLICT DO NOTHING RETURNING key
        ),
        updated AS (
          UPDATE ${records} AS r SET revision = w.revision, value = w.value::json FROM wanted AS w
          WHERE r.kind = $1 AND r.key = w.key AND r.revision = w.expected AND w.revision IS NOT NULL RETURNING r.key
        ),
        deleted AS (
          DELETE FROM ${records} AS r USING wanted AS w WHERE r.kind = $1 AND r.key = w.key AND r.revision = w.expected AND w.revision IS NULL
          RETURNING r.key
        )
        SELECT ordinal::text FROM wanted WHERE key IN (SELECT key FROM inserted UNION ALL SELECT key FROM updated UNION ALL SELECT key FROM deleted)`,
        [kind, ...columns.map(joined)],
      );
      const ordinals = new Set(made.map(({ ordinal }) => Number(ordinal)));
      return writes.map((_, index) => ordinals.has(index + 1));
    },
  };
}
