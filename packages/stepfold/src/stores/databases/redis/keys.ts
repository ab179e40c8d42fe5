import { StepfoldError } from "../../../core/errors/stepfold-error.ts";

/** The keys that scripts are given. All others lie beside them, in the same slot of a cluster. */
export interface Keys {
  /** Executions by the time at which somebody has to drive them. */
  readonly due: string;
  /** What is stored of an execution but its history and its children. */
  head(workflowId: string): string;
}

/** @throws StepfoldError `OPTION_INVALID` unless the prefix is 1 to 48 letters, digits, `_`, `-`, `.` and `:` */
export function keysOf(prefix: string): Keys {
  if (!/^[\w.:-]{1,48}$/.test(prefix)) {
    throw new StepfoldError("OPTION_INVALID", { option: "prefix", reason: "must be 1 to 48 letters, digits, _ - . and :" });
  }
  // the braces: a cluster keeps what has the same text in them on one server
  const base = `{${prefix}}:`;
  return { due: `${base}due`, head: (workflowId) => `${base}e:${workflowId}` };
}
