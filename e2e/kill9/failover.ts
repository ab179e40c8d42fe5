import { setTimeout as sleep } from "node:timers/promises";
import type { WrittenLine } from "./log.ts";
import type { TcpProxy } from "./proxy.ts";
import type { RedisPair } from "./redis-pair.ts";
import { type Run, type RunOptions, run } from "./run.ts";

/** How executions went on with a copy that lacked what was last. */
export interface Failover {
  /** When processes reached the copy and nothing else. */
  readonly switchedAt: number;
  /** Steps that ran before and, because that was lost, again afterwards, by their idempotency keys. */
  readonly repeated: readonly string[];
  /** Steps that two processes performed afterwards. */
  readonly byTwo: readonly string[];
}

const leaseMs = 3_000;
/** How much the copy lacks. */
const lostMs = 1_000;
/** A step that was about to begin when the servers were switched has begun by then. Before any other there is a commit, which the copy judges. */
const underWayMs = 300;

/** Everything goes through the proxy, to the server of the pair that counts. */
export interface FailoverOptions extends RunOptions {
  readonly pair: RedisPair;
  readonly proxy: TcpProxy;
  readonly times: number;
}

/** Switches processes under load to a copy that lacks the last second, so many times. */
export async function failovers({ pair, proxy, times, ...options }: FailoverOptions): Promise<Run<readonly Failover[]>> {
  // steps of seconds, none of them tried again: who runs one a second time has lost the first one, or does not know of another holder
  const worker = { leaseMs, pace: { mostMs: 1_500 } };
  const client = { openAtOnce: 60, only: ["sleeper"] };
  const ended = await run({ ...options, workers: 3, clients: 1, worker, client }, async () => {
    const made: number[] = [];
    while (made.length < times) {
      await pair.inSync();
      await sleep(2_000);
      await pair.isolate();
      await sleep(lostMs);
      await pair.fail();
      proxy.retarget(pair.url);
      made.push(Date.now());
      await sleep(leaseMs);
    }
    return made;
  });
  return { ...ended, made: ended.made.map((at, i) => failoverOf(ended.lines, at, ended.made[i + 1] ?? Number.POSITIVE_INFINITY)) };
}

/** @param until of the next one */
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
