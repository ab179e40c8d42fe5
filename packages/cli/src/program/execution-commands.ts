import type { Command } from "commander";
import { cancel } from "../commands/cancel.ts";
import { fork } from "../commands/fork.ts";
import { meta } from "../commands/meta.ts";
import { restart } from "../commands/restart.ts";
import { resume } from "../commands/resume.ts";
import { retry } from "../commands/retry.ts";
import { run } from "../commands/run.ts";
import { signal } from "../commands/signal.ts";
import { type Act, options } from "./program-options.ts";

/** Adds the commands that start, change or continue one execution. */
export function addExecutionCommands(stepfold: Command, act: Act): void {
  stepfold
    .command("run <file>")
    .description("start an execution of a workflow (a JSON file, or an id of the config), and drive it until it ends or waits for somebody")
    .option("--input <json|@file|->", "what it is started with: JSON, a file, or - for standard input")
    .option("--id <id>", "id of the execution; one that exists with the same input goes on (default: a new one)")
    .option("--timeout <duration>", "how long it may take: 2h, PT5M; then it fails (default: what the workflow says)")
    .option("--task-queue <name>", "its task queue: which workers go on with it after this command (default: what the workflow says)")
    .option("--deadline <time>", "by when it must have ended: 2026-11-30T17:00:00Z; of this and --timeout the earlier counts")
    .option(...options.store)
    .option(...options.config)
    .option(...options.exitCode)
    .option(...options.json)
    .action(act(run));
  const verb = (command: string, description: string): Command => stepfold.command(command).description(description);
  common(
    verb("resume <id>", "answer what an execution waits for, and drive it on")
      .option(...options.step)
      .option(...options.wait)
      .option(...options.payload)
      .option("--by <name>", "who answers; kept in the history. Needed where only some may answer, or several have to")
      .option(...options.idempotencyKey),
  ).action(act(resume));
  common(
    verb("signal <id> <name>", "tell an execution that something has happened, and drive it on")
      .option(...options.payload)
      .option("--key <key>", "only for waits with the same key")
      .option("--ttl <duration>", "how long it is kept if nobody waits for it yet: 2h, PT5M (default: 30 days)")
      .option(...options.idempotencyKey),
  ).action(act(signal));
  common(
    verb("cancel <id>", "cancel an execution, or a part of it; its compensations run first")
      .option(...options.step)
      .option(...options.wait)
      .option("--reason <text>", "why; kept in the history"),
  ).action(act(cancel));
  common(verb("retry <id>", "make a pending retry at once: the one that comes first, or that of a place").option(...options.step)).action(
    act(retry),
  );
  verb("meta <id> <key=value...>", "set metadata of an execution, for `ls --meta`; key=null removes a key. Runs no steps")
    .option(...options.idempotencyKey)
    .option(...options.store)
    .option(...options.json)
    .action(act(meta));
  goingOn(
    verb("restart <id>", "let an execution go on where it failed or was cancelled, and drive it on")
      .option(...options.compensated)
      .option(...options.restartKey)
      .option(...options.newKeys),
  ).action(act(restart));
  goingOn(
    verb("fork <id>", "go on, in a new execution, from a version of one, and drive that on")
      .option("--id <id>", "id of the new execution, also if the command is given twice")
      .option("--at <version>", "the version to go on from (default: the latest)")
      .option("--node <id>", "instead of --at: the last version at which it had reached this node")
      .option("--input <json|@file|->", "takes the place of the input of the execution")
      .option("--output <json|@file|->", "with --node: the node is not performed, and this is its output"),
  ).action(act(fork));
}

function goingOn(command: Command): Command {
  return common(
    command
      .option("--definition <id|json|@file>", "go on with another definition: one of the config, or a JSON file")
      .option("--dry-run", "only say what would be done"),
  );
}

function common(command: Command): Command {
  return command
    .option(...options.store)
    .option(...options.config)
    .option("--no-drive", "only tell it: run no steps here, and leave the rest to workers")
    .option(...options.exitCode)
    .option(...options.json);
}
