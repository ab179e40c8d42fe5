import { type Event, type Snapshot, StepfoldError } from "stepfold";
import { chooseDatabase, openExistingDatabase, type Store } from "../database.ts";
import { commandContext } from "../drive-execution.ts";
import { executionText } from "../execution-text.ts";
import { exitCode } from "../exit-code.ts";
import { findConfig, rememberedConfig } from "../find-config.ts";
import { answerable } from "../next-command.ts";
import { say } from "../output.ts";
import { paintFor } from "../progress/paint.ts";
import { resultOf } from "../result.ts";

/** Options of `stepfold show`. */
export interface ShowOptions {
  readonly db?: string;
  readonly json?: boolean;
  readonly events?: boolean;
}

const pageSize = 500;

/** `stepfold show ID`: where an execution stands, what it waits for, what its nodes produced. @returns the exit code */
export async function show(workflowId: string, options: ShowOptions): Promise<number> {
  const database = chooseDatabase(options.db);
  const store = openExistingDatabase(database);
  try {
    const snapshot = await store.load(workflowId);
    if (!snapshot) throw new StepfoldError("WORKFLOW_NOT_FOUND", { workflowId });
    const foundConfig = findConfig(undefined, ["."]);
    // looking runs nobody's code: the config is only named, never loaded
    const configPath = rememberedConfig(snapshot, database.folder) ?? foundConfig;
    const context = await commandContext(snapshot, { store, database, config: {}, configPath, foundConfig });
    const waits = answerable(snapshot, context);
    const events = await history(store, snapshot);
    if (options.json) {
      const told = options.events ? { events } : {};
      say(`${JSON.stringify({ type: "execution", ...resultOf(snapshot, waits), snapshot, ...told })}\n`);
    } else {
      say(
        executionText(
          { snapshot, waits, events, definition: context.definition, all: options.events ?? false },
          paintFor(process.stdout),
          Date.now(),
        ),
      );
    }
    return exitCode.done;
  } finally {
    await store.close();
  }
}

/** Every event up to the snapshot: what is committed meanwhile is not shown half. */
async function history(store: Store, { workflowId, version }: Snapshot): Promise<Event[]> {
  const events: Event[] = [];
  for (let after = -1; ; after = events.at(-1)!.version) {
    const rows = await store.events(workflowId, after, pageSize);
    for (const { event } of rows) if (event.version <= version) events.push(event);
    if (rows.length < pageSize) return events;
  }
}
