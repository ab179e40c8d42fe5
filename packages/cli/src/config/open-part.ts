import { StepfoldError } from "stepfold";
import type { Cleanup } from "../cleanup.ts";
import { namePath } from "../name-path.ts";
import type { StepfoldConfig } from "./config.ts";
import { configFailed } from "./load-config.ts";

/** What a config may name that has to be opened, and closed with the command. */
type Part = "queue" | "feed";
type Opened<P extends Part> = Exclude<NonNullable<StepfoldConfig[P]>, (...args: never[]) => unknown>;

/** Opens the queue or the feed of the config; null if it names none. @throws BadInput `CONFIG_FAILED` */
export async function openPart<P extends Part>(
  part: P,
  config: StepfoldConfig,
  configPath: string | null,
  closing: Cleanup,
): Promise<Opened<P> | null> {
  const given: StepfoldConfig[Part] = config[part];
  if (given === undefined) return null;
  let opened: Opened<Part>;
  try {
    opened = typeof given === "function" ? await given() : given;
  } catch (cause) {
    if (StepfoldError.is(cause)) throw cause;
    throw configFailed(`The ${part} of ${namePath(configPath!)} could not be opened`, cause, configPath!);
  }
  closing.add(() => opened.close());
  return opened as Opened<P>;
}
