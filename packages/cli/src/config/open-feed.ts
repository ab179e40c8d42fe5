import { StepfoldError } from "stepfold";
import type { EventFeed } from "stepfold/runtime";
import type { Cleanup } from "../cleanup.ts";
import { namePath } from "../name-path.ts";
import type { StepfoldConfig } from "./config.ts";
import { configFailed } from "./load-config.ts";

/** Opens the feed of the config. @throws BadInput `CONFIG_FAILED` */
export async function openFeed({ feed }: StepfoldConfig, configPath: string | null, closing: Cleanup): Promise<EventFeed | null> {
  if (feed === undefined) return null;
  let opened: EventFeed;
  try {
    opened = typeof feed === "function" ? await feed() : feed;
  } catch (cause) {
    if (StepfoldError.is(cause)) throw cause;
    throw configFailed(`The feed of ${namePath(configPath!)} could not be opened`, cause, configPath!);
  }
  closing.add(() => opened.close());
  return opened;
}
