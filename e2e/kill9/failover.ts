import { setTimeout as sleep } from "node:timers/promises";
import { until } from "./fleet.ts";
import { readLogs, type WrittenLine } from "./log.ts";
import type { TcpProxy } from "./proxy.ts";
import type { RedisPair } from "./redis-pair.ts";
import { type Run, type RunOptions, run } from "./run.ts";

/** What happened after a failover to a replica that lacked the latest writes. */
export interface Failover {
  /** The time from which processes reached only the replica, in epoch milliseconds. */
  readonly switchedAt: number;
  /** Idempotency keys of steps that ran before the failover and again after it, because their results were lost. */
  readonly repeated: readonly string[];
  /** Steps that two processes performed after the failover, as text with the names of the processes. */
  readonly byTwo: readonly string[];
}

const leaseMs = 3_000;
/** The replica lacks the writes of at least this time before the switch, in milliseconds, and at least this number of commits. */
const lostMs = 1_000;
const lostCommits = 10;
/**
 * The time in which a step may still begin that was about to begin at the switch. Every later step follows a commit that the replica
 * has accepted.
 */
const underWayMs = 300;

/** The options of a run with failovers. The proxy forwards all connections to the primary of the pair. */
export interface FailoverOptions extends RunOptions {
  readonly pair: RedisPair;
  readonly proxy: TcpProxy;
  readonly times: number;
}

/** Lets processes work and switches them to a replica that lacks the latest commits, `times` times. */
export async function failovers({ pair, proxy, times, ...options }: FailoverOptions): Promise<Run<readonly Failover[]>> {
  // steps take up to 1.5 s and have no retries: if a step runs twice, its first result was lost or its process does not know of another
  // holder
  const worker = { leaseMs, pace: { mostMs: 1_500 } };
  const client = { openAtOnce: 60, only: ["sleeper"] };
  const ended = await run({ ...options, workers: 3, clients: 1, worker, client }, async (_, logs) => {
    const made: number[] = [];
    while (made.length < times) {
      await pair.inSync();
      await sleep(2_000);
      await pair.isolate();
      const isolatedAt = Date.now();
      await sleep(lostMs);
      // only of workers: a start that is lost does not run again
      const isLost = ({ what, by, at }: WrittenLine): boolean => what === "committed" && by.startsWith("worker") && at >= isolatedAt;
      await until("workers commit what the replica lacks", 60_000, async () => readLogs(logs).filter(isLost).length >= lostCommits);
      await pair.fail();
      proxy.retarget(pair.url);
      made.push(Date.now());
      await sleep(leaseMs);
    }
    return made;
  });
  return { ...ended, made: ended.made.map((at, i) => failoverOf(ended.lines, at, ended.made[i + 1] ?? Number.POSITIVE_INFINITY)) };
}

/**
 * Evaluates the log of one failover.
 * @param until the time of the next failover
 */
function failoverOf(lines: readonly WrittenLine[], switchedAt: number, until: number): Failover {
  const before = new Set<string>();
  const after = new Map<string, Set<string>>();
  const late = new Map<string, Set<string>>();
  for (const line of lines) {
    if (line.what !== "called" || line.at >= until) continue;
    if (line.at < switchedAt) before.add(line.key);
    else note(after, line);
    if (line.at > switchedAt + underWayMs) note(late, line);
  }
  return {
    switchedAt,
    repeated: [...after.keys()].filter((key) => before.has(key)),
    byTwo: [...late].flatMap(([key, by]) => (by.size > 1 ? [`${key} by ${[...by].join(" and ")}`] : [])),
  };
}

function note(calls: Map<string, Set<string>>, { key, by }: { readonly key: string; readonly by: string }): void {
  calls.set(key, (calls.get(key) ?? new Set()).add(by));
}
