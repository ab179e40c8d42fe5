import type { LoadPace } from "./load.ts";

/** What every process of a run is told. */
export interface ProcessOptions {
  /** Of the store. */
  readonly url: string;
  /** Of the queue; none: workers look into the store. */
  readonly queueUrl?: string | undefined;
  /** Where its log is. */
  readonly folder: string;
  /** Unique for every process that ever runs, also after a restart. */
  readonly name: string;
  /** Its clock can be set: see fake-clock.ts. */
  readonly hasFakeClock?: boolean;
}

/** What a worker is told beside. */
export interface WorkerOptions extends ProcessOptions {
  readonly leaseMs: number;
  readonly pollMs: number;
  readonly pace?: LoadPace;
  readonly maxExecutions?: number;
  /** Default without end. */
  readonly maxCrashes?: number;
}

/** What a client is told beside. */
export interface ClientOptions extends ProcessOptions {
  /** Executions that are open at once, about. */
  readonly openAtOnce: number;
  /** The client that was killed before: what it had asked for and not heard of is asked for again. */
  readonly after: string | null;
  /** How long it waits for the store depends on it; default that of the runtime. */
  readonly leaseMs?: number;
  /** Which workflows it starts; default all. */
  readonly only?: readonly string[];
}
