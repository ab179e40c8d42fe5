import { StepfoldError } from "stepfold";
import type { WorkQueue } from "stepfold/runtime";
import type { Cleanup } from "../cleanup.ts";
import { namePath } from "../name-path.ts";
import type { StepfoldConfig } from "./config.ts";
import { configFailed } from "./load-config.ts";

/** Opens the queue of the config. @throws BadInput `CONFIG_FAILED` */
export async function openQueue({ queue }: StepfoldConfig, configPath: string | null, closing: Cleanup): Promise<WorkQueue | null> {
  if (queue === undefined) return null;
  let opened: WorkQueue;
  try {
    opened = typeof queue === "function" ? await queue() : queue;
  } catch (cause) {
    if (StepfoldError.is(cause)) throw cause;
    throw configFailed(`The queue of ${namePath(configPath!)} could not be opened`, cause, configPath!);
  }
  closing.add(() => opened.close());
  return opened;
}
