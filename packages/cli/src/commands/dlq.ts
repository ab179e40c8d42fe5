import { explain, StepfoldError } from "stepfold";
import type { Runtime } from "stepfold/runtime";
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
  if (ids.length > 0 === (options.all ?? false)) throw new BadInput("USAGE", "Give the ids of executions, or --all, but not both");
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
    const wanted = options.all ? await parkedIds(store) : [...new Set(ids)];
    if (!options.all) await requireParked(store, wanted);
    for (const workflowId of wanted) {
      if (!(await retryParked(runtime, workflowId))) continue;
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

/** Checks all the executions before the first one is changed. @throws BadInput `NOT_PARKED`, StepfoldError `WORKFLOW_NOT_FOUND` */
async function requireParked(store: Store, ids: readonly string[]): Promise<void> {
  const others: string[] = [];
  for (const workflowId of ids) {
    const head = await store.loadHead(workflowId);
    if (!head) throw new StepfoldError("WORKFLOW_NOT_FOUND", { workflowId });
    if (head.status !== "parked") others.push(workflowId);
  }
  if (others.length === 0) return;
  const named = others.map((workflowId) => `"${workflowId}"`).join(", ");
  throw new BadInput("NOT_PARKED", others.length === 1 ? `Execution ${named} is not parked` : `Executions ${named} are not parked`, {
    hint: "No execution was retried; stepfold dlq ls lists those that are parked",
    details: { workflowIds: others },
  });
}

/** Codes of a retry of an execution that has gone on, has ended or was deleted since it was listed. */
const notParkedCodes: readonly string[] = ["RETRY_NOT_PENDING", "EXECUTION_ENDED", "WORKFLOW_NOT_FOUND"];

/** Lets a parked execution go on. Returns false if it is not parked any more: a worker or another command was faster. */
async function retryParked(runtime: Runtime, workflowId: string): Promise<boolean> {
  try {
    const run = await runtime.get(workflowId);
    if ((await run.snapshot()).status !== "parked") return false;
    await run.retry();
    return true;
  } catch (error) {
    if (StepfoldError.is(error) && notParkedCodes.includes(error.code)) return false;
    throw error;
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
