import type { Command } from "commander";

/** Turns a verb, a function that resolves with an exit code, into an action of the command line, which reports that exit code. */
export type Act = <A extends unknown[]>(verb: (...args: A) => Promise<number>) => (...args: A) => Promise<void>;

/** Options that several verbs share. */
export const options = {
  store: [
    "--store <url>",
    "where the executions are: an SQLite file, or postgres://, mysql://, redis://, … (default: STEPFOLD_STORE, or .stepfold/dev.db here)",
  ],
  queue: [
    "--queue <url>",
    "the queue that tells workers what is due: amqp://, nats://, sqs:https://, bullmq:redis://, pg-boss:postgres:// (default: STEPFOLD_QUEUE, or that of the config)",
  ],
  config: ["--config <path>", "stepfold.config.ts to go by (default: the one in this folder)"],
  json: ["--json", "JSON on standard output, one object per line"],
  exitCode: ["--exit-code", "exit with 3 if it waits for somebody"],
  payload: ["--payload <json|@file|->", "the payload: JSON, a file, or - for standard input"],
  step: ["--step <address>", "the place: a node, map[3]/approve for an item of a map, sub/approve"],
  wait: ["--wait <wait>", "the id of the wait"],
  idempotencyKey: ["--idempotency-key <key>", "the same key with the same payload counts once, however often it is given"],
  compensated: ["--compensated <again|keep>", "where steps were undone: perform them again, or count them as done"],
  restartKey: ["--idempotency-key <key>", "the same key is one restart, however often it is given, also if it has failed again since"],
  newKeys: ["--new-keys", "give the steps that failed new idempotency keys, for services that keep a failure under a key"],
} as const;

/** Adds the options that select executions. */
export function filtered(command: Command): Command {
  return command
    .option("--status <status...>", "only these: active, paused, error, parked, completed, failed, cancelled")
    .option("--workflow <id>", "only of this workflow")
    .option("--tenant <tenant>", "only of this tenant")
    .option("--id-prefix <text>", "only those whose id begins with this text")
    .option("--meta <key=value...>", "only those with this metadata: text, or JSON (n=1, paid=true); or with bounds ('n>=1' 'n<9')")
    .option(
      "--waiting [field=value...]",
      "only those with an open wait; with a field, only those whose wait matches: kind, node, signal, key, responder (responder=ada), opened-before, opened-after (how long ago: opened-before=2d)",
    );
}
