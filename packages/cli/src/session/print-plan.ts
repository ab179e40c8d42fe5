import { StepfoldError } from "stepfold";
import type { ForkOptions, ForkPlan, Run } from "stepfold/runtime";
import { cleanup } from "../cleanup.ts";
import { configOf } from "../config/find-config.ts";
import { loadConfig } from "../config/load-config.ts";
import { exitCode } from "../exit-code.ts";
import { say } from "../output.ts";
import { chooseDatabase, openExistingDatabase } from "../store/database.ts";
import { printable } from "../text/printable.ts";
import { withDefinition } from "./given-definition.ts";
import { idleRuntime } from "./idle-runtime.ts";
import type { MoveOptions } from "./move-execution.ts";

/** Options of the verbs that let an execution go on from a version of its history: in place (`restart`) or as another one (`fork`). */
export interface PlannedOptions extends MoveOptions {
  readonly definition?: string;
  readonly dryRun?: boolean;
}

export type Definition = ForkOptions["definition"];

/** The longest name of a node that is printed whole. */
const maxLength = 120;

/** Calls `use` with a handle on an execution, in a process that runs no steps, and with the definition that the options give. */
export async function withIdleRun<T>(
  workflowId: string,
  options: PlannedOptions,
  use: (run: Run, definition: Definition) => Promise<T>,
): Promise<T> {
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
    return await withDefinition(options.definition, config, (definition) => use(run, definition));
  } finally {
    await closing.run();
  }
}

/** Prints what a restart or a fork would do. @param who what would go on @returns the exit code */
export function printPlan(planned: ForkPlan, who: string, json = false): number {
  if (json) {
    say(`${JSON.stringify({ type: "plan", ...planned })}\n`);
    return exitCode.done;
  }
  const { from, nodes, performsAgain, children } = planned;
  const named = (ids: readonly string[]): string => ids.map((id) => printable(id, maxLength)).join(", ");
  const again = [...new Set(performsAgain.map(({ nodeId }) => nodeId))];
  const lines = [
    `${who} would go on from version ${from.version} of "${printable(from.workflowId, 255)}", at: ${named(nodes)}`,
    again.length > 0
      ? `Steps completed after that version, which are performed again if it reaches them: ${named(again)}`
      : "No completed step is performed again",
  ];
  if (children.length > 0)
    lines.push(
      `It would go on to wait for: ${children.map((child) => printable(`${child.workflowId} (${child.status})`, maxLength)).join(", ")}`,
    );
  say(`${lines.join("\n")}\n`);
  return exitCode.done;
}
