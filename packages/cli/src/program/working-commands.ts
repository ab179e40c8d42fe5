import type { Command } from "commander";
import type { DevOptions } from "../commands/dev.ts";
import { dlqLs, dlqRetry } from "../commands/dlq.ts";
import type { StudioOptions } from "../commands/studio.ts";
import { worker } from "../commands/worker.ts";
import { workers } from "../store/workers.ts";
import { type Act, options } from "./program-options.ts";

/** Adds the commands for workers and parked executions. */
export function addWorkingCommands(stepfold: Command, act: Act): void {
  // these load their code themselves: the server and the pages would cost every other command its time
  served(stepfold.command("dev [files...]"))
    .description(
      "serve Studio and the HTTP API on this machine, and run executions with code that is replaced when it changes; without files it takes workflows/*.json",
    )
    .option("--input <json|@file|->", "start an execution of the first file with this input")
    .option("--id <id>", "id of this execution; one that exists with the same input goes on")
    .option("--no-sample", "write no sample into an empty folder")
    .action(act(async (files: readonly string[], given: DevOptions) => (await import("../commands/dev.ts")).dev(files, given)));
  served(stepfold.command("studio"))
    .description("serve Studio and the HTTP API over a database, and run nothing")
    .action(act(async (given: StudioOptions) => (await import("../commands/studio.ts")).studio(given)));
  stepfold.command("dev-worker", { hidden: true }).action(act(async () => (await import("../dev/dev-worker.ts")).devWorker()));
  stepfold
    .command("worker")
    .description("run all executions that are due, until Ctrl-C or SIGTERM; then finish the steps under way. Any number of workers may run")
    .option("--concurrency <count>", "executions driven at once (default: 100)")
    .option("--task-queue <names...>", "only executions of these task queues; `default` is that of all without one (default: of all)")
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
  const dlq = stepfold.command("dlq").description("executions that are parked: workers died over them, or a step could not be undone");
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

/** Adds the options of commands that serve pages. */
function served(command: Command): Command {
  return command
    .option("--port <port>", "the port (default: the first free one from 7837 on)")
    .option("--host <address>", "the address to listen on; others than 127.0.0.1 need --token")
    .option("--token <token>", "the token of the API (default: a random one, kept in .stepfold/token)")
    .option("--open", "open the page in the browser")
    .option(...options.store)
    .option("--config <path>", "stepfold.config.ts to go by")
    .option(...options.json);
}
