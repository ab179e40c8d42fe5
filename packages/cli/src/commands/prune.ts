import { resolve } from "node:path";
import { createRuntime, type PruneWithHistoryOptions } from "stepfold/runtime";
import { readDuration } from "../arguments/read-duration.ts";
import { BadInput } from "../bad-input.ts";
import { exitCode } from "../exit-code.ts";
import { namePath } from "../name-path.ts";
import { say } from "../output.ts";
import { chooseDatabase, openExistingDatabase, openQuietly, type Store } from "../store/database.ts";
import { historyFiles } from "../store/history-files.ts";
import { paintFor } from "../text/paint.ts";

/** Options of `stepfold prune`. */
export interface PruneCommandOptions {
  readonly before: string;
  readonly workflow?: string;
  readonly status?: readonly string[];
  readonly keepEvents?: string;
  readonly dryRun?: boolean;
  readonly store?: string;
  readonly json?: boolean;
}

type Ended = NonNullable<PruneWithHistoryOptions["statuses"]>[number];

/** Numbers of executions and events. */
interface Counts {
  readonly executions: number;
  readonly events: number;
}

/** What was deleted, or would be deleted in a dry run. */
interface Pruned extends Counts {
  /** The deleted events of earlier runs, and how many executions had them. */
  readonly earlierRuns: Counts;
}

const ended: readonly string[] = ["completed", "failed", "cancelled"];
/** The most executions of one call of `runtime.prune`, which searches for the oldest executions once. */
const together = 1000;
/** A limit that no store reaches, so that a dry run counts all executions. */
const all = 1_000_000_000;

/** `stepfold prune`: deletes executions, and earlier runs of others, that ended long ago, and with `--keep-events` keeps their histories. @returns the exit code */
export async function pruneCommand(options: PruneCommandOptions): Promise<number> {
  const { workflow, dryRun = false, json = false } = options;
  const age = readDuration("--before", options.before, "how long ago, such as 30d, 12h or P30D");
  const statuses = options.status?.flatMap((words) => words.split(",")).map(readEnded);
  const folder = options.keepEvents === undefined ? null : resolve(options.keepEvents);
  const database = chooseDatabase(options.store);
  const store = await openExistingDatabase(database, openQuietly);
  let pruned: Pruned;
  try {
    const before = (await store.now()) - age;
    const which = { before, ...(workflow === undefined ? {} : { definitionId: workflow }), ...(statuses ? { statuses } : {}) };
    if (dryRun) pruned = await pruneOnce(store, { ...which, dryRun, limit: all });
    else pruned = await pruneAll(store, folder === null ? which : { ...which, keepEvents: await historyFiles(folder) });
  } finally {
    await store.close();
  }
  say(
    json
      ? `${JSON.stringify({ type: "pruned", store: database.name, ...countsOf(pruned), earlierRuns: countsOf(pruned.earlierRuns), dryRun })}\n`
      : `${sentence(pruned, database.name, folder, dryRun)}\n`,
  );
  return exitCode.done;
}

async function pruneOnce(store: Store, which: PruneWithHistoryOptions): Promise<Pruned> {
  // this runtime runs no steps, so it needs no node types
  const runtime = createRuntime({ store, nodeDefinitions: {}, drive: false });
  try {
    return await runtime.prune(which);
  } finally {
    await runtime.close();
  }
}

async function pruneAll(store: Store, which: PruneWithHistoryOptions): Promise<Pruned> {
  let sum: Pruned = { executions: 0, events: 0, earlierRuns: { executions: 0, events: 0 } };
  for (;;) {
    const some = await pruneOnce(store, { ...which, limit: together });
    sum = { ...sumOf(sum, some), earlierRuns: sumOf(sum.earlierRuns, some.earlierRuns) };
    if (some.executions + some.earlierRuns.executions === 0) return sum;
  }
}

function sumOf(one: Counts, other: Counts): Counts {
  return { executions: one.executions + other.executions, events: one.events + other.events };
}

function countsOf({ executions, events }: Counts): Counts {
  return { executions, events };
}

function sentence({ executions, events, earlierRuns }: Pruned, database: string, folder: string | null, dryRun: boolean): string {
  const all = executions + earlierRuns.executions;
  if (all === 0) return `No such executions in ${database}`;
  const ended = `${counted(executions, "execution")} with ${counted(events, "event")}`;
  const earlier = `${counted(earlierRuns.events, "event")} of earlier runs of ${counted(earlierRuns.executions, "execution")}`;
  const what = [...(executions > 0 ? [ended] : []), ...(earlierRuns.executions > 0 ? [earlier] : [])].join(" and ");
  if (dryRun) return `${what} would be deleted from ${database}`;
  const kept = folder === null ? "" : `; ${all === 1 ? "its history is" : "their histories are"} in ${namePath(folder)}`;
  return `${paintFor(process.stdout)("good", "✔")} ${what} deleted from ${database}${kept}`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function readEnded(text: string): Ended {
  if (ended.includes(text)) return text as Ended;
  throw new BadInput("USAGE", `"${text}" is not a status of an ended execution`, { hint: `One or more of: ${ended.join(", ")}` });
}
