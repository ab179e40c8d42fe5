import type { Command } from "commander";
import { ls } from "../commands/ls.ts";
import { replay } from "../commands/replay.ts";
import { show } from "../commands/show.ts";
import { validate } from "../commands/validate.ts";
import { type Act, filtered, options } from "./program-options.ts";

/** Adds the commands that only read. */
export function addReadingCommands(stepfold: Command, act: Act): void {
  filtered(stepfold.command("ls").description("list executions, newest first, or count them"))
    .option("--order <order>", "newest (default) or oldest first")
    .option("--count", "say how many there are of each status, and list none")
    .option("--limit <n>", "at most so many (default: 20)")
    .option("--cursor <cursor>", "go on after an earlier page")
    .option(...options.store)
    .option(...options.json)
    .action(act(ls));
  stepfold
    .command("show <id>")
    .description("show where an execution stands, what it waits for and what its nodes produced")
    .option("--events", "every event of its history")
    .option(...options.store)
    .option(...options.json)
    .action(act(show));
  stepfold
    .command("replay")
    .description("run the code of the config from what open executions remember, without performing a step, and list those it would park")
    .option("--workflow <id>", "only the executions of this workflow")
    .option(...options.config)
    .option(...options.store)
    .option(...options.json)
    .action(act(replay));
  stepfold
    .command("validate <file>")
    .description("find every mistake and every doubt in a workflow (a JSON file, or an id of the config), without running it")
    .option(...options.config)
    .option(
      "--no-config",
      "run no config: only the node types of Stepfold are known (a config is code, and it is run to know its node types)",
    )
    .option(...options.json)
    .action(act(validate));
}
