import { StepfoldError } from "stepfold";
import type { EventFeed, WorkQueue } from "stepfold/runtime";
import type { Cleanup } from "../cleanup.ts";
import { namePath } from "../name-path.ts";
import type { LoadedConfig } from "./config.ts";
import { configFailed } from "./load-config.ts";

/** The parts of a config that a command opens, and closes when it ends. */
export interface Parts {
  readonly queue: WorkQueue;
  readonly feed: EventFeed;
}

/** Opens the queue or the feed of the config; null if the config has none. @throws BadInput `CONFIG_FAILED` */
export async function openPart<P extends keyof Parts>(
  part: P,
  config: LoadedConfig,
  configPath: string | null,
  closing: Cleanup,
): Promise<Parts[P] | null> {
  const given = config[part] as Parts[P] | (() => Parts[P] | Promise<Parts[P]>) | undefined;
  if (given === undefined) return null;
  let opened: Parts[P];
  try {
    opened = typeof given === "function" ? await given() : given;
  } catch (cause) {
    if (StepfoldError.is(cause)) throw cause;
    throw configFailed(`The ${part} of ${namePath(configPath!)} could not be opened`, cause, configPath!);
  }
  closing.add(() => opened.close());
  return opened;
}
