import type { Event, WorkflowDefinition } from "stepfold";

/** An execution as it is stored, read directly from the database and not with the store's code. */
export interface StoredExecution {
  readonly workflowId: string;
  readonly incarnation: string;
  readonly version: number;
  readonly status: string;
  /** The head as JSON, without the fields that are in other columns and in the first event. */
  readonly head: string;
  readonly definition: { readonly id: string; readonly hash: string };
  readonly metadata: Readonly<Record<string, never>>;
  readonly owner: string | null;
  /** The history, in the order of the versions. */
  readonly rows: readonly StoredRow[];
  /** The heads of the children as JSON, with their keys, in the order of creation. */
  readonly children: readonly (readonly [key: string, head: string])[];
}

/** One row of a history. */
export interface StoredRow {
  readonly version: number;
  readonly commitId: string;
  readonly event: Event;
}

/** Everything that a store holds. */
export interface Stored {
  readonly executions: readonly StoredExecution[];
  readonly definitions: ReadonlyMap<string, WorkflowDefinition>;
}

/** An execution that a process holds, and its version. */
export interface Held {
  readonly workflowId: string;
  readonly version: number;
}

/** The database of a run, with direct access for the checks. */
export interface Target {
  readonly name: string;
  readonly url: string;
  /** The URL of the run's queue. Absent: the run has none. */
  readonly queueUrl?: string;
  /** Returns the number of executions that have not ended. */
  countOpen(): Promise<number>;
  /** Returns the executions that the process with this name holds. */
  heldBy(owner: string): Promise<readonly Held[]>;
  readAll(): Promise<Stored>;
  /** Deletes what the run has made. */
  drop(): Promise<void>;
}

interface ExecutionRow {
  readonly seq: string | number;
  readonly id: string;
  readonly incarnation: string;
  readonly definition: string;
  readonly metadata: string;
  readonly version: string | number;
  readonly status: string;
  readonly head: string;
  readonly owner: string | null;
}

/** The rows of all tables. SQLite and PostgreSQL have the same layout, except for types. */
export interface Tables {
  readonly executions: readonly ExecutionRow[];
  readonly events: readonly {
    readonly execution: string | number;
    readonly version: string | number;
    readonly commit_id: string;
    readonly event: string;
  }[];
  readonly children: readonly { readonly execution: string | number; readonly key: string; readonly head: string }[];
  readonly definitions: readonly { readonly hash: string; readonly definition: string }[];
}

/** Combines the rows of each execution. */
export function storedOf({ executions, events, children, definitions }: Tables): Stored {
  const rowsOf = grouped(events, ({ version, commit_id: commitId, event }): StoredRow => {
    return { version: Number(version), commitId, event: JSON.parse(event) as Event };
  });
  const childrenOf = grouped(children, ({ key, head }) => [key, head] as const);
  return {
    executions: executions.map(({ seq, id, definition, metadata, version, ...rest }) => ({
      workflowId: id,
      ...rest,
      version: Number(version),
      definition: JSON.parse(definition) as StoredExecution["definition"],
      metadata: JSON.parse(metadata) as StoredExecution["metadata"],
      rows: rowsOf.get(String(seq)) ?? [],
      children: childrenOf.get(String(seq)) ?? [],
    })),
    definitions: new Map(definitions.map(({ hash, definition }) => [hash, JSON.parse(definition) as WorkflowDefinition])),
  };
}

function grouped<Row extends { readonly execution: string | number }, T>(rows: readonly Row[], of: (row: Row) => T): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const row of rows) {
    const key = String(row.execution);
    const group = groups.get(key);
    if (group) group.push(of(row));
    else groups.set(key, [of(row)]);
  }
  return groups;
}
