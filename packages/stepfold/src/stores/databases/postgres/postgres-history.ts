import type { RowHistory, RowWrite } from "../../kit/execution-rows.ts";
import { joined, nullableTextsIn, numbersIn, textsIn } from "./postgres-text.ts";

/**
 * How the events and children of writes are written. `plain`, the common case: each write has at most one event, with the version of its
 * row, and no children, so the event is one more column of `input`. Else they are lists of their own, with or without children.
 */
export type HistoryShape = "none" | "plain" | "events" | "children";

/** The events and children of writes, as parameters. */
interface HistoryRows {
  readonly shape: HistoryShape;
  /** The parameters, which follow those of `input`. */
  readonly values: readonly string[];
}

/** Returns how the history of the writes is written, with its parameters. */
export function historyRows(writes: readonly RowWrite[]): HistoryRows {
  const histories = writes.map((write) => ("history" in write ? write.history : undefined));
  if (histories.every((history) => !history)) return { shape: "none", values: [] };
  if (histories.every((history, index) => !history || isPlain(history, writes[index]!))) return { shape: "plain", values: [] };
  const rows = <T>(of: (history: RowHistory) => readonly T[]): { ordinal: number; row: T }[] =>
    histories.flatMap((history, index) => (history ? of(history) : []).map((row) => ({ ordinal: index + 1, row })));
  const events = rows(({ events: own }) => own);
  const children = rows(({ children: own }) => own);
  const values = [events.map(({ ordinal }) => ordinal), events.map(({ row }) => row.version), events.map(({ row }) => row.text)];
  if (children.length === 0) return { shape: "events", values: values.map(joined) };
  const childValues = [
    children.map(({ ordinal }) => ordinal),
    children.map(({ row }) => JSON.stringify(row.key)),
    children.map(({ row }) => row.text),
    children.map(({ row }) => (row.moved ? "t" : "f")),
  ];
  return { shape: "children", values: [...values, ...childValues].map(joined) };
}

function isPlain({ events, children }: RowHistory, write: RowWrite): boolean {
  const version = write.kind === "insert" ? write.row.version : write.kind === "update" ? write.set.state?.version : undefined;
  return events.length === 1 && events[0]!.version === version && children.length === 0;
}

/**
 * Returns the SQL that writes the events and children of the rows in `changed`.
 *
 * A child that was deleted and created again keeps its row and gets a new place, because one statement cannot delete and insert the same
 * row. Places are assigned in the order of the commit, before any child is written.
 *
 * @param first the number of the first parameter of the history
 */
export function historySql(schema: string, shape: HistoryShape, first: number): string {
  if (shape === "none") return "";
  const insertion = `,
    appended AS (
      INSERT INTO ${schema}.events (execution, version, commit_id, event)`;
  if (shape === "plain")
    return `${insertion}
      SELECT seq, version, commit_id, event::json FROM changed WHERE event IS NOT NULL
    )`;
  const appended = `${insertion}
      SELECT seq, entry.version, commit_id, entry.event::json
      FROM changed JOIN unnest(${numbersIn(first)}, ${numbersIn(first + 1)}, ${textsIn(first + 2)}) AS entry (ordinal, version, event) USING (ordinal)
    )`;
  if (shape === "events") return appended;
  const put = (which: string, change: string): string => `
      INSERT INTO ${schema}.children (execution, digest, place, key, head)
      SELECT execution, digest, place, key::json, head::json FROM placed WHERE head IS NOT NULL AND is_last = '${which}'
      ON CONFLICT (execution, digest) DO UPDATE SET ${change}`;
  return `${appended},
    placed AS MATERIALIZED (
      SELECT execution, sha256(convert_to(key, 'UTF8')) AS digest, nextval('${schema}.children_place') AS place, key, head, is_last
      FROM (
        SELECT seq AS execution, key, head, is_last
        FROM unnest(${numbersIn(first + 3)}, ${textsIn(first + 4)}, ${nullableTextsIn(first + 5)}, ${textsIn(first + 6)}) WITH ORDINALITY
          AS child (ordinal, key, head, is_last, position)
        JOIN changed USING (ordinal) ORDER BY position) AS child
    ),
    put AS (${put("f", "head = EXCLUDED.head")}),
    put_last AS (${put("t", "head = EXCLUDED.head, place = EXCLUDED.place")}),
    taken_out AS (
      DELETE FROM ${schema}.children USING placed
      WHERE placed.head IS NULL AND children.execution = placed.execution AND children.digest = placed.digest
    )`;
}
