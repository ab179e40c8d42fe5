import type { LoadPace } from "./load.ts";

/** The options of every process of a run. */
export interface ProcessOptions {
  /** The URL of the store. */
  readonly url: string;
  /** The URL of the queue. Absent: workers poll the store. */
  readonly queueUrl?: string | undefined;
  /** The folder of its log. */
  readonly folder: string;
  /** The name of the process. Every process gets a new name, also one that replaces another. */
  readonly name: string;
  /** Whether the process has a clock that can be set: see fake-clock.ts. */
  readonly hasFakeClock?: boolean;
}

/** The additional options of a worker. */
export interface WorkerOptions extends ProcessOptions {
  readonly leaseMs: number;
  readonly pollMs: number;
  readonly pace?: LoadPace;
  readonly maxExecutions?: number;
  /** How many consecutive crashes park an execution. Default: no limit. */
  readonly maxCrashes?: number;
  /** The node types whose code the worker does not have. It knows no workflow with such nodes either. Default: none. */
  readonly lacks?: readonly string[];
}

/** The additional options of a client. */
export interface ClientOptions extends ProcessOptions {
  /** About how many executions are open at the same time. */
  readonly openAtOnce: number;
  /** The name of the client that was killed before; this client repeats its unanswered starts. Null: there was none. */
  readonly after: string | null;
  /** The lease time of its runtime, which also determines how long the client waits for the store. Default: that of the runtime. */
  readonly leaseMs?: number;
  /** The ids of the workflows that the client starts. Default: all. */
  readonly only?: readonly string[];
}
