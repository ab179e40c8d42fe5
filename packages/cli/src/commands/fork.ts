import { BadInput } from "../bad-input.ts";
import { jsonArgument } from "../json/json-argument.ts";
import { type GoOnOptions, goOn } from "../session/go-on.ts";

/** Options of `stepfold fork`. */
export interface ForkCommandOptions extends GoOnOptions {
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
  return goOn(workflowId, options, {
    plan: (run, definition) => run.planFork({ ...fork, definition }),
    begin: (run, definition) => run.fork({ ...fork, definition }),
  });
}

function readVersion(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new BadInput("USAGE", `--at must be a whole number from 0 on, not "${text}"`);
}
