import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { checkRun, type Verdict } from "./check-run.ts";
import { Fleet, until } from "./fleet.ts";
import { readLogs, type WrittenLine } from "./log.ts";
import type { ClientOptions, WorkerOptions } from "./process-options.ts";
import { standing } from "./standing.ts";
import type { Stored, Target } from "./stored.ts";

/** What a run is made on. */
export interface RunOptions {
  readonly target: Target;
  /** For the logs. */
  readonly folder: string;
  readonly workers?: number;
  readonly clients?: number;
  readonly worker?: Partial<WorkerOptions>;
  readonly client?: Partial<ClientOptions>;
  /** False where the clock that the store takes the time from is set meanwhile. Default true. */
  readonly isClockRight?: boolean;
  readonly tell?: (progress: string) => void;
}

/** What a run came to. */
export interface Run<T> extends Verdict {
  readonly hasQueue: boolean;
  /** What `disturb` gave. */
  readonly made: T;
  readonly durationMs: number;
  /** Processes that ended without being asked to, and what runtimes told of. */
  readonly failures: readonly string[];
  readonly stored: Stored;
  readonly lines: readonly WrittenLine[];
}

export const leaseMs = 1_000;
export const pollMs = 200;
const longestEndMs = 200_000;
const expected = new Set(["STORE_UNAVAILABLE", "OUTCOME_UNKNOWN", "QUEUE_UNAVAILABLE"]);

/** Starts processes, disturbs them while they work; then lets what is left finish, and judges it. */
export async function run<T>(options: RunOptions, disturb: (fleet: Fleet, logs: string) => Promise<T>): Promise<Run<T>> {
  const { target, folder, workers = 4, clients = 2, worker, client, tell = () => undefined } = options;
  const began = performance.now();
  const beganAt = Date.now();
  const logs = join(folder, "logs");
  mkdirSync(logs, { recursive: true });
  const common = { url: target.url, queueUrl: target.queueUrl, folder: logs };
  const fleet = new Fleet({ worker: { ...common, leaseMs, pollMs, ...worker }, client: { ...common, openAtOnce: 60, ...client } });
  const allWork = (): Promise<void> => until("all processes work", 60_000, async () => [...fleet.members].every(({ ready }) => ready));
  let made: T;
  try {
    for (let i = 0; i < workers; i++) fleet.worker();
    for (let i = 0; i < clients; i++) fleet.client();
    await allWork();
    made = await disturb(fleet, logs);
    // a client that came after one that was killed may have to ask again
    await allWork();
    await fleet.endStarts();
    await until("every execution has ended", longestEndMs, async () => {
      // without it the others may wait for ever
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

/** What a runtime told of, but for what belongs to such a run: it asks again. */
function problemsOf(lines: readonly WrittenLine[]): string[] {
  return lines.flatMap((line) => (line.what === "problem" && !expected.has(line.code) ? [`${line.by}: ${line.message}`] : []));
}
