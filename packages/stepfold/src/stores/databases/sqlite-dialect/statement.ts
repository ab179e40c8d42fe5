/** The value of a parameter. */
export type SqlValue = string | number | Uint8Array | null;

/** A statement with its parameters from `?2` on. The session adds `?1`: the time, or null if the database's clock decides. */
export interface SqlStatement {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/** A row of an answer, by the names of its columns. */
export type SqlRow = Readonly<Record<string, unknown>>;

/** The statements of a write. */
export interface PlannedWrite {
  /** A cheaper statement, which a session tries first if it can wait for the number of changed rows. Null: there is none. */
  readonly quickUpdate: SqlStatement | null;
  /** Returns the full statement of the write; it returns a row if the write was made. */
  full(): SqlStatement;
  /**
   * Returns the statements that follow if the write was made. They do not use the time.
   *
   * @param isMade false: all statements are sent together, so each of these finds out by itself whether the write was made
   */
  followUps(isMade: boolean): readonly SqlStatement[];
}

/** Sends statements to a database. All statements of one call get the same time. */
export interface SqliteSession {
  /** Runs statements, all of which see one state of the data. A single statement may also write. */
  read(statements: readonly SqlStatement[]): Promise<readonly (readonly SqlRow[])[]>;
  /**
   * Makes writes in one transaction. Returns for each the row that its full statement returned, or a row with only `now` after a quick
   * update; null: the write was not made.
   */
  write(writes: readonly PlannedWrite[]): Promise<readonly (SqlRow | null)[]>;
  close(): Promise<void>;
}

/**
 * Returns a function that adds a value to `values` and returns the name of its parameter, from `?2` on, because `?1` is the time. Equal
 * values share a parameter, because some databases allow few parameters.
 */
export function bindTo(values: SqlValue[]): (value: SqlValue) => string {
  return (value) => {
    const known = values.indexOf(value);
    return `?${(known < 0 ? values.push(value) - 1 : known) + 2}`;
  };
}

/** The parameters of a statement, collected while its text is built. */
export class Parameters {
  readonly values: SqlValue[] = [];
  readonly bind: (value: SqlValue) => string = bindTo(this.values);

  /** Adds values for `IN (...)`. */
  readonly list = (values: readonly SqlValue[]): string => values.map(this.bind).join(", ");
}
