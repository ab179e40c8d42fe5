/** What we send with each message: options of a BullMQ job. */
export interface BullmqJobOptions {
  readonly delay: number;
  readonly attempts: number;
  readonly backoff: { readonly type: "fixed"; readonly delay: number; readonly jitter: number };
  readonly removeOnComplete: true;
  readonly stackTraceLimit: number;
}

/** What we need of a `Queue` of BullMQ. Described here and not imported, so that BullMQ is no dependency. */
export interface BullmqQueueClient {
  readonly name: string;
  addBulk(jobs: { name: string; data: { readonly workflowId: string }; opts: BullmqJobOptions }[]): Promise<unknown>;
}

/** What we need of a `Job` of BullMQ. */
export interface BullmqJob {
  readonly data: unknown;
  readonly token?: string | undefined;
  extendLock(token: string, durationMs: number): Promise<unknown>;
}

/** What we need of a `Worker` of BullMQ. */
export interface BullmqWorker {
  on(event: "error", listener: (error: Error) => void): unknown;
  waitUntilReady(): Promise<unknown>;
  /** Takes no more jobs, and resolves when those under way are done. */
  close(): Promise<void>;
}

/** To be passed on to the `Worker`, beside its connection. */
export interface BullmqWorkerOptions {
  readonly concurrency: number;
  readonly lockDuration: number;
  readonly stalledInterval: number;
  readonly maxStalledCount: number;
}

/** Makes a worker: `(process, options) => new Worker(queue.name, process, { connection, ...options })`. */
export type MakeBullmqWorker = (process: (job: BullmqJob) => Promise<void>, options: BullmqWorkerOptions) => BullmqWorker;
