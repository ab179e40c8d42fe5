import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Member, until } from "./fleet.ts";
import { readLog, readLogs, type WrittenLine } from "./log.ts";
import { type Run, type RunOptions, run } from "./run.ts";
import { seeded } from "./seeded.ts";
import type { Target } from "./stored.ts";

/** The options of a run with zombies: how many processes are stopped until their leases have run out, and the seed. */
export interface ZombieOptions extends RunOptions {
  readonly zombies: number;
  readonly seed: number;
}

/** A process that was stopped for longer than its leases, and went on. */
export interface Zombie {
  readonly name: string;
  /** The number of executions that it held when it was stopped, and that other workers had taken over when it went on. */
  readonly taken: number;
  /** How often it noticed the loss of a claim. */
  readonly noticed: number;
  /** The number of steps that were aborted by their signal. */
  readonly aborted: number;
  /** The number of its later commits to other executions. */
  readonly wentOn: number;
}

/** The longest time for which a process is stopped, in milliseconds. */
const longestStopMs = 10_000;

/** Stops workers in the middle of steps until other workers have taken over their executions, and lets them go on. */
export function zombies({ zombies: wanted, seed, ...options }: ZombieOptions): Promise<Run<readonly Zombie[]>> {
  const { target, tell = () => undefined } = options;
  const random = seeded(seed);
  // steps may take longer than the stop, so some are still in flight when it ends
  const worker = { pace: { mostMs: 3_000 } };
  const client = { openAtOnce: 24, only: ["fork", "asking", "doomed"] };
  return run({ ...options, worker, client }, async (fleet, logs) => {
    const made: Zombie[] = [];
    while (made.length < wanted) {
      await sleep(random() * 300);
      const workers = [...fleet.members].filter(({ kind }) => kind === "worker");
      const zombie = await stopped(workers[Math.floor(random() * workers.length)]!, target, logs);
      if (zombie) made.push(zombie);
      if (zombie && made.length % 10 === 0) tell(`${made.length} zombies, ${await target.countOpen()} executions under way`);
    }
    return made;
  });
}

/** True for a line in which a worker other than `loser` claims the execution after the lease of the holder before it has expired. */
function isTakeover(line: WrittenLine, workflowId: string, loser: string): boolean {
  return line.what === "claimed" && line.workflowId === workflowId && line.by !== loser && line.expired > 0;
}

/** True if the worker has called a step or sent a commit of the execution since its latest claim of it. */
function hasBegun(lines: readonly WrittenLine[], workflowId: string): boolean {
  const own = lines.filter((line) => "workflowId" in line && line.workflowId === workflowId);
  const claimed = own.findLastIndex(({ what }) => what === "claimed");
  return own.slice(claimed + 1).some(({ what }) => what === "called" || what === "committing");
}

/**
 * Stops a worker until its leases have expired, and lets it go on. Null if no other worker took over an execution that it had begun to run,
 * or if it has claimed such an execution again before it could notice that another worker had it meanwhile.
 */
async function stopped({ name, child }: Member, target: Target, logs: string): Promise<Zombie | null> {
  const read = (): WrittenLine[] => readLog(join(logs, `${name}.jsonl`));
  const stoppedAt = Date.now();
  child.kill("SIGSTOP");
  let held: ReadonlySet<string>;
  let before: readonly WrittenLine[];
  try {
    held = new Set((await target.heldBy(name)).map(({ workflowId }) => workflowId));
    // a stopped process may hold a lock of SQLite and so stop all others; then nobody can take over, and the wait ends at the deadline
    const deadline = performance.now() + longestStopMs;
    while ((await target.heldBy(name)).length > 0 && performance.now() < deadline) await sleep(50);
    before = read();
  } finally {
    child.kill("SIGCONT");
  }
  // a commit that was in flight at the stop may have released an execution: only what another worker claimed after the lease is lost
  const meanwhile = readLogs(logs).filter((line) => line.at >= stoppedAt);
  const taken = [...held].filter((workflowId) => meanwhile.some((line) => isTakeover(line, workflowId, name)));
  const begun = taken.filter((workflowId) => hasBegun(before, workflowId));
  if (begun.length === 0) return null;
  const since = (): WrittenLine[] => read().slice(before.length);
  // the store refuses its call, or its own clock says that the lease has expired: then it aborts the step or reports a problem
  const lost = (line: WrittenLine): boolean =>
    (line.what === "refused" || line.what === "aborted" || line.what === "problem") && taken.includes(line.workflowId!);
  const isOther = (line: WrittenLine): boolean => line.what === "committed" && !held.has(line.workflowId);
  const tells = (line: WrittenLine): boolean => lost(line) || (line.what === "claimed" && taken.includes(line.workflowId));
  await until(`${name} notices that it has lost ${begun.join(", ")}`, 30_000, async () => since().some(tells));
  if (!since().some(lost)) return null;
  await until(`${name} goes on with other work`, 30_000, async () => since().some(isOther));
  const after = since();
  return {
    name,
    taken: taken.length,
    noticed: after.filter(lost).length,
    aborted: after.filter((line) => line.what === "aborted" && taken.includes(line.workflowId)).length,
    wentOn: after.filter(isOther).length,
  };
}
