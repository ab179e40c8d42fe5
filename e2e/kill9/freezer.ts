import type { Pool } from "mysql2/promise";
import type { SnapshotStore } from "stepfold";
import type { LogLine } from "./log.ts";

/** Stops its own process once with SIGSTOP in the middle of a commit, like a suspended machine whose connections stay open. */
export interface Freezer {
  /** Arms the freezer: the process stops in the next commit. */
  arm(): void;
  /** Called in the middle of these commits, before the store has made them. Stops the process if the freezer is armed. */
  pass(commitIds: readonly string[]): void;
}

/** Makes a freezer that is not armed. */
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

/**
 * Returns the store with a freezer: the process stops when a commit is about to be sent. With `inTransaction` it stops inside the
 * transaction of a commit that also sends a message.
 */
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

/** Returns the pool with a freezer: the process stops inside a transaction that has written events and holds locks on their executions. */
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

/**
 * Returns the ids of the commits in the values of an INSERT into `events`. A row has four values, and the third one is the id of its
 * commit; rows that only pad the statement have an empty id.
 */
function commitsIn(values: readonly unknown[]): string[] {
  return [...new Set(values.filter((_, index) => index % 4 === 2).map(String))].filter((id) => id !== "");
}
