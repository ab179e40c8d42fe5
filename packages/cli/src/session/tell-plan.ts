import { StepfoldError } from "stepfold";
import type { ForkOptions, ForkPlan, Run } from "stepfold/runtime";
import { cleanup } from "../cleanup.ts";
import { configOf } from "../config/find-config.ts";
import { loadConfig } from "../config/load-config.ts";
import { exitCode } from "../exit-code.ts";
import { say } from "../output.ts";
import { chooseDatabase, openExistingDatabase } from "../store/database.ts";
import { printable } from "../text/printable.ts";
import { definitionFor } from "./definition-for.ts";
import { idleRuntime } from "./idle-runtime.ts";
import { type MoveOptions, moveExecution } from "./move-execution.ts";

/** Options of the verbs that start an execution which goes on from another one. */
export interface GoOnOptions extends MoveOptions {
  readonly definition?: string;
  readonly dryRun?: boolean;
}

/** Plans and starts the execution that goes on from another one. */
export interface StartOfAnother {
  plan(run: Run, definition: Definition): Promise<ForkPlan>;
  begin(run: Run, definition: Definition): Promise<Run>;
}

type Definition = ForkOptions["definition"];

/** The longest name of a node that is printed whole. */
const maxLength = 120;

/** Begins an execution that goes on from another one, and drives it to its end or its next pause. @returns the exit code */
export async function goOn(workflowId: string, options: GoOnOptions, start: StartOfAnother): Promise<number> {
  const begun = await begin(workflowId, options, start);
  if (begun === null) return exitCode.done;
  // after an interruption the command `retry` is printed, which only drives the new execution on
  return moveExecution(begun, options, { verb: "retry", repeatOptions: [], act: async () => undefined });
}

/** Starts the new execution and returns its id. With `--dry-run` it only prints the plan, and returns null. */
async function begin(workflowId: string, options: GoOnOptions, { plan, begin: make }: StartOfAnother): Promise<string | null> {
  const database = chooseDatabase(options.store);
  const closing = cleanup();
  try {
    const store = await openExistingDatabase(database);
    closing.add(() => store.close());
    const before = await store.load(workflowId);
    if (!before) throw new StepfoldError("WORKFLOW_NOT_FOUND", { workflowId });
    const config = await loadConfig(configOf(before, options.config, database.folder));
    const runtime = idleRuntime(store, config);
    closing.add(() => runtime.close());
    const run = await runtime.get(workflowId);
    const wanted = await definitionFor(options.definition, config);
    if (!options.dryRun) return (await make(run, wanted)).workflowId;
    printPlan(await plan(run, wanted), options.json ?? false);
    return null;
  } finally {
    await closing.run();
  }
}

/** Prints what would be done. */
function printPlan(planned: ForkPlan, json: boolean): void {
  if (json) {
    say(`${JSON.stringify({ type: "plan", ...planned })}\n`);
    return;
  }
  const { from, nodes, performsAgain, children } = planned;
  const named = (ids: readonly string[]): string => ids.map((id) => printable(id, maxLength)).join(", ");
  const again = [...new Set(performsAgain.map(({ nodeId }) => nodeId))];
  const lines = [
    `A new execution would go on from version ${from.version} of "${from.workflowId}", at: ${named(nodes)}`,
    again.length > 0
      ? `Steps completed after that version, which are performed again if the new execution reaches them: ${named(again)}`
      : "No step was completed after that version",
  ];
  if (children.length > 0)
    lines.push(
      `It would go on to wait for: ${children.map((child) => printable(`${child.workflowId} (${child.status})`, maxLength)).join(", ")}`,
    );
  say(`${lines.join("\n")}\n`);
}
