import { readFileSync } from "node:fs";
import { Command } from "commander";
import { ls } from "./verbs/ls.ts";
import { resume } from "./verbs/resume.ts";
import { run } from "./verbs/run.ts";
import { show } from "./verbs/show.ts";
import { validate } from "./verbs/validate.ts";

const dbOption = ["--db <path>", "SQLite file of the executions (default: STEPFOLD_DB, or .stepfold/dev.db here)"] as const;
const configOption = ["--config <path>", "stepfold.config.ts to go by (default: found beside FILE, then here, then upwards)"] as const;
const jsonOption = ["--json", "JSON on standard output, one object per line"] as const;

type Act = <A extends unknown[]>(verb: (...args: A) => Promise<number>) => (...args: A) => Promise<void>;

/** The command line. @param ended told the exit code of the verb */
export function program(ended: (code: number) => void): Command {
  const stepfold = new Command("stepfold")
    .description("Durable workflows: run them, watch them, answer what they wait for")
    .version(versionHere(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .addHelpCommand("help [verb]", "print help for a verb")
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .showSuggestionAfterError();
  const act: Act =
    (verb) =>
    async (...args) =>
      ended(await verb(...args));
  addMovingVerbs(stepfold, act);
  addReadingVerbs(stepfold, act);
  return stepfold;
}

function addMovingVerbs(stepfold: Command, act: Act): void {
  stepfold
    .command("run <file>")
    .description("start an execution of a workflow (a JSON file), and drive it until it ends or waits for somebody")
    .option("--input <file|json>", "what it is started with")
    .option("--id <id>", "id of the execution; one that exists with the same input goes on (default: a new one)")
    .option(...dbOption)
    .option(...configOption)
    .option("--exit-code", "exit with 3 if it waits for somebody")
    .option(...jsonOption)
    .action(act(run));
  stepfold
    .command("resume <id>")
    .description("answer what an execution waits for, and drive it on")
    .option("--node <node>", "the node that waits, if several do")
    .option("--wait <wait>", "the very wait")
    .option("--payload <json|file>", "the answer")
    .option("--by <name>", "who answers; kept in the history")
    .option("--key <key>", "the same key with the same payload is one answer, however often it is given")
    .option(...dbOption)
    .option("--config <path>", "stepfold.config.ts to go by (default: the one it was started with)")
    .option("--exit-code", "exit with 3 if it waits for somebody again")
    .option(...jsonOption)
    .action(act(resume));
}

function addReadingVerbs(stepfold: Command, act: Act): void {
  stepfold
    .command("ls")
    .description("list executions, newest first")
    .option("--status <status...>", "only these: active, paused, error, completed, failed, cancelled")
    .option("--workflow <id>", "only of this workflow")
    .option("--limit <n>", "at most so many (default: 20)")
    .option("--cursor <cursor>", "go on after an earlier page")
    .option(...dbOption)
    .option(...jsonOption)
    .action(act(ls));
  stepfold
    .command("show <id>")
    .description("show where an execution stands, what it waits for and what its nodes produced")
    .option("--events", "every event of its history")
    .option(...dbOption)
    .option(...jsonOption)
    .action(act(show));
  stepfold
    .command("validate <file>")
    .description("find every mistake in a workflow, without running it")
    .option(...configOption)
    .option(...jsonOption)
    .action(act(validate));
}

function versionHere(): string {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string };
  return version;
}
