import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { isBusy, storeError } from "../databases/sqlite/sqlite-error.ts";
import { type Connection, writing } from "./connection.ts";

/** Most writes in one transaction: other processes wait that long for theirs. */
const mostTogether = 256;

interface Job {
  readonly id: string;
  /** Writes, or throws a StepfoldError having written nothing. */
  write(): unknown;
  resolve(value: unknown): void;
  reject(error: StepfoldError): void;
}

type Verdict = { readonly value: unknown } | { readonly refused: StepfoldError };

/** Writes that share transactions. */
export interface CommitQueue {
  /** Runs `write` with what else was added in this turn of the event loop; resolves once it is durable. */
  add<T>(id: string, write: () => T): Promise<T>;
  /** Runs what was added now. */
  flush(): void;
}

/** A queue for one connection: one wait for the disk serves all writes issued together, each with a verdict of its own. */
export function commitQueue(connection: Connection): CommitQueue {
  let queue: Job[] = [];
  let scheduled = false;

  const flush = (): void => {
    while (queue.length > 0) {
      const jobs = queue.slice(0, mostTogether);
      queue = queue.slice(mostTogether);
      // neighbours in the file one after the other; the order of writes to one id stays
      if (jobs.length > 1) jobs.sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
      settle(connection, jobs);
    }
  };

  return {
    add: <T>(id: string, write: () => T) =>
      new Promise<T>((resolve, reject) => {
        queue.push({ id, write, resolve: resolve as (value: unknown) => void, reject });
        if (scheduled) return;
        scheduled = true;
        setImmediate(() => {
          scheduled = false;
          flush();
        });
      }),
    flush,
  };
}

function settle(connection: Connection, jobs: readonly Job[]): void {
  let verdicts: Verdict[];
  try {
    verdicts = writing(connection, () => jobs.map(attempt));
  } catch (cause) {
    // nothing of it was written; busy means that all of them waited for the lock, and would again
    if (jobs.length === 1 || isBusy(cause)) for (const job of jobs) job.reject(storeError(cause));
    else for (const job of jobs) settle(connection, [job]);
    return;
  }
  jobs.forEach((job, index) => {
    const verdict = verdicts[index]!;
    if ("refused" in verdict) job.reject(verdict.refused);
    else job.resolve(verdict.value);
  });
}

function attempt(job: Job): Verdict {
  try {
    return { value: job.write() };
  } catch (error) {
    if (StepfoldError.is(error)) return { refused: error };
    throw error;
  }
}
