import type { RowHistory, RowWrite } from "../../kit/execution-table.ts";
import { insertedColumns } from "../../kit/sql-layout.ts";
import {
  clock,
  type InputColumn,
  type InputRows,
  inputRows,
  joined,
  nullableTextsIn,
  numbersIn,
  plainText,
  textsIn,
  writingClock,
} from "./postgres-text.ts";

type Insert = RowWrite & { readonly kind: "insert" };
type Update = RowWrite & { readonly kind: "update" };
type Deletion = RowWrite & { readonly kind: "bury" | "remove" };

/** A statement with its parameters. */
interface WriteStatement {
  readonly text: string;
  readonly values: readonly string[];
}

/**
 * Returns the statement that makes writes of one kind. Its answer has a row for each write that was made, with the ordinal of the write
 * (from 1). A row with nothing but an ordinal stands for an update that was passed over.
 */
export function writeStatement(schema: string, kind: RowWrite["kind"], writes: readonly RowWrite[]): WriteStatement {
  if (kind === "insert") return insertion(schema, writes as readonly Insert[]);
  if (kind === "update") return update(schema, writes as readonly Update[]);
  return deletion(schema, kind, writes as readonly Deletion[]);
}

/** The statuses of executions that have ended, as an SQL list. */
const terminal = "('completed', 'failed', 'cancelled')";

/** The event of a write as one more column, if `plainHistory` can write the history of every write. */
const eventColumn: InputColumn<Insert | Update> = { name: "event", is: "json", of: ({ history }) => history?.events[0]?.text };

/** True if `plainHistory` can write the history, the common case: one event, with the row's version after the write, and no children. */
function isOneEvent({ events, children }: RowHistory, version: number | undefined): boolean {
  return events.length === 1 && events[0]!.version === version && children.length === 0;
}

const insertColumns: readonly InputColumn<Insert>[] = [
  ...insertedColumns,
  // milliseconds from now; NULL: due at `wake_at`
  { name: "due_in", is: "number", of: ({ row: { due } }) => (due === "atWakeUp" ? null : due.inMs) },
  { name: "commit_id", is: "id", of: ({ history }) => history.commitId },
];

const conditionColumns: readonly InputColumn<Update | Deletion>[] = [
  { name: "id", is: "id", of: ({ id }) => id },
  { name: "incarnation", is: "id", of: ({ when }) => when.incarnation },
  { name: "expected", is: "number", of: ({ when }) => when.version },
];

const updateColumns: readonly InputColumn<Update>[] = [
  ...conditionColumns,
  { name: "fence", is: "number", of: ({ when }) => when.fence },
  { name: "held", is: "flag", of: ({ when }) => when.held },
  { name: "open", is: "flag", of: ({ when }) => when.open },
  { name: "is_due", is: "flag", of: ({ when }) => when.due },
  { name: "version", is: "number", of: ({ set }) => set.state?.version },
  { name: "status", is: "id", of: ({ set }) => set.state?.status },
  { name: "head", is: "json", of: ({ set }) => set.state?.head },
  { name: "size_bytes", is: "number", of: ({ set }) => set.state?.sizeBytes },
  { name: "wake_at", is: "number", of: ({ set }) => set.state?.wakeAt },
  { name: "checkpoint", is: "number", of: ({ set }) => set.state?.checkpointVersion },
  // "=" and the new owner, "-" for no owner; NULL: the owner stays
  {
    name: "new_owner",
    is: "json",
    of: ({ set: { owner } }) => (owner === null ? "-" : owner === undefined ? null : `=${plainText(owner)}`),
  },
  { name: "new_fence", is: "number", of: ({ set }) => set.fence },
  { name: "crashes", is: "number", of: ({ set }) => set.crashes },
  { name: "metadata", is: "json", of: ({ set }) => set.metadata },
  { name: "labels", is: "json", of: ({ set }) => set.labels },
  { name: "changes_due", is: "flag", of: ({ set }) => set.due && true },
  // with `changes_due`: milliseconds from now; NULL: due at the execution's `wakeAt`
  { name: "due_in", is: "number", of: ({ set: { due } }) => (due === "atWakeUp" ? null : due?.inMs) },
  { name: "unless_held", is: "flag", of: ({ set }) => set.dueUnlessHeld },
  { name: "commit_id", is: "id", of: ({ history }) => history?.commitId },
];

/**
 * Returns the SQL for the due time after a write `w`. If `due_in` is NULL, the execution is due at its `wakeAt`. A `wakeAt` of 0 or less
 * means due at once, and then an earlier due time stays.
 *
 * @param before SQL for the due time before the write
 * @param wakeAt SQL for the `wakeAt` after the write
 */
function dueAtSql(before: string, wakeAt: string): string {
  return `CASE WHEN w.due_in IS NOT NULL THEN now + w.due_in WHEN ${wakeAt} <= 0 THEN least(${before}, now) ELSE ${wakeAt} END`;
}

/**
 * Returns the statement that creates executions. Rows are inserted in order of id, so that two groups never deadlock. A tombstone
 * is the row of the deleted execution: so the unique index of ids refuses an id that an execution or a tombstone has, even if another
 * transaction is writing that row at this moment.
 */
function insertion(schema: string, writes: readonly Insert[]): WriteStatement {
  const isPlain = writes.every(({ row, history }) => isOneEvent(history, row.version));
  const input = inputRows(isPlain ? [...insertColumns, eventColumn] : insertColumns, writes);
  const history = isPlain ? plainHistory(schema) : historyRows(schema, writes, input.values.length + 1);
  const text = `
    WITH ${writingClock}, ${input.sql},
    created AS (
      INSERT INTO ${schema}.executions (id, incarnation, definition_id, definition, metadata, labels, version, status, head, size_bytes, wake_at, due_at,
        owner, fence, permit_key, permit_limit, created_at, updated_at, ended_at)
      SELECT id, incarnation, substr(definition_id, 2), definition::json, metadata::json,
        coalesce(labels, ''), version, status, head::json,
        size_bytes, wake_at, ${dueAtSql("NULL::bigint", "wake_at")}, substr(owner, 2), fence, substr(permit_key, 2), permit_limit, now, now,
        CASE WHEN status IN ${terminal} THEN now END
      FROM clock, input AS w ORDER BY id
      ON CONFLICT (id) DO NOTHING
      RETURNING seq, id, version, status
    ),
    changed AS (
      SELECT created.seq, w.ordinal, w.commit_id, created.version, created.status${isPlain ? ", w.event" : ""} FROM created JOIN input AS w USING (id)
    )${history.sql}
    SELECT ordinal::text, version::text, status, now::text FROM changed, clock`;
  return { text, values: [...input.values, ...history.values] };
}

/**
 * Returns the statement that changes rows for which the condition of a write holds.
 *
 * A group of writes first locks its rows, and passes over rows that another transaction is writing, so that one locked row does not
 * delay the others. A single write (unless it says `skipLocked`) waits for that transaction and then checks the row in its new state:
 * READ COMMITTED does so for the row that is updated, and for no other. So of two commits from one version, the second one finds a newer
 * version and writes nothing. Events and children are inserted from the rows that the UPDATE returns, so they are written together with
 * their head or not at all.
 *
 * The text contains only what these writes change and check, because planning the rest would take longer than a step itself.
 */
function update(schema: string, writes: readonly Update[]): WriteStatement {
  const isPlain = writes.every(({ set, history }) => !history || isOneEvent(history, set.state?.version));
  const input = inputRows(isPlain ? [...updateColumns, eventColumn] : updateColumns, writes);
  const history =
    isPlain && writes.some((write) => write.history) ? plainHistory(schema) : historyRows(schema, writes, input.values.length + 1);
  const several = writes.length > 1 || writes.some(({ skipLocked }) => skipLocked);
  const locked = `
    locked AS MATERIALIZED (
      SELECT e.seq, input.* FROM input JOIN ${schema}.executions AS e USING (id) ORDER BY e.id FOR UPDATE OF e SKIP LOCKED
    ),`;
  const text = `
    WITH ${several ? clock : writingClock}, ${input.sql},${several ? locked : ""}
    changed AS (
      UPDATE ${schema}.executions AS e SET ${assignments(input.presence)}
      FROM clock, ${several ? "locked AS w WHERE e.seq = w.seq" : "input AS w WHERE e.id = w.id"}
        AND e.incarnation = w.incarnation AND coalesce(e.deleted_at, -1) = -1${conditions(input.presence)}
      RETURNING e.seq, w.ordinal, w.commit_id, e.version, e.status, now${isPlain ? ", w.event" : ""}
    )${history.sql}
    SELECT ordinal::text, version::text, status, now::text FROM changed${several ? passedOver : ""}`;
  return { text, values: [...input.values, ...history.values] };
}

/** Returns the assignments of the UPDATE: what the writes `w` change in the rows `e`. */
function assignments(presence: InputRows["presence"]): string {
  const states = presence("version");
  // a write that has `version` has all columns of the state
  const ofState = (given: string, kept: string): string =>
    ({ none: kept, some: `CASE WHEN w.version IS NULL THEN ${kept} ELSE ${given} END`, all: given })[states];
  const wakeAt = ofState("w.wake_at", "e.wake_at");
  const endedAt = `CASE WHEN w.status IN ${terminal} THEN now END`;
  const keepsDue = "w.changes_due IS NULL OR (w.unless_held = 't' AND e.owner IS NOT NULL)";
  const labels = "CASE WHEN w.metadata IS NULL THEN e.labels ELSE coalesce(w.labels, '') END";
  const state = {
    ...{ version: ofState("w.version", "e.version"), status: ofState("w.status", "e.status"), head: ofState("w.head::json", "e.head") },
    ...{ size_bytes: ofState("w.size_bytes", "e.size_bytes"), wake_at: wakeAt },
    ...{ updated_at: ofState("now", "e.updated_at"), ended_at: ofState(endedAt, "e.ended_at") },
  };
  const set = {
    ...(states !== "none" && state),
    ...(presence("checkpoint") !== "none" && { checkpoint_version: "coalesce(w.checkpoint, e.checkpoint_version)" }),
    ...(presence("new_owner") !== "none" && {
      owner: "CASE WHEN w.new_owner IS NULL THEN e.owner WHEN w.new_owner <> '-' THEN substr(w.new_owner, 2) END",
    }),
    ...(presence("new_fence") !== "none" && { fence: "coalesce(w.new_fence, e.fence)" }),
    ...(presence("metadata") !== "none" && { metadata: "coalesce(w.metadata::json, e.metadata)", labels }),
    ...(presence("crashes") !== "none" && { crashes: "coalesce(w.crashes, e.crashes)" }),
    ...(presence("changes_due") !== "none" && {
      due_at: `CASE WHEN ${keepsDue} THEN e.due_at ELSE ${dueAtSql("e.due_at", `(${wakeAt})`)} END`,
    }),
  };
  return Object.entries(set)
    .map(([column, value]) => `${column} = ${value}`)
    .join(", ");
}

/**
 * Returns those conditions on a row `e` that at least one write has, besides id, incarnation and deletion. `due_at + 0`, like
 * `coalesce(deleted_at, -1)`, keeps the planner from using another index than that of ids.
 */
function conditions(presence: InputRows["presence"]): string {
  const terms = {
    expected: "e.version = coalesce(w.expected, e.version)",
    fence: "e.fence = coalesce(w.fence, e.fence)",
    held: "(w.held IS NULL OR (e.owner IS NOT NULL) = (w.held = 't'))",
    open: "(w.open IS NULL OR e.ended_at IS NULL)",
    is_due: "(w.is_due IS NULL OR e.due_at + 0 <= now)",
  };
  const asked = Object.entries(terms).filter(([column]) => presence(column) !== "none");
  return asked.map(([, term]) => ` AND ${term}`).join("");
}

/** Adds a row for each write whose row is locked by another transaction or does not exist. */
const passedOver = " UNION ALL SELECT ordinal::text, NULL, NULL, NULL FROM input WHERE ordinal NOT IN (SELECT ordinal FROM locked)";

/** Returns the statement that turns ended executions into tombstones, or removes tombstones. */
function deletion(schema: string, kind: Deletion["kind"], writes: readonly Deletion[]): WriteStatement {
  const input = inputRows(conditionColumns, writes);
  const condition = `e.id = w.id AND e.incarnation = w.incarnation AND e.version = coalesce(w.expected, e.version)
        AND coalesce(e.deleted_at, -1) ${kind === "remove" ? "<>" : "="} -1`;
  const returned = "RETURNING e.seq, w.ordinal, e.version, e.status, now";
  const changed =
    kind === "remove"
      ? `DELETE FROM ${schema}.executions AS e USING clock, input AS w WHERE ${condition} ${returned}`
      : `UPDATE ${schema}.executions AS e SET deleted_at = now, ended_at = NULL, due_at = NULL, owner = NULL, permit_key = NULL,
        permit_limit = NULL, definition = '{}', metadata = '{}', labels = '', head = '{}' FROM clock, input AS w WHERE ${condition} ${returned}`;
  const emptied = ["events", "children"].map(
    (table) => `${table}_gone AS (DELETE FROM ${schema}.${table} WHERE execution = ANY(ARRAY(SELECT seq FROM changed)))`,
  );
  const text = `WITH ${writingClock}, ${input.sql}, changed AS (${changed}), ${emptied.join(", ")}
    SELECT ordinal::text, version::text, status, now::text FROM changed`;
  return { text, values: input.values };
}

type HistoryRows = Pick<InputRows, "sql" | "values">;

/** Returns the SQL that inserts the event of each row in `changed` that has one. */
function plainHistory(schema: string): HistoryRows {
  const sql = `,
    appended AS (
      INSERT INTO ${schema}.events (execution, version, commit_id, event)
      SELECT seq, version, commit_id, event::json FROM changed WHERE event IS NOT NULL
    )`;
  return { sql, values: [] };
}

/**
 * Returns the SQL that writes the events and children of the rows in `changed`.
 *
 * A child that was deleted and created again keeps its row and gets a new place, because one statement cannot delete and insert the same
 * row. Places are assigned in the order of the commit, before any child is written.
 *
 * @param first the number of the first parameter that is free
 */
function historyRows(schema: string, writes: readonly { readonly history?: RowHistory }[], first: number): HistoryRows {
  const rows = <T>(of: (history: RowHistory) => readonly T[]): { ordinal: number; row: T }[] =>
    writes.flatMap(({ history }, index) => (history ? of(history) : []).map((row) => ({ ordinal: index + 1, row })));
  const events = rows(({ events: own }) => own);
  const children = rows(({ children: own }) => own);
  const appended = `,
    appended AS (
      INSERT INTO ${schema}.events (execution, version, commit_id, event)
      SELECT seq, entry.version, commit_id, entry.event::json
      FROM changed JOIN unnest(${numbersIn(first)}, ${numbersIn(first + 1)}, ${textsIn(first + 2)}) AS entry (ordinal, version, event) USING (ordinal)
    )`;
  const put = (which: string, change: string): string => `
      INSERT INTO ${schema}.children (execution, digest, place, key, head)
      SELECT execution, digest, place, key::json, head::json FROM placed WHERE head IS NOT NULL AND is_last = '${which}'
      ON CONFLICT (execution, digest) DO UPDATE SET ${change}`;
  const changedChildren = `,
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
  if (events.length === 0) return { sql: "", values: [] };
  const eventValues = [events.map(({ ordinal }) => ordinal), events.map(({ row }) => row.version), events.map(({ row }) => row.text)];
  if (children.length === 0) return { sql: appended, values: eventValues.map(joined) };
  const childValues = [
    children.map(({ ordinal }) => ordinal),
    children.map(({ row }) => JSON.stringify(row.key)),
    children.map(({ row }) => row.text),
    children.map(({ row }) => (row.moved ? "t" : "f")),
  ];
  return { sql: appended + changedChildren, values: [...eventValues, ...childValues].map(joined) };
}
