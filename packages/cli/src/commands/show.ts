import {
  type EpochMs,
  type Event,
  type Explanation,
  explain,
  holderOf,
  isTerminal,
  type Snapshot,
  StepfoldError,
  whyNoWorker,
} from "stepfold";
import { answerable, type CommandContext, commandLine } from "../execution/next-command.ts";
import { commandResult } from "../execution/result.ts";
import { exitCode } from "../exit-code.ts";
import { say } from "../output.ts";
import { executionText } from "../progress/execution-text.ts";
import { commandContext } from "../session/follow-execution.ts";
import { chooseDatabase, openExistingDatabase, type Store } from "../store/database.ts";
import { paintFor } from "../text/paint.ts";

/** Options of `stepfold show`. */
export interface ShowOptions {
  readonly store?: string;
  readonly json?: boolean;
  readonly events?: boolean;
}

const pageSize = 500;

/** `stepfold show ID`: shows where an execution stands, what it waits for and what its nodes produced. @returns the exit code */
export async function show(workflowId: string, options: ShowOptions): Promise<number> {
  const database = chooseDatabase(options.store);
  const store = await openExistingDatabase(database);
  try {
    const snapshot = await store.load(workflowId);
    if (!snapshot) throw new StepfoldError("WORKFLOW_NOT_FOUND", { workflowId });
    // no config is loaded, because showing an execution must not run its code
    const context = await commandContext(snapshot, { store, database, config: {}, configPath: null, isConfigNamed: false });
    const waits = answerable(snapshot, context);
    const now = await store.now();
    const explanation = await explained(store, snapshot, context.workflow, now);
    const events = await history(store, snapshot, options.events ?? false);
    if (options.json) {
      const told = {
        ...commandResult(snapshot, waits, explanation.sentence),
        explanation,
        snapshot,
        ...(options.events ? { events } : {}),
      };
      say(`${JSON.stringify({ type: "execution", ...told })}\n`);
    } else {
      const { workflow } = context;
      const retryCommand = (address: string): string => commandLine(context, "retry", [workflowId], ["--step", address]);
      const execution = { snapshot, explanation, waits, events, workflow, retryCommand, all: options.events ?? false };
      say(executionText(execution, paintFor(process.stdout), now));
    }
    return exitCode.done;
  } finally {
    await store.close();
  }
}

/** Explains an execution, and says which process runs it now, or why no living worker can run it. */
async function explained(store: Store, snapshot: Snapshot, workflow: CommandContext["workflow"], now: EpochMs): Promise<Explanation> {
  const { workflowId, status } = snapshot;
  if (isTerminal(status)) return explain(snapshot, workflow ?? undefined);
  const worker = await holderOf(store, workflowId, now);
  const noWorker = worker === null ? await whyNoWorker(snapshot, async () => (await store.workers?.()) ?? []) : null;
  return { ...explain(snapshot, workflow ?? undefined, { worker }), ...(noWorker !== null && { noWorker }) };
}

/**
 * Returns the events of the present run, or every event, up to the version of the snapshot. Later events are left out, because the snapshot
 * does not contain them.
 */
async function history(store: Store, { workflowId, version, run }: Snapshot, isWhole: boolean): Promise<Event[]> {
  const events: Event[] = [];
  for (let after = isWhole || !run ? -1 : run.since - 1; ; after = events.at(-1)!.version) {
    const rows = await store.events(workflowId, after, pageSize);
    for (const { event } of rows) if (event.version <= version) events.push(event);
    if (rows.length < pageSize) return events;
  }
}
