import { setTimeout as sleep } from "node:timers/promises";
import type { WrittenLine } from "./log.ts";
import { answerMs } from "./open-store.ts";
import type { TcpProxy } from "./proxy.ts";
import { leaseMs, type Run, type RunOptions, run } from "./run.ts";
import { seeded } from "./seeded.ts";

/** What a network between processes and their store did, and how the processes went on. */
export interface Gray {
  /** From the end of a fault until the last of the executions that were open then went on: began a step, or committed. */
  readonly stoodStillMs: number;
  /** From asking for a start until its caller was told, good or bad. */
  readonly longestStartMs: number;
  /** Starts whose callers were told that they are not known to be made. */
  readonly startsRefused: number;
  /** The most crashes in a row that an execution counted, although no process has died. */
  readonly crashes: number;
}

/** A run behind a proxy. */
export interface GrayOptions extends RunOptions {
  readonly proxy: TcpProxy;
  readonly times: number;
  readonly seed: number;
}

/** Answers of the store are later than a runtime waits for them. */
export const slowMs: number = 0.7 * leaseMs;
/** For how long. */
const brownOutMs = 10 * leaseMs;
/** How many of the connections. */
const silentShare = 0.5;
/** What the proxy and the clients need at most to notice a connection that is silent. */
const silenceMs = answerMs + leaseMs;

/** A start goes on trying for 10 s, and its last attempt ends with the client's own limit. */
export const longestStartMs: number = 10_000 + 6 * answerMs;

/** Nothing that waits for a client: how long things stand still is then the workers' doing. */
const only = ["line", "fork", "retrying", "timer", "mapped", "parent"];
const pace = { workers: 2, clients: 1, client: { openAtOnce: 30, leaseMs, only }, worker: { maxCrashes: 5 } };

/** A store whose answers come too late for ten leases, so many times. */
export async function brownOuts({ proxy, times, seed: _, ...options }: GrayOptions): Promise<Run<Gray>> {
  return grayRun(options, async (ends) => {
    for (let i = 0; i < times; i++) {
      await sleep(700);
      proxy.set("slow");
      await sleep(brownOutMs);
      proxy.set("through");
      // what was sent before is still late
      await sleep(slowMs);
      ends.push(Date.now());
      await sleep(3 * leaseMs);
    }
  });
}

/** Half of the connections are silent from one moment on, so many times. */
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
 * Of all that had begun before, and went on afterwards, the longest time until it did. How long its next step takes is no part of it; what waits for
 * a child has gone on when the child has.
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
