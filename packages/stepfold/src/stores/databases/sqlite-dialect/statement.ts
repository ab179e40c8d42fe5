import type { EpochMs } from "../../../core/values/json.ts";

/** What SQLite takes for a parameter. */
export type SqlValue = string | number | Uint8Array | null;

/** A statement with its parameters: `?1` is the time, or null where the database's own clock judges. */
export interface SqlStatement {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/** A row by the names of its columns. */
export type SqlRow = Readonly<Record<string, unknown>>;

/** The parameters of a statement that is being written. */
export class Parameters {
  readonly values: SqlValue[];

  constructor(time: EpochMs | null) {
    this.values = [time];
  }

  /** Adds a value, and gives the name of its parameter. */
  readonly bind = (value: SqlValue): string => {
    this.values.push(value);
    return `?${this.values.length}`;
  };

  /** Adds values for `IN (...)`. */
  list(values: readonly SqlValue[]): string {
    return values.map(this.bind).join(", ");
  }
}
