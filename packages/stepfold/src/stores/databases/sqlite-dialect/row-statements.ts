import { isTerminal } from "../../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { RowCondition, RowHistory, RowWrite } from "../../kit/execution-table.ts";
import { dueAtSql } from "./due-column.ts";
import { Parameters, type SqlStatement } from "./statement.ts";

/** A write as statements. */
export interface PlannedWrite {
  /** They are tried in this order until one gives a row: then the write was made. */
  readonly attempts: readonly SqlStatement[];
  /**
   * What follows if it was made.
   *
   * @param seq number of the row; null where that is not known, because all statements are sent together: then each of them finds
   * out by itself whether the write was made
   */
  followUps(seq: number | null): readonly SqlStatement[];
}

/** Plans a write. @param now what gives the time: it may use `?1` */
export function plannedWrite(write: RowWrite, time: EpochMs | null, now: string): PlannedWrite {
  const returned = `RETURNING seq, version, status, ${now} AS now`;
  switch (write.kind) {
    case "insert":
      return { attempts: [insertion(write, time, now, returned)], followUps: (seq) => historyOf(write, write.row, seq) };
    case "update": {
      const { history, set } = write;
      const state = set.state && { incarnation: write.when.incarnation, version: set.state.version };
      return {
        attempts: updates(write, time, now, returned),
        followUps: (seq) => (history && state ? historyOf({ ...write, history }, state, seq) : []),
      };
    }
    case "bury":
      return { attempts: [burial(write, time, now, returned)], followUps: (seq) => emptied(write.id, seq) };
    case "remove": {
      const parameters = new Parameters(time);
      const text = `DELETE FROM executions WHERE ${conditionOf(write.id, write.when, parameters, now)} ${returned}`;
      return { attempts: [{ text, values: parameters.values }], followUps: () => [] };
    }
  }
}

function insertion({ id, row }: RowWrite & { kind: "insert" }, time: EpochMs | null, now: string, returned: string): SqlStatement {
  const { bind, values } = new Parameters(time);
  const ended = isTerminal(row.status);
  const columns: readonly (readonly [string, string])[] = [
    ["id", bind(id)],
    ["incarnation", bind(row.incarnation)],
    ["definition_id", bind(row.definitionId)],
    ["definition", bind(row.definition)],
    ["metadata", bind(row.metadata)],
    ["labels", bind(JSON.stringify(row.labels))],
    ["version", bind(row.version)],
    ["status", bind(row.status)],
    ["head", bind(row.head)],
    ["wake_at", bind(row.wakeAt)],
    ["due_at", dueAtSql(row.due, now, bind, true)],
    ["owner", bind(row.owner)],
    ["fence", bind(row.fence)],
    ["crashes", "0"],
    ["permit_key", bind(row.permit?.key ?? null)],
    ["permit_limit", bind(row.permit?.limit ?? null)],
    ["created_at", now],
    ["updated_at", now],
    ["ended_at", ended ? now : "NULL"],
  ];
  const [names, given] = [0, 1].map((index) => columns.map((column) => column[index]).join(", "));
  return { text: `INSERT INTO executions (${names}) VALUES (${given}) ON CONFLICT (id) DO NOTHING ${returned}`, values };
}

/**
 * An update. A step of the holder rarely changes the status, and to set a column is to write its index: so it is first tried
 * without.
 */
function updates({ id, when, set }: RowWrite & { kind: "update" }, time: EpochMs | null, now: string, returned: string): SqlStatement[] {
  const { state, owner, fence, crashes, due, dueUnlessHeld } = set;
  const statement = (keepsStatus: boolean): SqlStatement => {
    const parameters = new Parameters(time);
    const { bind, values } = parameters;
    const assignments: string[] = [];
    if (state)
      assignments.push(
        `version = ${bind(state.version)}, head = ${bind(state.head)}, wake_at = ${bind(state.wakeAt)}, updated_at = ${now}`,
      );
    if (state && !keepsStatus) assignments.push(`status = ${bind(state.status)}, ended_at = ${isTerminal(state.status) ? now : "NULL"}`);
    if (due) {
      const dueAt = dueAtSql(due, now, bind);
      assignments.push(`due_at = ${dueUnlessHeld ? `iif(owner IS NULL, ${dueAt}, due_at)` : dueAt}`);
    }
    if (owner !== undefined) assignments.push(`owner = ${bind(owner)}`);
    if (fence !== undefined) assignments.push(`fence = ${bind(fence)}`);
    if (crashes !== undefined) assignments.push(`crashes = ${bind(crashes)}`);
    const sameStatus = keepsStatus ? ` AND status = ${bind(state!.status)}` : "";
    const condition = conditionOf(id, when, parameters, now);
    return { text: `UPDATE executions SET ${assignments.join(", ")} WHERE ${condition}${sameStatus} ${returned}`, values };
  };
  return state && due === undefined && !isTerminal(state.status) ? [statement(true), statement(false)] : [statement(false)];
}

function burial({ id, when }: RowWrite & { kind: "bury" | "remove" }, time: EpochMs | null, now: string, returned: string): SqlStatement {
  const parameters = new Parameters(time);
  const condition = conditionOf(id, when, parameters, now);
  const text = `UPDATE executions SET deleted_at = ${now}, ended_at = NULL, due_at = NULL, owner = NULL, permit_key = NULL, permit_limit = NULL,
    definition = '{}', metadata = '{}', labels = '[]', head = '{}' WHERE ${condition} ${returned}`;
  return { text, values: parameters.values };
}

function conditionOf(id: string, when: RowCondition, { bind }: Parameters, now: string): string {
  const { incarnation, version, fence, held, open, dueForMs, deleted = false } = when;
  return [
    `id = ${bind(id)} AND incarnation = ${bind(incarnation)} AND deleted_at IS ${deleted ? "NOT NULL" : "NULL"}`,
    ...(version === undefined ? [] : [`version = ${bind(version)}`]),
    ...(fence === undefined ? [] : [`fence = ${bind(fence)}`]),
    ...(held === undefined ? [] : [`owner IS ${held ? "NOT NULL" : "NULL"}`]),
    ...(open ? ["ended_at IS NULL"] : []),
    ...(dueForMs === undefined ? [] : [`due_at <= ${now} - ${bind(dueForMs)}`]),
  ].join(" AND ");
}

/** The events and children of a write. Sent together with it, they are written where the row has this write's version and events. */
function historyOf(
  { id, history: { commitId, events, children } }: { readonly id: string; readonly history: RowHistory },
  { incarnation, version }: { readonly incarnation: string; readonly version: number },
  seq: number | null,
): SqlStatement[] {
  const statement = (write: (parameters: Parameters, source: string) => string): SqlStatement => {
    const parameters = new Parameters(null);
    const { bind } = parameters;
    const source =
      seq === null
        ? `FROM executions WHERE id = ${bind(id)} AND incarnation = ${bind(incarnation)} AND version = ${bind(version)} AND deleted_at IS NULL`
        : "";
    return { text: write(parameters, source), values: parameters.values };
  };
  const number = (bind: Parameters["bind"]): string => (seq === null ? "seq" : bind(seq));
  const isOurs = (bind: Parameters["bind"]): string =>
    seq === null
      ? `AND EXISTS (SELECT 1 FROM events WHERE execution = seq AND events.version = ${bind(version)} AND commit_id = ${bind(commitId)})`
      : "";
  return [
    ...events.map((event) =>
      statement(({ bind }, source) => {
        const into = seq === null ? "INSERT OR IGNORE" : "INSERT";
        return `${into} INTO events (execution, version, commit_id, event) SELECT ${number(bind)}, ${bind(event.version)}, ${bind(commitId)}, ${bind(event.text)} ${source}`;
      }),
    ),
    ...children.flatMap(({ key, text, last }) => [
      ...(text === null || last
        ? [
            statement(({ bind }, source) =>
              seq === null
                ? `DELETE FROM children WHERE key = ${bind(key)} AND execution = (SELECT seq ${source} ${isOurs(bind)})`
                : `DELETE FROM children WHERE key = ${bind(key)} AND execution = ${bind(seq)}`,
            ),
          ]
        : []),
      ...(text === null
        ? []
        : [
            statement(
              ({ bind }, source) => `INSERT INTO children (execution, key, head)
              SELECT ${number(bind)}, ${bind(key)}, ${bind(text)} ${source || "WHERE true"} ${isOurs(bind)}
              ON CONFLICT (execution, key) DO UPDATE SET head = excluded.head`,
            ),
          ]),
    ]),
  ];
}

function emptied(id: string, seq: number | null): SqlStatement[] {
  return ["events", "children"].map((table) => {
    const { bind, values } = new Parameters(null);
    const which = seq === null ? `(SELECT seq FROM executions WHERE id = ${bind(id)} AND deleted_at IS NOT NULL)` : bind(seq);
    return { text: `DELETE FROM ${table} WHERE execution = ${which}`, values };
  });
}
