/** A job that pg-boss gave out; the number of retries says in which attempt. */
export interface PgBossJob {
  readonly id: string;
  readonly retryCount: number;
  readonly data: unknown;
}

/** How long a job of pg-boss is kept, and what becomes of it when it fails. */
export interface PgBossJobSettings {
  readonly retryLimit: number;
  readonly retryDelay: number;
  readonly retryBackoff: boolean;
  readonly retryDelayMax: number;
  readonly expireInSeconds: number;
  readonly retentionSeconds: number;
}

/** What is inserted. */
export interface PgBossInsert extends PgBossJobSettings {
  readonly data: { readonly workflowId: string };
  /** Seconds from now, by the database's clock. */
  readonly startAfter: number;
  readonly singletonKey: string;
}

/** How a queue of pg-boss behaves. */
export interface PgBossQueueSettings extends PgBossJobSettings {
  readonly policy: "short";
  readonly heartbeatSeconds: number;
}

/** What we need of a `PgBoss`. Described here and not imported, so that pg-boss is no dependency. */
export interface PgBossClient {
  getQueue(name: string): Promise<{ readonly policy?: string; readonly heartbeatSeconds?: number | null } | null>;
  createQueue(name: string, settings: PgBossQueueSettings): Promise<void>;
  updateQueue(name: string, settings: Pick<PgBossQueueSettings, "heartbeatSeconds">): Promise<void>;
  insert(
    name: string,
    jobs: PgBossInsert[],
    options?: { db: { executeSql(text: string, values?: unknown[]): Promise<{ rows: unknown[] }> } },
  ): Promise<unknown>;
  fetch(name: string, options: { batchSize: number }): Promise<readonly PgBossJob[]>;
  deleteJob(name: string, job: PgBossJob): Promise<unknown>;
  fail(name: string, job: PgBossJob): Promise<unknown>;
  touch(name: string, jobs: PgBossJob[]): Promise<unknown>;
}
