import type { Pool } from "mysql2/promise";
import type { SnapshotStore } from "stepfold";
import type { LogLine } from "./log.ts";

/** Stops its own process once, in the middle of a commit: as a machine that loses its power or is suspended, and leaves its connections open. */
export interface Freezer {
  /** The next commit is the one. */
  arm(): void;
  /** These commits are under way, and not made yet. */
  pass(commitIds: readonly string[]): void;
}

/** A freezer that is not armed. */
export function freezer(write: (line: LogLine) => void): Freezer {
  let isArmed = false;
  return {
    arm() {
      isArmed = true;
    },
    pass(commitIds) {
      if (!isArmed) return;
      isArmed = false;
      write({ what: "frozen", commitIds });
      process.kill(process.pid, "SIGSTOP");
    },
  };
}

/** The same store, which freezes when a commit is about to be sent, or, where a message goes in the same transaction, before that one ends. */
export function freezing(store: SnapshotStore, { pass }: Freezer, { inTransaction }: { readonly inTransaction: boolean }): SnapshotStore {
  return {
    ...store,
    commit(commit) {
      const { alongside, commitId } = commit;
      if (!inTransaction) pass([commitId]);
      if (!inTransaction || !alongside) return store.commit(commit);
      return store.commit({
        ...commit,
        async alongside(query) {
          await alongside(query);
          pass([commitId]);
        },
      });
    },
  };
}

/** The same pool, which freezes in a transaction that has written events and holds their executions locked. */
export function freezingPool(pool: Pool, { pass }: Freezer): Pick<Pool, "getConnection"> {
  return {
    async getConnection() {
      const connection = await pool.getConnection();
      const execute = connection.execute.bind(connection);
      return Object.assign(Object.create(connection), {
        async execute(statement: { readonly sql: string; readonly values: (string | Uint8Array | null)[] }) {
          const answer = await execute(statement);
          if (/^\s*INSERT INTO \S+events\b/.test(statement.sql)) pass(commitsIn(statement.values));
          return answer;
        },
      });
    },
  };
}

/** Of every row of events the third column is the id of its commit; rows that only fill up a statement have none. */
function commitsIn(values: readonly unknown[]): string[] {
  return [...new Set(values.filter((_, index) => index % 4 === 2).map(String))].filter((id) => id !== "");
}
