import { explain } from "stepfold";
import { BadInput } from "../bad-input.ts";
import { cleanup } from "../cleanup.ts";
import { findConfig } from "../config/find-config.ts";
import { loadConfig } from "../config/load-config.ts";
import { openQueue, queueUrl } from "../config/open-queue.ts";
import { exitCode } from "../exit-code.ts";
import { say } from "../output.ts";
import { idleRuntime } from "../session/idle-runtime.ts";
import { chooseDatabase, openExistingDatabase, openQuietly, type Store } from "../store/database.ts";
import { paintFor } from "../text/paint.ts";
import { printable } from "../text/printable.ts";
import { tableLines } from "../text/table.ts";

/** Options of `stepfold dlq ls`. */
export interface DlqOptions {
  readonly store?: string;
  readonly json?: boolean;
}

/** Options of `stepfold dlq retry`. */
export interface DlqRetryOptions extends DlqOptions {
  readonly queue?: string;
  readonly config?: string;
  readonly all?: boolean;
}

const pageSize = 500;
/** The most characters of an error message that are printed. */
const maxLength = 120;

/** `stepfold dlq ls`: lists the parked executions, each with the reason. @returns the exit code */
export async function dlqLs(options: DlqOptions): Promise<number> {
  const store = await openExistingDatabase(chooseDatabase(options.store), openQuietly);
  try {
    const rows = [];
    for (const workflowId of await parkedIds(store)) {
      const snapshot = await store.load(workflowId);
      if (!snapshot?.parked) continue;
      const { parked, definition } = snapshot;
      if (options.json)
        say(
          `${JSON.stringify({ type: "parked", workflowId, workflow: definition.id, ...parked, sentence: explain(snapshot).sentence })}\n`,
        );
      // without a time, only the command `retry` lets the execution go on
      const then = parked.until === undefined ? "retry" : new Date(parked.until).toISOString();
      const texts = [
        workflowId,
        definition.id,
        new Date(parked.at).toISOString(),
        then,
        `${parked.code}: ${printable(parked.message, maxLength)}`,
      ];
      rows.push(texts.map((text) => ({ text })));
    }
    if (!options.json) {
      const lines =
        rows.length === 0
          ? ["No execution is parked"]
          : tableLines(["id", "workflow", "since", "until", "why"], rows, paintFor(process.stdout), process.stdout.columns);
      say(`${lines.join("\n")}\n`);
    }
    return exitCode.done;
  } finally {
    await store.close();
  }
}

/** `stepfold dlq retry`: makes parked executions due again, so that workers run them. @returns the exit code */
export async function dlqRetry(ids: readonly string[], options: DlqRetryOptions): Promise<number> {
  if (ids.length > 0 === (options.all ?? false)) throw new BadInput("USAGE", "Name executions, or all of them with --all");
  const configPath = findConfig(options.config);
  const config = await loadConfig(configPath);
  const closing = cleanup();
  try {
    const store = await openExistingDatabase(chooseDatabase(options.store), openQuietly);
    closing.add(() => store.close());
    const queue = await openQueue(queueUrl(options.queue), config, configPath, closing);
    const runtime = idleRuntime(store, config, queue);
    closing.add(() => runtime.close());
    const paint = paintFor(process.stdout);
    for (const workflowId of options.all ? await parkedIds(store) : ids) {
      const run = await runtime.get(workflowId);
      if ((await run.snapshot()).status !== "parked")
        throw new BadInput("NOT_PARKED", `Execution "${workflowId}" is not parked`, { hint: "stepfold dlq ls tells which are" });
      await run.retry();
      say(
        options.json
          ? `${JSON.stringify({ type: "unparked", workflowId })}\n`
          : `${paint("good", "✔")} ${workflowId} goes on as soon as a worker takes it\n`,
      );
    }
    return exitCode.done;
  } finally {
    await closing.run();
  }
}

async function parkedIds(store: Store): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await store.list({ status: ["parked"], limit: pageSize, ...(cursor !== undefined && { cursor }) });
    ids.push(...page.items.map(({ workflowId }) => workflowId));
    cursor = page.nextCursor;
  }
  return ids;
}
