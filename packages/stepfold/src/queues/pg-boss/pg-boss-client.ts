/** A job that pg-boss has given to a consumer. */
export interface PgBossJob {
  readonly id: string;
  readonly retryCount: number;
  readonly data: unknown;
}

/** How long pg-boss keeps a job, and how it retries the job. */
export interface PgBossJobSettings {
  readonly retryLimit: number;
  readonly retryDelay: number;
  readonly retryBackoff: boolean;
  readonly retryDelayMax: number;
  readonly expireInSeconds: number;
  readonly retentionSeconds: number;
}

/** A job to insert. */
export interface PgBossInsert extends PgBossJobSettings {
  readonly data: { readonly workflowId: string };
  /** Seconds from now, by the database's clock. */
  readonly startAfter: number;
  readonly singletonKey: string;
}

/** The settings of a pg-boss queue. */
export interface PgBossQueueSettings extends PgBossJobSettings {
  readonly policy: "short";
  readonly heartbeatSeconds: number;
}

/** The methods of a `PgBoss` that are used. Described here and not imported, so that pg-boss is no dependency. */
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
