import { BadInput } from "../bad-input.ts";
import type { Cleanup } from "../cleanup.ts";
import { namePath } from "../name-path.ts";
import type { Database } from "../store/database.ts";
import type { LoadedConfig, OpenGlobals } from "./config.ts";
import { configFailed } from "./load-config.ts";

/** What is needed to open the globals of a config. */
export interface GlobalsParts {
  readonly config: LoadedConfig;
  readonly configPath: string | null;
  readonly database: Database;
  readonly cleanup: Cleanup;
}

/** Opens the globals of a config; `cleanup` closes them when the command ends. @throws BadInput `CONFIG_FAILED`, `CONFIG_INVALID` */
export async function openGlobals({ config, configPath, database, cleanup }: GlobalsParts): Promise<unknown> {
  const { globals } = config;
  if (typeof globals !== "function") return globals ?? {};
  const name = namePath(configPath!);
  let opened: OpenGlobals;
  try {
    opened = await (globals as (context: { dataFolder: string }) => Promise<OpenGlobals>)({ dataFolder: database.folder });
  } catch (cause) {
    throw configFailed(`The globals of ${name} could not be opened`, cause, configPath!);
  }
  if (typeof opened !== "object" || opened === null || !("globals" in opened))
    throw new BadInput("CONFIG_INVALID", `${name}: the function "globals" must return { globals, close? }`);
  const { close } = opened;
  if (close) cleanup.add(close);
  return opened.globals;
}
