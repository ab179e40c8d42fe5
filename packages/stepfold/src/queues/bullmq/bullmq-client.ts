/** The options of the BullMQ job that is sent for each message. */
export interface BullmqJobOptions {
  readonly delay: number;
  readonly attempts: number;
  readonly backoff: { readonly type: "fixed"; readonly delay: number; readonly jitter: number };
  readonly removeOnComplete: true;
  readonly stackTraceLimit: number;
}

/** The methods of a BullMQ `Queue` that are used. Described here and not imported, so that BullMQ is no dependency. */
export interface BullmqQueueClient {
  readonly name: string;
  addBulk(jobs: { name: string; data: { readonly workflowId: string }; opts: BullmqJobOptions }[]): Promise<unknown>;
}

/** The members of a BullMQ `Job` that are used. */
export interface BullmqJob {
  readonly data: unknown;
  readonly token?: string | undefined;
  extendLock(token: string, durationMs: number): Promise<unknown>;
}

/** The methods of a BullMQ `Worker` that are used. */
export interface BullmqWorker {
  on(event: "error", listener: (error: Error) => void): unknown;
  waitUntilReady(): Promise<unknown>;
  /** Takes no more jobs, and resolves when those in flight are done. */
  close(): Promise<void>;
}

/** Options for the `Worker`, in addition to its connection. */
export interface BullmqWorkerOptions {
  readonly concurrency: number;
  readonly lockDuration: number;
  readonly stalledInterval: number;
  readonly maxStalledCount: number;
}

/** Makes a worker: `(process, options) => new Worker(queue.name, process, { connection, ...options })`. */
export type MakeBullmqWorker = (process: (job: BullmqJob) => Promise<void>, options: BullmqWorkerOptions) => BullmqWorker;
