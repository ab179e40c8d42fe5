import type { Command } from "commander";
import { dlqLs, dlqRetry } from "../commands/dlq.ts";
import { worker } from "../commands/worker.ts";
import { workers } from "../store/workers.ts";
import { type Act, options } from "./program-options.ts";

/** Adds the commands for workers and parked executions. */
export function addWorkingCommands(stepfold: Command, act: Act): void {
  stepfold
    .command("worker")
    .description("run all executions that are due, until Ctrl-C or SIGTERM; then finish the steps under way. Any number of workers may run")
    .option("--concurrency <count>", "executions driven at once (default: 100)")
    .option(...options.store)
    .option(...options.queue)
    .option("--config <path>", "stepfold.config.ts to go by: node types, workflows, globals, queue (default: the one in this folder)")
    .option(...options.json)
    .action(act(worker));
  stepfold
    .command("workers")
    .description("list the workers of a store; a worker that has died stays in the list for a minute or two")
    .option(...options.store)
    .option(...options.json)
    .action(act(workers));
  const dlq = stepfold.command("dlq").description("executions that are parked: workers died over them, or lack what they need");
  dlq
    .command("ls", { isDefault: true })
    .description("list them, and why")
    .option(...options.store)
    .option(...options.json)
    .action(act(dlqLs));
  dlq
    .command("retry [ids...]")
    .description("let them go on; a worker drives them")
    .option("--all", "all of them")
    .option(...options.store)
    .option(...options.queue)
    .option("--config <path>", "stepfold.config.ts to go by (default: the one in this folder)")
    .option(...options.json)
    .action(act(dlqRetry));
}
