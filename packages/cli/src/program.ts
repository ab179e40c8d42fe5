import { readFileSync } from "node:fs";
import { Command } from "commander";
import { addBulkCommands } from "./program/bulk-commands.ts";
import { addExecutionCommands } from "./program/execution-commands.ts";
import type { Act } from "./program/program-options.ts";
import { addReadingCommands } from "./program/reading-commands.ts";
import { addScheduleCommands } from "./program/schedule-commands.ts";
import { addTendingCommands } from "./program/tending-commands.ts";
import { addWorkingCommands } from "./program/working-commands.ts";

/** Makes the command line. @param ended called with the exit code of the verb */
export function program(ended: (code: number) => void): Command {
  const stepfold = new Command("stepfold")
    .description("Durable workflows: run them, watch them, answer what they wait for")
    .version(ownVersion(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .addHelpCommand("help [verb]", "print help for a verb")
    .exitOverride()
    .allowExcessArguments(false)
    .configureOutput({ writeErr: () => undefined })
    .showSuggestionAfterError();
  const act: Act =
    (verb) =>
    async (...args) =>
      ended(await verb(...args));
  addExecutionCommands(stepfold, act);
  addReadingCommands(stepfold, act);
  addTendingCommands(stepfold, act);
  addWorkingCommands(stepfold, act);
  addBulkCommands(stepfold, act);
  addScheduleCommands(stepfold, act);
  return stepfold;
}

function ownVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string };
  return version;
}
