/** What SQLite takes for a parameter. */
export type SqlValue = string | number | Uint8Array | null;

/** A statement with its parameters from `?2` on. The session gives `?1`: the time, or null where the database's own clock judges. */
export interface SqlStatement {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/** A row by the names of its columns. */
export type SqlRow = Readonly<Record<string, unknown>>;

/** A write as statements. */
export interface PlannedWrite {
  /** Costs less, and is tried first where one can wait for its answer: how many rows it changed. Null: there is no such form. */
  readonly quick: SqlStatement | null;
  /** Gives a row if the write was made. */
  whole(): SqlStatement;
  /** What follows if it was made, without a time. @param isMade false: all is sent together, and each finds out by itself whether it was */
  followUps(isMade: boolean): readonly SqlStatement[];
}

/** How statements get to a database. The statements of one call have one time. */
export interface SqliteSession {
  /** Runs statements that see one state of the data. A lone one may write. */
  read(statements: readonly SqlStatement[]): Promise<readonly (readonly SqlRow[])[]>;
  /** Makes writes in one transaction. For each the row that it gave; null: it was not made. */
  write(writes: readonly PlannedWrite[]): Promise<readonly (SqlRow | null)[]>;
  close(): Promise<void>;
}

/** Gives the parameters of a statement, whose values it adds to those: the first is the time. Equal values share one: there may be few. */
export function bindTo(values: SqlValue[]): (value: SqlValue) => string {
  return (value) => {
    const known = values.indexOf(value);
    return `?${(known < 0 ? values.push(value) - 1 : known) + 2}`;
  };
}

/** The parameters of a statement that is being written. */
export class Parameters {
  readonly values: SqlValue[] = [];
  readonly bind: (value: SqlValue) => string = bindTo(this.values);

  /** Adds values for `IN (...)`. */
  readonly list = (values: readonly SqlValue[]): string => values.map(this.bind).join(", ");
}
