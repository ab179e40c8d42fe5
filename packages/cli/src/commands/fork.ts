import { BadInput } from "../bad-input.ts";
import { jsonArgument } from "../json/json-argument.ts";
import { moveExecution } from "../session/move-execution.ts";
import { type PlannedOptions, printPlan, withIdleRun } from "../session/print-plan.ts";

/** Options of `stepfold fork`. */
export interface ForkCommandOptions extends PlannedOptions {
  readonly id?: string;
  readonly at?: string;
  readonly node?: string;
  readonly input?: string;
  readonly output?: string;
}

/** `stepfold fork ID`: starts a new execution that goes on from a version of this one. @returns the exit code */
export async function fork(workflowId: string, options: ForkCommandOptions): Promise<number> {
  const { node, input, output } = options;
  const fork = {
    node,
    version: readVersion(options.at),
    workflowId: options.id,
    ...(input !== undefined && { input: await jsonArgument(input, "--input") }),
    ...(output !== undefined && { output: await jsonArgument(output, "--output") }),
  };
  if (options.dryRun) {
    const plan = await withIdleRun(workflowId, options, (run, definition) => run.planFork({ ...fork, definition }));
    return printPlan(plan, "A new execution", options.json);
  }
  const begun = await withIdleRun(workflowId, options, async (run, definition) => (await run.fork({ ...fork, definition })).workflowId);
  // after an interruption the command `retry` is printed, which only drives the fork on
  return moveExecution(begun, options, { verb: "retry", repeatOptions: [], act: async () => undefined });
}

function readVersion(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new BadInput("USAGE", `--at must be a whole number from 0 on, not "${text}"`);
}
