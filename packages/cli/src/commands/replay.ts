import { type Cleanup, cleanup } from "../cleanup.ts";
import { findConfig } from "../config/find-config.ts";
import { loadConfig } from "../config/load-config.ts";
import { openGlobals } from "../config/open-globals.ts";
import { exitCode } from "../exit-code.ts";
import { say } from "../output.ts";
import { nodeDefinitionsOf } from "../session/session.ts";
import { chooseDatabase, openExistingDatabase, openQuietly } from "../store/database.ts";
import { paintFor } from "../text/paint.ts";
import { printable } from "../text/printable.ts";

/** Options of `stepfold replay`. */
export interface ReplayOptions {
  readonly workflow?: string;
  readonly store?: string;
  readonly config?: string;
  readonly json?: boolean;
}

/**
 * `stepfold replay`: reads the open executions of a store, runs the code of the config from what they remember, and lists those that this deployment
 * would park or could not run. No step is performed, and nothing is written.
 *
 * @returns the exit code: 0 if this deployment can go on with all of them
 */
export async function replay(options: ReplayOptions): Promise<number> {
  const closing = cleanup();
  try {
    return await report(options, closing);
  } finally {
    await closing.run();
  }
}

async function report({ workflow, store: named, config: path, json }: ReplayOptions, closing: Cleanup): Promise<number> {
  const database = chooseDatabase(named);
  const configPath = findConfig(path);
  const config = await loadConfig(configPath);
  const store = await openExistingDatabase(database, openQuietly);
  closing.add(() => store.close());
  const globals = await openGlobals({ config, configPath, database, cleanup: closing });
  // imported only here, because no other command runs code without performing it
  const { replayExecutions } = await import("../store/replay-executions.ts");
  const code = { workflows: config.workflows ?? [], nodeDefinitions: nodeDefinitionsOf(config), globals };
  const paint = paintFor(process.stdout);
  const counts = { parked: 0, left: 0, replayed: 0 };
  for await (const { workflowId, definitionId, difference } of replayExecutions(store, code, workflow)) {
    counts.replayed++;
    if (!difference) continue;
    const isParked = difference.code === "CODE_CHANGED";
    counts[isParked ? "parked" : "left"]++;
    if (json) say(`${JSON.stringify({ type: "difference", workflowId, definitionId, ...difference })}\n`);
    else {
      const what = isParked ? "would be parked" : "would be left to other workers";
      say(`${paint("bad", "✖")} ${printable(workflowId, 255)} (${definitionId}) ${what}: ${printable(difference.message, 2_000)}\n`);
    }
  }
  if (json) say(`${JSON.stringify({ type: "replay", ...counts })}\n`);
  else say(`${textOf(counts, paint)}\n`);
  return counts.parked + counts.left === 0 ? exitCode.done : exitCode.failed;
}

function textOf(
  { parked, left, replayed }: { parked: number; left: number; replayed: number },
  paint: ReturnType<typeof paintFor>,
): string {
  const open = `${replayed} open execution${replayed === 1 ? "" : "s"}`;
  if (parked + left === 0) return `${paint("good", "✔")} ${open}: this deployment can go on with ${replayed === 1 ? "it" : "all of them"}`;
  const some = [...(parked > 0 ? [`park ${parked}`] : []), ...(left > 0 ? [`not run ${left}`] : [])];
  return `${paint("bad", "✖")} ${open}: this deployment would ${some.join(" and ")}`;
}
