import { setTimeout as sleep } from "node:timers/promises";
import type { WrittenLine } from "./log.ts";
import { answerMs } from "./open-store.ts";
import type { TcpProxy } from "./proxy.ts";
import { leaseMs, type Run, type RunOptions, run } from "./run.ts";
import { seeded } from "./seeded.ts";

/** How executions went on while the network between processes and their store was neither up nor down. */
export interface Gray {
  /** The longest time in milliseconds from the end of a fault until an execution that was open began a step or committed. */
  readonly stoodStillMs: number;
  /** The longest time in milliseconds from a call of start until its caller got an answer or an error. */
  readonly longestStartMs: number;
  /** The number of starts whose callers got an error: the start is not known to be made. */
  readonly startsRefused: number;
  /** The largest number of consecutive crashes that an execution counted, although no process has died. */
  readonly crashes: number;
}

/** The options of a run behind a proxy. */
export interface GrayOptions extends RunOptions {
  readonly proxy: TcpProxy;
  /** The number of faults. */
  readonly times: number;
  readonly seed: number;
}

/** The delay of the store's answers, in milliseconds. A runtime does not wait that long for an answer. */
export const slowMs: number = 0.7 * leaseMs;
/** How long the answers are delayed, in milliseconds. */
const brownOutMs = 10 * leaseMs;
/** The share of the connections that become silent. */
const silentShare = 0.5;
/** The longest time in which the proxy and the clients notice that a connection is silent. */
const silenceMs = answerMs + leaseMs;

/** The longest time of a start: it is retried for 10 s, and its last attempt ends with the client's own limit. */
export const longestStartMs: number = 10_000 + 6 * answerMs;

/** Workflows that do not wait for a client, so that only workers can cause a standstill. */
const only = ["line", "fork", "retrying", "timer", "mapped", "parent"];
const pace = { workers: 2, clients: 1, client: { openAtOnce: 30, leaseMs, only }, worker: { maxCrashes: 5 } };

/** Runs with a store whose answers come too late for ten leases, `times` times. */
export async function brownOuts({ proxy, times, seed: _, ...options }: GrayOptions): Promise<Run<Gray>> {
  return grayRun(options, async (ends) => {
    for (let i = 0; i < times; i++) {
      await sleep(700);
      proxy.set("slow");
      await sleep(brownOutMs);
      proxy.set("through");
      // answers to calls that were sent before are still late
      await sleep(slowMs);
      ends.push(Date.now());
      await sleep(3 * leaseMs);
    }
  });
}

/** Runs with connections of which half become silent at one moment, `times` times. */
export async function silences({ proxy, times, seed, ...options }: GrayOptions): Promise<Run<Gray>> {
  const random = seeded(seed);
  return grayRun(options, async (ends) => {
    for (let i = 0; i < times; i++) {
      await sleep(700 + random() * 600);
      proxy.silence(() => random() < silentShare);
      ends.push(Date.now());
      await sleep(silenceMs);
    }
  });
}

async function grayRun(options: RunOptions, disturb: (ends: number[]) => Promise<void>): Promise<Run<Gray>> {
  const ends: number[] = [];
  const ended = await run({ ...pace, ...options }, () => disturb(ends));
  return { ...ended, made: grayOf(ended.lines, ends) };
}

function grayOf(lines: readonly WrittenLine[], ends: readonly number[]): Gray {
  const sorted = [...lines].sort((a, b) => a.at - b.at);
  const starts = startsIn(sorted);
  return {
    stoodStillMs: Math.max(0, ...ends.map((end) => standstill(sorted, end))),
    longestStartMs: Math.max(0, ...starts.map(({ tookMs }) => tookMs)),
    startsRefused: starts.filter(({ isRefused }) => isRefused).length,
    crashes: Math.max(0, ...lines.map((line) => (line.what === "claimed" ? line.crashes : 0))),
  };
}

/**
 * Returns the longest time from `since` until an execution that had begun before went on. The duration of its next step does not count,
 * and a parent of a child counts as going on when the child does.
 */
function standstill(lines: readonly WrittenLine[], since: number): number {
  const begun = new Set<string>();
  const moved = new Map<string, number>();
  for (const line of lines) {
    if (line.what !== "committed" && line.what !== "called") continue;
    const [root] = line.workflowId.split("/") as [string];
    if (line.at < since && line.what === "committed") begun.add(root);
    else if (line.at >= since && begun.has(root) && !moved.has(root)) moved.set(root, line.at);
  }
  return Math.max(0, ...[...moved.values()].map((at) => at - since));
}

function startsIn(lines: readonly WrittenLine[]): { readonly tookMs: number; readonly isRefused: boolean }[] {
  const asked = new Map<string, number>();
  return lines.flatMap((line) => {
    if (line.what === "starting") asked.set(line.workflowId, line.at);
    if (line.what !== "started" && line.what !== "not started") return [];
    return [{ tookMs: line.at - asked.get(line.workflowId)!, isRefused: line.what === "not started" }];
  });
}
