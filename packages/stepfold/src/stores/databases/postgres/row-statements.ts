import type { RowWrite } from "../../kit/execution-rows.ts";
import { insertedColumns } from "../../kit/sql-layout.ts";
import { StatementTexts } from "../../kit/writing/statement-texts.ts";
import { type HistoryShape, historyRows, historySql } from "./postgres-history.ts";
import type { PostgresSession } from "./postgres-session.ts";
import { clock, type InputColumn, type InputSql, inputRows, inputSql, plainText, wholeText, writingClock } from "./postgres-text.ts";

type Insert = RowWrite & { readonly kind: "insert" };
type Update = RowWrite & { readonly kind: "update" };
type Trim = RowWrite & { readonly kind: "trim" };
type Deletion = RowWrite & { readonly kind: "bury" | "remove" };

/** A statement with its parameters. */
interface WriteStatement {
  readonly text: string;
  readonly values: readonly string[];
}

/**
 * Makes the statements that write rows in one schema. The answer of a statement has a row for each write that was made, with the ordinal of
 * the write (from 1). A row with nothing but an ordinal stands for an update that was passed over.
 */
export class WriteStatements {
  readonly #schema: string;
  readonly #texts: StatementTexts;

  constructor({ schema, lockLimit }: Pick<PostgresSession, "schema" | "lockLimit">) {
    this.#schema = schema;
    this.#texts = new StatementTexts(lockLimit);
  }

  /** Returns the statement that makes writes of one kind. */
  of(kind: RowWrite["kind"], writes: readonly RowWrite[]): WriteStatement {
    const form = forms[kind];
    const history = historyRows(writes);
    const columns = history.shape === "plain" ? [...form.columns, eventColumn] : form.columns;
    const { values, shape } = inputRows(columns, writes as readonly never[]);
    const isSingle = writes.length === 1;
    const skipsLocked = kind === "update" && (!isSingle || (writes[0] as Update).skipLocked === true);
    const text = this.#texts.of(`${kind} ${isSingle} ${skipsLocked} ${history.shape} ${shape}`, () =>
      form.text(this.#schema, inputSql(columns, shape, isSingle), history.shape, skipsLocked),
    );
    return { text, values: [...values, ...history.values] };
  }
}

/** The statuses of executions that have ended, as an SQL list. */
const terminal = "('completed', 'failed', 'cancelled')";

const insertColumns: readonly InputColumn<Insert>[] = [
  ...insertedColumns,
  // milliseconds from now; NULL: due at `wake_at`
  { name: "due_in", is: "number", of: ({ row: { due } }) => (due === "atWakeUp" ? null : due.inMs) },
  { name: "commit_id", is: "id", of: ({ history }) => history.commitId },
];

/** The event of a write as one more column, if the history of the writes is `plain`. */
const eventColumn: InputColumn<Insert | Update> = { name: "event", is: "json", of: ({ history }) => history?.events[0]?.text };

const conditionColumns: readonly InputColumn<Update | Trim | Deletion>[] = [
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
  { name: "run_since", is: "number", of: ({ set }) => set.state?.run?.since },
  { name: "run_at", is: "number", of: ({ set }) => set.state?.run?.at },
  { name: "trimmed", is: "number", of: ({ set }) => set.state?.trimmed },
  // "=" and the new owner, "-" for no owner; NULL: the owner stays
  {
    name: "new_owner",
    is: "json",
    of: ({ set: { owner } }) => (owner === null ? "-" : owner === undefined ? null : `=${plainText(owner)}`),
  },
  // the new time as a number, "-" for none; NULL: it stays
  {
    name: "exempt_at",
    is: "json",
    of: ({ set: { state } }) => (state?.exemptAt === null ? "-" : state?.exemptAt === undefined ? null : wholeText(state.exemptAt)),
  },
  // as `new_owner`, and its limit
  {
    name: "new_permit",
    is: "json",
    of: ({ set: { permit } }) => (permit === null ? "-" : permit === undefined ? null : `=${plainText(permit.key)}`),
  },
  { name: "new_limit", is: "number", of: ({ set }) => set.permit?.limit },
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

const trimColumns: readonly InputColumn<Trim>[] = [
  ...conditionColumns,
  { name: "run_since", is: "number", of: ({ when }) => when.runSince },
];

/** The statements of a kind: the columns of `input`, and the text. */
interface Form {
  readonly columns: readonly InputColumn<never>[];
  readonly text: (schema: string, input: InputSql, history: HistoryShape, skipsLocked: boolean) => string;
}

const forms: Readonly<Record<RowWrite["kind"], Form>> = {
  insert: { columns: insertColumns, text: insertionText },
  update: { columns: updateColumns, text: updateText },
  trim: { columns: trimColumns, text: trimText },
  bury: { columns: conditionColumns, text: (schema, input) => deletionText(schema, "bury", input) },
  remove: { columns: conditionColumns, text: (schema, input) => deletionText(schema, "remove", input) },
};

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
function insertionText(schema: string, input: InputSql, history: HistoryShape): string {
  return `
    WITH ${writingClock}, ${input.sql},
    created AS (
      INSERT INTO ${schema}.executions (id, incarnation, definition_id, definition, metadata, labels, version, status, head, size_bytes, wake_at, due_at,
        owner, fence, permit_key, permit_limit, exempt_at, created_at, updated_at, ended_at)
      SELECT id, incarnation, substr(definition_id, 2), definition::json, metadata::json,
        coalesce(labels, ''), version, status, head::json,
        size_bytes, wake_at, ${dueAtSql("NULL::bigint", "wake_at")}, substr(owner, 2), fence, substr(permit_key, 2), permit_limit,
        exempt_at, now, now, CASE WHEN status IN ${terminal} THEN now END
      FROM clock, input AS w ORDER BY id
      ON CONFLICT (id) DO NOTHING
      RETURNING seq, id, version, status
    ),
    changed AS (
      SELECT created.seq, w.ordinal, w.commit_id, created.version, created.status${history === "plain" ? ", w.event" : ""}
      FROM created JOIN input AS w USING (id)
    )${historySql(schema, history, input.nextParameter)}
    SELECT ordinal::text, version::text, status, now::text FROM changed, clock`;
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
function updateText(schema: string, input: InputSql, history: HistoryShape, skipsLocked: boolean): string {
  const locked = `
    locked AS MATERIALIZED (
      SELECT e.seq, input.* FROM input JOIN ${schema}.executions AS e USING (id) ORDER BY e.id FOR UPDATE OF e SKIP LOCKED
    ),`;
  return `
    WITH ${skipsLocked ? clock : writingClock}, ${input.sql},${skipsLocked ? locked : ""}
    changed AS (
      UPDATE ${schema}.executions AS e SET ${assignments(input.presence)}
      FROM clock, ${skipsLocked ? "locked AS w WHERE e.seq = w.seq" : "input AS w WHERE e.id = w.id"}
        AND e.incarnation = w.incarnation AND coalesce(e.deleted_at, -1) = -1${conditions(input.presence)}
      RETURNING e.seq, w.ordinal, w.commit_id, e.version, e.status, now${history === "plain" ? ", w.event" : ""}
    )${historySql(schema, history, input.nextParameter)}
    SELECT ordinal::text, version::text, status, now::text FROM changed${skipsLocked ? passedOver : ""}`;
}

/** Returns the assignments of the UPDATE: what the writes `w` change in the rows `e`. */
function assignments(presence: InputSql["presence"]): string {
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
    ...(presence("run_since") !== "none" && {
      run_since: "coalesce(w.run_since, e.run_since)",
      run_at: "coalesce(w.run_at, e.run_at)",
    }),
    ...(presence("trimmed") !== "none" && { trimmed: "coalesce(w.trimmed, e.trimmed)" }),
    ...(presence("new_owner") !== "none" && {
      owner: "CASE WHEN w.new_owner IS NULL THEN e.owner WHEN w.new_owner <> '-' THEN substr(w.new_owner, 2) END",
    }),
    ...(presence("exempt_at") !== "none" && {
      exempt_at: "CASE WHEN w.exempt_at IS NULL THEN e.exempt_at ELSE nullif(w.exempt_at, '-')::bigint END",
    }),
    ...(presence("new_permit") !== "none" && {
      permit_key: "CASE WHEN w.new_permit IS NULL THEN e.permit_key WHEN w.new_permit <> '-' THEN substr(w.new_permit, 2) END",
      permit_limit: "CASE WHEN w.new_permit IS NULL THEN e.permit_limit ELSE w.new_limit END",
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
function conditions(presence: InputSql["presence"]): string {
  const terms = {
    expected: "e.version = coalesce(w.expected, e.version)",
    fence: "e.fence = coalesce(w.fence, e.fence)",
    held: "(w.held IS NULL OR (e.owner IS NOT NULL) = (w.held = 't'))",
    open: "(w.open IS NULL OR (e.ended_at IS NULL) = (w.open = 't'))",
    is_due: "(w.is_due IS NULL OR e.due_at + 0 <= now)",
  };
  const asked = Object.entries(terms).filter(([column]) => presence(column) !== "none");
  return asked.map(([, term]) => ` AND ${term}`).join("");
}

/** Adds a row for each write whose row is locked by another transaction or does not exist. */
const passedOver = " UNION ALL SELECT ordinal::text, NULL, NULL, NULL FROM input WHERE ordinal NOT IN (SELECT ordinal FROM locked)";

/**
 * Returns the statement that deletes events of earlier runs. It passes over a row that another transaction is writing, so that it never
 * waits for a commit. The largest `run_since` limits the part of the index of events that is read.
 */
function trimText(schema: string, input: InputSql): string {
  return `
    WITH ${clock}, ${input.sql},
    locked AS MATERIALIZED (
      SELECT e.seq, w.ordinal, w.run_since FROM input AS w JOIN ${schema}.executions AS e USING (id)
      WHERE e.incarnation = w.incarnation AND coalesce(e.deleted_at, -1) = -1 AND e.run_since = w.run_since
      ORDER BY e.id FOR UPDATE OF e SKIP LOCKED
    ),
    changed AS (
      UPDATE ${schema}.executions AS e SET trimmed = w.run_since - 1, run_at = NULL, run_since = NULL FROM locked AS w WHERE e.seq = w.seq
      RETURNING e.seq, w.ordinal, w.run_since AS since, e.version, e.status
    ),
    gone AS (
      DELETE FROM ${schema}.events AS v USING changed
      WHERE v.execution = ANY(ARRAY(SELECT seq FROM changed)) AND v.version BETWEEN 1 AND (SELECT max(since) FROM changed)
        AND v.execution = changed.seq AND v.version < changed.since
    )
    SELECT ordinal::text, version::text, status, now::text FROM changed, clock`;
}

/** Returns the statement that turns ended executions into tombstones, or removes tombstones. */
function deletionText(schema: string, kind: Deletion["kind"], input: InputSql): string {
  const condition = `e.id = w.id AND e.incarnation = w.incarnation AND e.version = coalesce(w.expected, e.version)
        AND coalesce(e.deleted_at, -1) ${kind === "remove" ? "<>" : "="} -1`;
  const returned = "RETURNING e.seq, w.ordinal, e.version, e.status, now";
  const changed =
    kind === "remove"
      ? `DELETE FROM ${schema}.executions AS e USING clock, input AS w WHERE ${condition} ${returned}`
      : `UPDATE ${schema}.executions AS e SET deleted_at = now, ended_at = NULL, due_at = NULL, owner = NULL, permit_key = NULL,
        permit_limit = NULL, exempt_at = NULL, run_at = NULL, run_since = NULL, definition = '{}', metadata = '{}', labels = '', head = '{}' FROM clock, input AS w WHERE ${condition} ${returned}`;
  const emptied = ["events", "children"].map(
    (table) => `${table}_gone AS (DELETE FROM ${schema}.${table} WHERE execution = ANY(ARRAY(SELECT seq FROM changed)))`,
  );
  return `WITH ${writingClock}, ${input.sql}, changed AS (${changed}), ${emptied.join(", ")}
    SELECT ordinal::text, version::text, status, now::text FROM changed`;
}
