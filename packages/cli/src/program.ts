import { readFileSync } from "node:fs";
import { Command } from "commander";
import { addMovingVerbs } from "./commands/moving-commands.ts";
import type { Act } from "./commands/program-options.ts";
import { addReadingVerbs } from "./commands/reading-commands.ts";
import { addTendingVerbs } from "./commands/tending-commands.ts";
import { addWorkingVerbs } from "./commands/working-commands.ts";

/** The command line. @param ended told the exit code of the verb */
export function program(ended: (code: number) => void): Command {
  const stepfold = new Command("stepfold")
    .description("Durable workflows: run them, watch them, answer what they wait for")
    .version(versionHere(), "-V, --version", "print the version")
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
  addMovingVerbs(stepfold, act);
  addReadingVerbs(stepfold, act);
  addTendingVerbs(stepfold, act);
  addWorkingVerbs(stepfold, act);
  return stepfold;
}

function versionHere(): string {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string };
  return version;
}
