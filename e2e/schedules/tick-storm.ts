import { type ChildProcess, fork } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createRuntime } from "stepfold/runtime";
import { schedules } from "stepfold/schedules";
import { until } from "../kill9/fleet.ts";
import { readLogs } from "../kill9/log.ts";
import { openStore } from "../kill9/open-store.ts";
import { seeded } from "../kill9/seeded.ts";
import type { Target } from "../kill9/stored.ts";
import { judgeTicks, type Made, type TickVerdict } from "./judge-ticks.ts";
import type { TickWorkerOptions } from "./worker.ts";

/** The number of schedules, their ticks, and how often processes are killed. */
export interface TickStorm {
  readonly schedules: number;
  /** The time between two ticks of a schedule, in milliseconds. */
  readonly everyMs: number;
  /** The number of ticks of each schedule. */
  readonly ticks: number;
  readonly processes: number;
  /** The average time between two kills, in milliseconds. */
  readonly killEveryMs: number;
}

/** The result of a tick storm. */
export interface TickStormResult extends TickVerdict {
  readonly kills: number;
  readonly durationMs: number;
  /** Problems that runtimes reported, without those of a store that did not answer in time. */
  readonly problems: readonly string[];
  /** The arguments of the check. */
  readonly judged: Parameters<typeof judgeTicks>;
}

const leaseMs = 1_000;
const pollMs = 200;
/** The number of schedules that are made at the same time. */
const madeAtOnce = 20;
const script = new URL("./worker.ts", import.meta.url);

/** Makes schedules, kills the processes that drive them until the schedules have ended, and checks the stored executions. */
export async function tickStorm(target: Target, folder: string, seed: number, storm: TickStorm): Promise<TickStormResult> {
  const { schedules: count, everyMs, ticks, processes, killEveryMs } = storm;
  const logs = join(folder, "logs");
  mkdirSync(logs, { recursive: true });
  const began = performance.now();
  const random = seeded(seed);
  const names = Array.from({ length: count }, (_, i) => `s${i}`);
  const made = await makeAll(target.url, names, everyMs, ticks);
  let workers = 0;
  const begin = (): ChildProcess => {
    const options: TickWorkerOptions = { url: target.url, folder: logs, name: `worker-${++workers}`, leaseMs, pollMs };
    return fork(script, [JSON.stringify(options)], { execArgv: [], stdio: ["ignore", "inherit", "inherit", "ipc"] });
  };
  const running = Array.from({ length: processes }, begin);
  const isDone = async (): Promise<boolean> => (await target.countOpen()) === 0;
  let kills = 0;
  try {
    const lastTick = Math.max(...made.map(({ toMs }) => toMs)) + ticks * everyMs;
    while (Date.now() < lastTick && !(await isDone())) {
      await sleep(killEveryMs * (0.5 + random()));
      const victim = Math.floor(random() * processes);
      await ended(running[victim]!, "SIGKILL");
      running[victim] = begin();
      kills++;
    }
    await until("every execution has ended", 300_000, isDone);
    await Promise.all(running.map((child) => ended(child, "SIGTERM")));
  } finally {
    for (const child of running) child.kill("SIGKILL");
  }
  const lines = readLogs(logs);
  const problems = lines.flatMap((line) => (line.what === "problem" && line.code !== "STORE_UNAVAILABLE" ? [line.message] : []));
  const judged = [made, everyMs, ticks, await target.readAll(), lines] as const;
  return { ...judgeTicks(...judged), kills, problems, durationMs: performance.now() - began, judged: [...judged] };
}

async function makeAll(url: string, names: readonly string[], everyMs: number, ticks: number): Promise<Made[]> {
  const { store, close } = await openStore(url);
  const runtime = createRuntime({ store, nodeDefinitions: {}, drive: false, schedules: schedules() });
  const made: Made[] = [];
  const make = async (name: string): Promise<void> => {
    const fromMs = Date.now();
    await runtime.schedules.create(name, { workflow: "work", every: everyMs, count: ticks, overlap: "allow" });
    made.push({ name, fromMs, toMs: Date.now() });
  };
  for (let done = 0; done < names.length; done += madeAtOnce) await Promise.all(names.slice(done, done + madeAtOnce).map(make));
  await runtime.close();
  await close();
  return made;
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill(signal);
  await gone;
}

/** Returns the text to print about a tick storm. */
export function reportTicks({ starts, kills, lost, doubled, repeated, lateMs, durationMs, problems }: TickStormResult): string {
  const late = `a tick began ${lateMs.median} ms late by the median, ${lateMs.p99} ms at 99 %, ${lateMs.most} ms at most`;
  const others = problems.length > 0 ? `, ${problems.length} problems, the first: ${problems[0]}` : "";
  return `${kills} kills, ${starts} starts, ${lost.length} lost, ${doubled.length} twice; ${repeated} steps were made again; ${late}; ${Math.round(durationMs / 1_000)} s${others}`;
}
