import type { Command } from "commander";
import { bulkCancel, bulkFork, bulkIncidents, bulkRestart, bulkRetry, bulkSignal } from "../commands/bulk.ts";
import { type Act, filtered, options } from "./program-options.ts";

/** Adds the `bulk` commands, which apply one action to many executions. */
export function addBulkCommands(stepfold: Command, act: Act): void {
  const bulk = stepfold
    .command("bulk")
    .description(
      "apply one action to many executions: prints what it would do, and does it only with --apply; workers then run the executions",
    );
  const verb = (command: string, description: string): Command => common(bulk.command(command).description(description));
  verb("cancel", "cancel all that have not ended").option("--reason <text>", "why; kept in the histories").action(act(bulkCancel));
  verb("retry", "make pending retries at once, and let parked executions go on").action(act(bulkRetry));
  verb("signal <name>", "send a signal to all that have not ended")
    .option(...options.payload)
    .option("--key <key>", "only for waits with the same key")
    .option("--ttl <duration>", "how long it is kept where nobody waits for it yet: 2h, PT5M (default: 30 days)")
    .option(...options.idempotencyKey)
    .action(act(bulkSignal));
  verb("restart", "let all that failed or were cancelled go on there")
    .option(...options.compensated)
    .option(...options.restartKey)
    .option(...options.newKeys)
    .option(...definition)
    .action(act(bulkRestart));
  verb("fork <suffix>", "fork each: the fork of order-7 is order-7~SUFFIX, and is made once")
    .option("--node <id>", "from the last version at which it had reached this node (default: the latest version)")
    .option("--input <json|@file|->", "takes the place of the input of the execution")
    .option("--output <json|@file|->", "with --node: the node is not performed, and this is its output")
    .option(...definition)
    .action(act(bulkFork));
  verb("incidents <retry|skip|fail>", "decide all incidents: steps that have failed, and wait for a decision")
    .option("--output <json|@file|->", "with skip: the output of the step (default: null)")
    .option("--by <name>", "who decides; kept in the histories")
    .action(act(bulkIncidents));
}

const definition = ["--definition <id|json|@file>", "go on with another definition: one of the config, or a JSON file"] as const;

function common(command: Command): Command {
  return filtered(command)
    .option("--all", "all executions, without a filter")
    .option("--apply", "do it")
    .option("--limit <n>", "stop after this many executions (default: no limit)")
    .option(...options.store)
    .option(...options.queue)
    .option(...options.config)
    .option(...options.json);
}
