import { isTerminal } from "../../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import { conditionTerms, termsSql } from "../../kit/columns.ts";
import type { DueChange, RowCondition, RowHistory, RowWrite } from "../../kit/execution-table.ts";
import type { WrittenChild, WrittenEvent } from "../../kit/writing/written-commit.ts";
import { dueAtSql } from "./due-column.ts";
import type { SqlStatement, SqlValue } from "./statement.ts";

/** A write as statements. */
export interface PlannedWrite {
  /** Writes fewer indexes, and is tried first where one can wait for its answer: a row if the write was made. Null: there is no such form. */
  readonly quick: (() => SqlStatement) | null;
  /** Gives a row if the write was made. */
  readonly whole: () => SqlStatement;
  /**
   * What follows if it was made.
   *
   * @param seq number of the row; null where that is not known, because all statements are sent together: then each of them finds
   * out by itself whether the write was made
   */
  followUps(seq: number | null): readonly SqlStatement[];
}

type Insert = RowWrite & { readonly kind: "insert" };
type Update = RowWrite & { readonly kind: "update" };
type Deletion = RowWrite & { readonly kind: "bury" | "remove" };

/** Adds a parameter whose value is read from each write, and gives its name. */
type Bind<W> = (read: (write: W) => SqlValue) => string;

/** What a commit adds, and to which row. */
interface Addition {
  readonly id: string;
  readonly incarnation: string;
  /** After the commit. */
  readonly version: number;
  readonly commitId: string;
  readonly seq: number | null;
}

/**
 * Plans writes. The text of a statement depends on which columns a write changes and on what its condition asks, and not on any
 * value: so each text is made once, for a step would spend more time on it than SQLite on the row.
 */
export class WritePlanner {
  readonly #now: string;
  readonly #returned: string;
  readonly #known = new Map<string, { readonly text: string; readonly values: readonly ((write: never) => SqlValue)[] }>();

  /** @param now what gives the time: it may use `?1` */
  constructor(now: string) {
    this.#now = now;
    this.#returned = `RETURNING seq, version, status, ${now} AS now`;
  }

  plan(write: RowWrite, time: EpochMs | null): PlannedWrite {
    switch (write.kind) {
      case "insert":
        return { quick: null, whole: () => this.#insertion(write, time), followUps: (seq) => this.#history(write, write.row, seq) };
      case "update": {
        const { history, set, when } = write;
        const state = set.state && { incarnation: when.incarnation, version: set.state.version };
        return {
          quick: keepsIndexes(write) ? () => this.#update(write, true, time) : null,
          whole: () => this.#update(write, false, time),
          followUps: (seq) => (history && state ? this.#history({ ...write, history }, state, seq) : []),
        };
      }
      default:
        return {
          quick: null,
          whole: () => this.#deletion(write, time),
          followUps: (seq) => (write.kind === "bury" ? this.#emptied(write.id, seq) : []),
        };
    }
  }

  /** The statement for a write. @param shape tells apart the writes that have different texts */
  #statement<W>(shape: string, time: EpochMs | null, write: W, textOf: (bind: Bind<W>) => string): SqlStatement {
    let known = this.#known.get(shape);
    if (!known) {
      const values: ((write: W) => SqlValue)[] = [];
      // ?1 is the time
      const text = textOf((read) => `?${values.push(read) + 1}`);
      known = { text, values };
      this.#known.set(shape, known);
    }
    const values: SqlValue[] = [time];
    for (const read of known.values) values.push(read(write as never));
    return { text: known.text, values };
  }

  #insertion(write: Insert, time: EpochMs | null): SqlStatement {
    const now = this.#now;
    const ended = isTerminal(write.row.status);
    return this.#statement(`insert ${write.row.due === "atWakeUp"} ${ended}`, time, write, (bind) => {
      const wakeAt = bind(({ row }) => row.wakeAt);
      const columns: readonly (readonly [string, string])[] = [
        ["id", bind(({ id }) => id)],
        ["incarnation", bind(({ row }) => row.incarnation)],
        ["definition_id", bind(({ row }) => row.definitionId)],
        ["definition", bind(({ row }) => row.definition)],
        ["metadata", bind(({ row }) => row.metadata)],
        ["labels", bind(({ row }) => JSON.stringify(row.labels))],
        ["version", bind(({ row }) => row.version)],
        ["status", bind(({ row }) => row.status)],
        ["head", bind(({ row }) => row.head)],
        ["wake_at", wakeAt],
        ["due_at", dueAtSql(write.row.due === "atWakeUp" ? null : bind(({ row }) => inMsOf(row.due)), wakeAt, now, true)],
        ["owner", bind(({ row }) => row.owner)],
        ["fence", bind(({ row }) => row.fence)],
        ["crashes", "0"],
        ["permit_key", bind(({ row }) => row.permit?.key ?? null)],
        ["permit_limit", bind(({ row }) => row.permit?.limit ?? null)],
        ["created_at", now],
        ["updated_at", now],
        ["ended_at", ended ? now : "NULL"],
      ];
      const [names, given] = [0, 1].map((index) => columns.map((column) => column[index]).join(", "));
      return `INSERT INTO executions (${names}) VALUES (${given}) ON CONFLICT (id) DO NOTHING ${this.#returned}`;
    });
  }

  /** @param keepsStatus the status stays as it is, or nothing is written: to set a column is to write its index */
  #update(write: Update, keepsStatus: boolean, time: EpochMs | null): SqlStatement {
    return this.#statement(updateShape(write, keepsStatus), time, write, (bind) => this.#updateText(write, keepsStatus, bind));
  }

  #updateText({ set, when }: Update, keepsStatus: boolean, bind: Bind<Update>): string {
    const now = this.#now;
    const assignments: string[] = [];
    const wakeAt = set.state ? bind((write) => write.set.state!.wakeAt) : "wake_at";
    const status = (): string => bind((write) => write.set.state!.status);
    if (set.state) {
      const [version, head] = [bind((write) => write.set.state!.version), bind((write) => write.set.state!.head)];
      assignments.push(`version = ${version}, head = ${head}, wake_at = ${wakeAt}, updated_at = ${now}`);
      if (!keepsStatus) assignments.push(`status = ${status()}, ended_at = ${isTerminal(set.state.status) ? now : "NULL"}`);
    }
    if (set.due) {
      const inMs = set.due === "atWakeUp" ? null : bind((write) => inMsOf(write.set.due));
      const dueAt = dueAtSql(inMs, wakeAt, now);
      assignments.push(`due_at = ${set.dueUnlessHeld ? `iif(owner IS NULL, ${dueAt}, due_at)` : dueAt}`);
    }
    for (const column of ["owner", "fence", "crashes"] as const) {
      if (set[column] !== undefined) assignments.push(`${column} = ${bind((write) => write.set[column]!)}`);
    }
    const sameStatus = keepsStatus ? ` AND status = ${status()}` : "";
    const returned = set.state ? `RETURNING seq, ${now} AS now` : this.#returned;
    return `UPDATE executions SET ${assignments.join(", ")} WHERE ${this.#condition(when, bind)}${sameStatus} ${returned}`;
  }

  #deletion(write: Deletion, time: EpochMs | null): SqlStatement {
    return this.#statement(`${write.kind} ${conditionShape(write.when)}`, time, write, (bind) => {
      const condition = this.#condition(write.when, bind);
      if (write.kind === "remove") return `DELETE FROM executions WHERE ${condition} ${this.#returned}`;
      return `UPDATE executions SET deleted_at = ${this.#now}, ended_at = NULL, due_at = NULL, owner = NULL, permit_key = NULL,
        permit_limit = NULL, definition = '{}', metadata = '{}', labels = '[]', head = '{}' WHERE ${condition} ${this.#returned}`;
    });
  }

  #condition(when: RowCondition, bind: Bind<Update | Deletion>): string {
    const id = bind((write) => write.id);
    const terms = termsSql(conditionTerms(when), (_, column) =>
      bind((write) => write.when[column as "incarnation" | "version" | "fence"]!),
    );
    return `id = ${id} AND ${terms}${when.due ? ` AND due_at <= ${this.#now}` : ""}`;
  }

  /** The events and children of a write. Sent together with it, they are written where the row has this write's version and events. */
  #history(
    { id, history: { commitId, events, children } }: { readonly id: string; readonly history: RowHistory },
    { incarnation, version }: { readonly incarnation: string; readonly version: number },
    seq: number | null,
  ): SqlStatement[] {
    const addition = { id, incarnation, version, commitId, seq };
    return [
      ...events.map((event) => this.#addedEvent({ ...addition, event })),
      ...children.flatMap((child) => this.#changedChild({ ...addition, child })),
    ];
  }

  #addedEvent(write: Addition & { readonly event: WrittenEvent }): SqlStatement {
    const into = write.seq === null ? "INSERT OR IGNORE" : "INSERT";
    return this.#statement(`event ${into}`, null, write, (bind) => {
      const values = [bind(({ event }) => event.version), bind(({ commitId }) => commitId), bind(({ event }) => event.text)];
      const { seq, from } = rowOf(write, bind);
      const row = [seq, ...values].join(", ");
      return `${into} INTO events (execution, version, commit_id, event) ${from === "" ? `VALUES (${row})` : `SELECT ${row} ${from}`}`;
    });
  }

  #changedChild(write: Addition & { readonly child: WrittenChild }): SqlStatement[] {
    const { seq, child } = write;
    // sent together with the others, it must not follow a write that was not made
    const isOurs = (bind: Bind<typeof write>): string => {
      if (seq !== null) return "";
      const [version, commitId] = [bind((one) => one.version), bind((one) => one.commitId)];
      return `AND EXISTS (SELECT 1 FROM events WHERE execution = seq AND events.version = ${version} AND commit_id = ${commitId})`;
    };
    const removal = (): SqlStatement =>
      this.#statement(`child removed ${seq === null}`, null, write, (bind) => {
        const row = rowOf(write, bind);
        const execution = seq === null ? `(SELECT seq ${row.from} ${isOurs(bind)})` : row.seq;
        return `DELETE FROM children WHERE key = ${bind((one) => one.child.key)} AND execution = ${execution}`;
      });
    const put = (): SqlStatement =>
      this.#statement(`child put ${seq === null}`, null, write, (bind) => {
        const [key, text] = [bind((one) => one.child.key), bind((one) => one.child.text)];
        const row = rowOf(write, bind);
        return `INSERT INTO children (execution, key, head) SELECT ${row.seq}, ${key}, ${text} ${row.from || "WHERE true"} ${isOurs(bind)}
          ON CONFLICT (execution, key) DO UPDATE SET head = excluded.head`;
      });
    return [...(child.text === null || child.last ? [removal()] : []), ...(child.text === null ? [] : [put()])];
  }

  #emptied(id: string, seq: number | null): SqlStatement[] {
    return ["events", "children"].map((table) =>
      this.#statement(`${table} emptied ${seq === null}`, null, { id, seq }, (bind) => {
        const ofId = (): string => `(SELECT seq FROM executions WHERE id = ${bind((one) => one.id)} AND deleted_at IS NOT NULL)`;
        return `DELETE FROM ${table} WHERE execution = ${seq === null ? ofId() : bind((one) => one.seq)}`;
      }),
    );
  }
}

/** What gives the number of the row that an addition belongs to, and where from. */
function rowOf<W extends Addition>({ seq }: Addition, bind: Bind<W>): { readonly seq: string; readonly from: string } {
  if (seq !== null) return { seq: bind((write) => write.seq), from: "" };
  const [id, incarnation, version] = [bind((write) => write.id), bind((write) => write.incarnation), bind((write) => write.version)];
  const condition = `id = ${id} AND incarnation = ${incarnation} AND version = ${version} AND deleted_at IS NULL`;
  return { seq: "seq", from: `FROM executions WHERE ${condition}` };
}

/** A step of the holder rarely changes the status, and its execution stays due when the lease ends. */
function keepsIndexes({ set: { state, due } }: Update): boolean {
  return state !== undefined && due === undefined && !isTerminal(state.status);
}

function updateShape({ set, when }: Update, keepsStatus: boolean): string {
  const { state, due, dueUnlessHeld, owner, fence, crashes } = set;
  const written = `${state !== undefined}${state !== undefined && isTerminal(state.status)}${due === undefined ? "" : due === "atWakeUp"}`;
  const given = `${dueUnlessHeld} ${owner === undefined}${fence === undefined}${crashes === undefined}`;
  return `update ${keepsStatus} ${written} ${given} ${conditionShape(when)}`;
}

function conditionShape({ version, fence, held, open, due, deleted }: RowCondition): string {
  return `${version === undefined}${fence === undefined}${held}${open}${due}${deleted}`;
}

function inMsOf(due: DueChange | undefined): number | null {
  return due === undefined || due === "atWakeUp" ? null : due.inMs;
}
