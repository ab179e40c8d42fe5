import { isTerminal, statuses } from "../../../core/snapshot/snapshot.ts";
import { conditionTerms, termsSql } from "../../kit/columns.ts";
import type { DueChange, RowChanges, RowCondition, RowWrite } from "../../kit/execution-rows.ts";
import { insertedColumns } from "../../kit/sql-layout.ts";
import { dueAtSql } from "./due-statements.ts";
import type { PlannedWrite, SqlStatement, SqlValue } from "./statement.ts";

type Insert = RowWrite & { readonly kind: "insert" };
type Update = RowWrite & { readonly kind: "update" };
type Trim = RowWrite & { readonly kind: "trim" };
type Deletion = RowWrite & { readonly kind: "bury" | "remove" };

/** Adds a parameter whose value is read from each write, and returns its name, such as `?2`. */
type Bind<W> = (read: (write: W) => SqlValue) => string;

/**
 * Turns writes into statements. The text of a statement depends only on which columns a write changes, on the kind of its condition, and on
 * whether the execution has ended, not on other values. So each text is built once: building it for each write would take longer than
 * SQLite takes to write the row.
 */
export class WritePlanner {
  readonly #now: string;
  readonly #returned: string;
  /** The texts that are built already, by shape, and how the values of their parameters are read from a write. */
  readonly #known = new Map<number, { readonly text: string; readonly reads: readonly ((write: never) => SqlValue)[] }>();

  /** @param now SQL for the time, which may use the parameter `?1` */
  constructor(now: string) {
    this.#now = now;
    this.#returned = `RETURNING version, status, ${now} AS now`;
  }

  plan(write: RowWrite): PlannedWrite {
    switch (write.kind) {
      case "insert":
        return { quickUpdate: null, full: () => this.#insertion(write), followUps: (isMade) => historyStatements(write, isMade) };
      case "update": {
        const quickUpdate = write.set.state ? this.#update(write, true) : null;
        return { quickUpdate, full: () => this.#update(write, false), followUps: (isMade) => historyStatements(write, isMade) };
      }
      case "trim":
        return { quickUpdate: null, full: () => this.#trim(write), followUps: () => [trimmingStatement(write)] };
      default:
        return { quickUpdate: null, full: () => this.#deletion(write), followUps: () => emptyingStatements(write) };
    }
  }

  /**
   * Returns the statement for a write.
   *
   * @param shape differs for writes with different texts; a number, which is quick to compute for each write
   */
  #statement<W>(shape: number, write: W, textOf: (bind: Bind<W>) => string): SqlStatement {
    let known = this.#known.get(shape);
    if (!known) {
      const reads: ((write: W) => SqlValue)[] = [];
      const text = textOf((read) => `?${reads.push(read) + 1}`);
      known = { text, reads };
      this.#known.set(shape, known);
    }
    return { text: known.text, values: known.reads.map((read) => read(write as never)) };
  }

  #insertion(write: Insert): SqlStatement {
    const [isAtWakeUp, isEnded] = [write.row.due === "atWakeUp", isTerminal(write.row.status)];
    const now = this.#now;
    return this.#statement(bit(isAtWakeUp, 1) | bit(isEnded, 0), write, (bind) => {
      const given: Readonly<Record<string, string>> = Object.fromEntries(insertedColumns.map(({ name, of }) => [name, bind(of)]));
      const columns: Readonly<Record<string, string>> = {
        ...given,
        due_at: dueAtSql(isAtWakeUp ? null : bind(({ row }) => inMsOf(row.due)), given.wake_at!, now, true),
        ...{ created_at: now, updated_at: now },
        ended_at: isEnded ? now : "NULL",
      };
      const [names, values] = [Object.keys(columns).join(", "), Object.values(columns).join(", ")];
      return `INSERT INTO executions (${names}) VALUES (${values}) ON CONFLICT (id) DO NOTHING ${this.#returned}`;
    });
  }

  /**
   * Returns the UPDATE for a write.
   *
   * @param isQuick true: the statement returns no row. For a write that rarely changes a column with an index, it also requires that these
   *   columns stay the same, so that no index is written. If one differs, it changes nothing, and the session sends the full statement
   */
  #update(write: Update, isQuick: boolean): SqlStatement {
    const status = isQuick && keepsIndexes(write.set) ? statuses.indexOf(write.set.state!.status) + 1 : 0;
    const moves = bit(write.set.permit !== undefined, 29);
    const shape = bit(true, 22) | bit(isQuick, 21) | (status << 25) | (changeShape(write.set) << 8) | conditionShape(write.when) | moves;
    return this.#statement(shape, write, (bind) => this.#updateText(write, isQuick, bind));
  }

  #updateText({ set, when }: Update, isQuick: boolean, bind: Bind<Update>): string {
    const now = this.#now;
    const assignments: string[] = [];
    const conditions = [this.#condition(when, bind)];
    const ofState = (name: "version" | "status" | "head" | "sizeBytes" | "wakeAt"): string => bind((write) => write.set.state![name]);
    const wakeAt = set.state ? ofState("wakeAt") : "wake_at";
    if (set.state) {
      assignments.push(
        `version = ${ofState("version")}, head = ${ofState("head")}, size_bytes = ${ofState("sizeBytes")}, wake_at = ${wakeAt}, updated_at = ${now}`,
      );
      if (set.state.checkpointVersion !== undefined) assignments.push(`checkpoint_version = ${ofState("version")}`);
      const ofRun = (name: "since" | "at"): string => bind((write) => write.set.state!.run![name]);
      if (set.state.trimmed !== undefined) assignments.push(`trimmed = ${bind((write) => write.set.state!.trimmed!)}`);
      if (set.state.run) assignments.push(`run_since = ${ofRun("since")}, run_at = ${ofRun("at")}`);
      // setting a column writes its index, even if the value stays the same
      const keeps = isQuick && keepsIndexes(set);
      if (keeps) conditions.push(`status = '${set.state.status}'`);
      else assignments.push(`status = ${ofState("status")}, ended_at = ${isTerminal(set.state.status) ? now : "NULL"}`);
      if (set.state.exemptAt !== undefined) {
        const exemptAt = bind((write) => write.set.state!.exemptAt ?? null);
        if (keeps) conditions.push(`exempt_at IS ${exemptAt}`);
        else assignments.push(`exempt_at = ${exemptAt}`);
      }
    }
    if (set.due) {
      const dueAt = dueAtSql(set.due === "atWakeUp" ? null : bind((write) => inMsOf(write.set.due)), wakeAt, now);
      assignments.push(`due_at = ${set.dueUnlessHeld ? `iif(owner IS NULL, ${dueAt}, due_at)` : dueAt}`);
    }
    if (set.permit !== undefined) {
      const [key, limit] = [bind((write) => write.set.permit?.key ?? null), bind((write) => write.set.permit?.limit ?? null)];
      assignments.push(`permit_key = ${key}, permit_limit = ${limit}`);
    }
    for (const column of ["owner", "fence", "crashes", "metadata", "labels"] as const) {
      if (set[column] !== undefined) assignments.push(`${column} = ${bind((write) => write.set[column]!)}`);
    }
    return `UPDATE executions SET ${assignments.join(", ")} WHERE ${conditions.join(" AND ")}${isQuick ? "" : ` ${this.#returned}`}`;
  }

  #trim(write: Trim): SqlStatement {
    return this.#statement(bit(true, 28), write, (bind) => {
      const set = "trimmed = run_since - 1, run_at = NULL, run_since = NULL";
      return `UPDATE executions SET ${set} WHERE ${this.#condition(write.when, bind)} ${this.#returned}`;
    });
  }

  #deletion(write: Deletion): SqlStatement {
    return this.#statement(bit(true, write.kind === "remove" ? 24 : 23) | conditionShape(write.when), write, (bind) => {
      const where = `WHERE ${this.#condition(write.when, bind)} ${this.#returned}`;
      if (write.kind === "remove") return `DELETE FROM executions ${where}`;
      return `UPDATE executions SET deleted_at = ${this.#now}, ended_at = NULL, due_at = NULL, owner = NULL, permit_key = NULL,
        permit_limit = NULL, exempt_at = NULL, run_at = NULL, run_since = NULL, definition = '{}', metadata = '{}', labels = '', head = '{}' ${where}`;
    });
  }

  #condition(when: RowCondition, bind: Bind<Update | Trim | Deletion>): string {
    const id = bind((write) => write.id);
    const terms = termsSql(conditionTerms(when), (_, column) =>
      bind((write) => write.when[column === "run_since" ? "runSince" : (column as "incarnation" | "version" | "fence")]!),
    );
    return `id = ${id} AND ${terms}${when.due ? ` AND due_at <= ${this.#now}` : ""}`;
  }
}

/**
 * True for a write that rarely changes a column with an index, such as a step of the holder: the status mostly stays the same, and the
 * execution stays due at the end of the lease.
 */
function keepsIndexes({ state, due }: RowChanges): boolean {
  // the status becomes part of the text, so it must be one of ours: the commit may come from an untyped program
  return state !== undefined && due === undefined && !isTerminal(state.status) && statuses.includes(state.status);
}

/** Returns a number of 13 bits that differs for changes with different texts, besides `permit`. */
function changeShape({ state, owner, fence, crashes, metadata, due, dueUnlessHeld }: RowChanges): number {
  const ofState = state ? bit(true, 0) | bit(isTerminal(state.status), 1) | bit(state.checkpointVersion !== undefined, 2) : 0;
  const columns =
    bit(owner !== undefined, 3) | bit(fence !== undefined, 4) | bit(crashes !== undefined, 5) | bit(metadata !== undefined, 6);
  return (
    ofState |
    columns |
    bit(due !== undefined, 7) |
    bit(due === "atWakeUp", 8) |
    bit(dueUnlessHeld === true, 9) |
    bit(state?.run !== undefined, 10) |
    bit(state?.trimmed !== undefined, 11) |
    bit(state?.exemptAt !== undefined, 12)
  );
}

/** Returns a number of 8 bits that differs for conditions with different texts. */
function conditionShape({ version, fence, held, open, due, deleted }: RowCondition): number {
  const columns = bit(version !== undefined, 0) | bit(fence !== undefined, 1) | bit(held !== undefined, 2) | bit(held === true, 3);
  return columns | bit(open === true, 4) | bit(due === true, 5) | bit(deleted === true, 6) | bit(open === false, 7);
}

function bit(answer: boolean, place: number): number {
  return answer ? 1 << place : 0;
}

function inMsOf(due: DueChange | undefined): number | null {
  return due === undefined || due === "atWakeUp" ? null : due.inMs;
}

/**
 * SQL for the row that a write has written, while it is not known whether the write was made: the row with the incarnation and version of
 * the write.
 */
const writtenRow = "SELECT seq FROM executions WHERE id = ?5 AND incarnation = ?6 AND version = ?7 AND deleted_at IS NULL";
/** The condition that the event of this version belongs to this commit. */
const isOfCommit = "EXISTS (SELECT 1 FROM events WHERE execution = seq AND events.version = ?7 AND commit_id = ?4)";
const rowOfId = "(SELECT seq FROM executions WHERE id = ?5)";

const ofMadeWrite = additionTexts("INSERT", rowOfId, rowOfId);
// if the write was not made, there is no such row, and NULL is ignored; if another commit made this version, its event is there already
const ofAnyWrite = additionTexts("INSERT OR IGNORE", `(${writtenRow})`, `(${writtenRow} AND ${isOfCommit})`);

/**
 * Returns the texts that write the events and children of a row. Parameters: `?2` version or key, `?3` text, `?4` the commit, and from
 * `?5` on the values that identify the row.
 *
 * @param row SQL for the `seq` of the row
 * @param rowOfCommit SQL for the `seq` of the row, NULL unless the events of this commit are there
 */
function additionTexts(into: string, row: string, rowOfCommit: string): Readonly<Record<"event" | "child" | "noChild", string>> {
  return {
    event: `${into} INTO events (execution, version, commit_id, event) VALUES (${row}, ?2, ?4, ?3)`,
    child: `${into} INTO children (execution, key, head) VALUES (${rowOfCommit}, ?2, ?3)
      ON CONFLICT (execution, key) DO UPDATE SET head = excluded.head`,
    noChild: `DELETE FROM children WHERE execution = ${rowOfCommit} AND key = ?2`,
  };
}

/** Returns the statements that write the events and children of a write. @param isMade true: the write is known to have been made */
function historyStatements(write: Insert | Update, isMade: boolean): readonly SqlStatement[] {
  const { id, history } = write;
  if (!history) return [];
  const { commitId, events, children } = history;
  const texts = isMade ? ofMadeWrite : ofAnyWrite;
  const incarnation = write.kind === "insert" ? write.row.incarnation : write.when.incarnation;
  const after = write.kind === "insert" ? write.row.version : (write.set.state?.version ?? null);
  const valuesOf = (first: SqlValue, text: string | null, commit: string | null): SqlValue[] =>
    isMade ? [first, text, commit, id] : [first, text, commit, id, incarnation, after];
  const statements = events.map(({ version, text }) => ({ text: texts.event, values: valuesOf(version, text, commitId) }));
  const childOf = isMade ? null : commitId;
  for (const { key, text, moved } of children) {
    if (text === null || moved) statements.push({ text: texts.noChild, values: valuesOf(key, null, childOf) });
    if (text !== null) statements.push({ text: texts.child, values: valuesOf(key, text, childOf) });
  }
  return statements;
}

/** Returns the statement that deletes the events of earlier runs. It deletes nothing unless the write, or an earlier trim, was made. */
function trimmingStatement({ id, when: { incarnation, runSince } }: Trim): SqlStatement {
  const row = "(SELECT seq FROM executions WHERE id = ?2 AND incarnation = ?3 AND trimmed >= ?4 AND deleted_at IS NULL)";
  return { text: `DELETE FROM events WHERE execution = ${row} AND version BETWEEN 1 AND ?4`, values: [id, incarnation, runSince - 1] };
}

/**
 * Returns the statements that delete the events and children of a row that has become a tombstone. A tombstone that is removed has none
 * any more.
 */
function emptyingStatements({ id, kind }: Deletion): readonly SqlStatement[] {
  if (kind === "remove") return [];
  const row = "(SELECT seq FROM executions WHERE id = ?2 AND deleted_at IS NOT NULL)";
  return ["events", "children"].map((table) => ({ text: `DELETE FROM ${table} WHERE execution = ${row}`, values: [id] }));
}
