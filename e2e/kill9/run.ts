import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { checkRun, type Verdict } from "./check-run.ts";
import { Fleet, until } from "./fleet.ts";
import { readLogs, type WrittenLine } from "./log.ts";
import type { ClientOptions, WorkerOptions } from "./process-options.ts";
import { standing } from "./standing.ts";
import type { Stored, Target } from "./stored.ts";

/** The options of a run. */
export interface RunOptions {
  readonly target: Target;
  /** The folder for the logs. */
  readonly folder: string;
  readonly workers?: number;
  readonly clients?: number;
  readonly worker?: Partial<WorkerOptions>;
  /** How every second worker differs from the others. Default: in nothing. */
  readonly secondWorker?: Partial<WorkerOptions>;
  readonly client?: Partial<ClientOptions>;
  /** False if the clock from which the store takes its time is changed during the run. Default: true. */
  readonly isClockRight?: boolean;
  /** Called with a line about the progress now and then. */
  readonly tell?: (progress: string) => void;
}

/** The result of a run. */
export interface Run<T> extends Verdict {
  readonly hasQueue: boolean;
  /** The result of `disturb`. */
  readonly made: T;
  readonly durationMs: number;
  /** Processes that ended without being asked to, and unexpected problems that runtimes reported. */
  readonly failures: readonly string[];
  readonly stored: Stored;
  readonly lines: readonly WrittenLine[];
}

export const leaseMs = 1_000;
export const pollMs = 200;
/** How long executions may take to end after the disturbance, in milliseconds. */
const longestEndMs = 200_000;
/** Codes of problems that belong to a disturbed run: the process tries again, or another one runs the execution. */
const expected = new Set(["STORE_UNAVAILABLE", "OUTCOME_UNKNOWN", "QUEUE_UNAVAILABLE", "WORKFLOW_LEFT"]);

/** Starts processes and disturbs them while they work; then lets the remaining executions end, and checks the result. */
export async function run<T>(options: RunOptions, disturb: (fleet: Fleet, logs: string) => Promise<T>): Promise<Run<T>> {
  const { target, folder, workers = 4, clients = 2, worker, secondWorker, client, tell = () => undefined } = options;
  const began = performance.now();
  const beganAt = Date.now();
  const logs = join(folder, "logs");
  mkdirSync(logs, { recursive: true });
  const common = { url: target.url, queueUrl: target.queueUrl, folder: logs };
  const fleet = new Fleet({
    worker: { ...common, leaseMs, pollMs, ...worker },
    secondWorker,
    client: { ...common, openAtOnce: 60, ...client },
  });
  const allWork = (): Promise<void> => until("all processes work", 60_000, async () => [...fleet.members].every(({ ready }) => ready));
  let made: T;
  try {
    for (let i = 0; i < workers; i++) fleet.worker();
    for (let i = 0; i < clients; i++) fleet.client();
    await allWork();
    made = await disturb(fleet, logs);
    // a client that replaced a killed one may still have to repeat its starts
    await allWork();
    await fleet.endStarts();
    await until("every execution has ended", longestEndMs, async () => {
      // without the failed process the others may wait forever
      if (fleet.failures.length > 0) throw new RangeError(fleet.failures.join("; "));
      return (await target.countOpen()) === 0;
    }).catch(async (error: unknown) => {
      for (const line of await standing(fleet, logs, target, beganAt)) tell(line);
      throw error;
    });
    await fleet.close();
  } finally {
    fleet.abandon();
  }
  const durationMs = performance.now() - began;
  const lines = readLogs(logs);
  const stored = await target.readAll();
  const failures = [...fleet.failures, ...problemsOf(lines)];
  return { ...checkRun(stored, lines, options), hasQueue: target.queueUrl !== undefined, made, durationMs, failures, stored, lines };
}

/** Returns the problems that runtimes reported, without those that are expected in such a run. */
function problemsOf(lines: readonly WrittenLine[]): string[] {
  return lines.flatMap((line) => (line.what === "problem" && !expected.has(line.code) ? [`${line.by}: ${line.message}`] : []));
}
