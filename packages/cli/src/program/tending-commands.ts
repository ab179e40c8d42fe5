import type { Command } from "commander";
import { doctor } from "../commands/doctor.ts";
import { migrate } from "../commands/migrate.ts";
import { pruneCommand } from "../commands/prune.ts";
import { type Act, options } from "./program-options.ts";

/** Adds the commands that maintain a store. */
export function addTendingCommands(stepfold: Command, act: Act): void {
  stepfold
    .command("migrate")
    .description("create or update the tables of a store; no other command does this, except for SQLite files")
    .option("--print-sql", "print the statements for an empty database instead of running them")
    .option(...options.store)
    .option(...options.json)
    .action(act(migrate));
  stepfold
    .command("doctor")
    .description("find stuck executions, and check whether the store keeps its contract (in separate spaces, which are deleted afterwards)")
    .option("--quick", "only whether it answers, and which executions and schedules are stuck")
    .option("--queue <url>", "also whether this queue takes messages: amqp://, nats://, sqs:https://, …")
    .option("--config <path>", "also whether the queue of this stepfold.config.ts takes messages, and its feed is heard")
    .option(...options.store)
    .option(...options.json)
    .action(act(doctor));
  stepfold
    .command("prune")
    .description("delete executions that ended long enough ago, with their histories; of others only the events of runs that did")
    .requiredOption("--before <duration>", "only what ended longer ago than this: 30d, 12h, P30D")
    .option("--workflow <id>", "only of this workflow")
    .option("--status <status...>", "only these: completed, failed, cancelled (default: all of them, and earlier runs of others)")
    .option("--keep-events <folder>", "write each history into this folder before it is deleted: ID.ndjson, an event per line")
    .option("--dry-run", "only count")
    .option(...options.store)
    .option(...options.json)
    .action(act(pruneCommand));
}
