import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Member, until } from "./fleet.ts";
import { readLog, readLogs, type WrittenLine } from "./log.ts";
import { pollMs, type Run, type RunOptions, run } from "./run.ts";

/** A worker that stopped in the middle of a commit, and went on after others had taken over its executions. */
export interface FrozenHolder {
  readonly name: string;
  /** The number of executions that other workers claimed from it. */
  readonly taken: number;
  /** The milliseconds from its stop until another worker claimed the last of these executions. */
  readonly takenOverMs: number;
  /** The ids of the commits in which it stopped. */
  readonly commitIds: readonly string[];
}

/** The lease is longer than the time after which servers abort the transaction of a silent process. */
const leaseMs = 4_000;
/** The longest time that others may need to take over: lease + poll + 1 s. */
export const takeoverBoundMs: number = leaseMs + pollMs + 1_000;

type Options = RunOptions & { readonly freezes: number };

/** Stops one worker after the other in the middle of a commit, until others have taken over its executions, and lets it go on. */
export function frozenHolders({ freezes, tell = () => undefined, ...options }: Options): Promise<Run<readonly FrozenHolder[]>> {
  const client = { openAtOnce: 12, only: ["line", "fork", "retrying", "timer"] };
  return run({ ...options, workers: 2, clients: 1, worker: { leaseMs }, client }, async (fleet, logs) => {
    const made: FrozenHolder[] = [];
    while (made.length < freezes) {
      await sleep(500);
      const workers = [...fleet.members].filter(({ kind }) => kind === "worker");
      made.push(await frozen(workers[made.length % workers.length]!, options, logs));
      if (made.length % 10 === 0) tell(`${made.length} frozen, ${await options.target.countOpen()} executions under way`);
    }
    return made;
  });
}

async function frozen({ name, child }: Member, { target }: RunOptions, logs: string): Promise<FrozenHolder> {
  const own = (): WrittenLine[] => readLog(join(logs, `${name}.jsonl`));
  const freezes = () => own().filter((line) => line.what === "frozen");
  const before = freezes().length;
  child.send("freeze");
  try {
    await until(`${name} is in the middle of a commit`, 30_000, async () => freezes().length > before);
    const { at, commitIds } = freezes().at(-1)!;
    // the server has handled by now what the process sent before it stopped
    await sleep(300);
    const held = (await target.heldBy(name)).map(({ workflowId }) => workflowId);
    await until(`others take over what ${name} held`, 10 * leaseMs, async () => (await target.heldBy(name)).length === 0);
    // the new holder logs the last claim when it gets the store's answer
    await sleep(200);
    const claims = claimsOfOthers(readLogs(logs), name, at);
    // executions without such a claim were cancelled by clients in the meantime
    const taken = held.flatMap((id) => claims.get(id) ?? []);
    const takenOverMs = Math.max(0, ...taken.map((claimedAt) => claimedAt - at));
    child.kill("SIGCONT");
    const isOther = (line: WrittenLine): boolean =>
      line.what === "committed" && line.at > at + takenOverMs && !held.includes(line.workflowId);
    await until(`${name} goes on with other work`, 30_000, async () => own().some(isOther));
    return { name, taken: taken.length, takenOverMs, commitIds };
  } finally {
    child.kill("SIGCONT");
  }
}

/** Returns the time at which each execution was first claimed by a worker other than `name`. */
function claimsOfOthers(lines: readonly WrittenLine[], name: string, since: number): Map<string, number> {
  const claims = new Map<string, number>();
  for (const { what, by, at, ...line } of lines) {
    if (what !== "claimed" || by === name || at < since) continue;
    const { workflowId } = line as { workflowId: string };
    claims.set(workflowId, Math.min(at, claims.get(workflowId) ?? at));
  }
  return claims;
}
