import type { Snapshot, WorkflowDefinition } from "stepfold";
import type { Run } from "stepfold/runtime";
import type { StepfoldConfig } from "./config.ts";
import type { Database, Store } from "./database.ts";
import { exitCodeOf } from "./exit-code.ts";
import { rememberedConfig } from "./find-config.ts";
import { follow } from "./follow.ts";
import type { Interruption } from "./interruption.ts";
import { namePath } from "./name-path.ts";
import { answerable, type CommandContext } from "./next-command.ts";
import { chooseProgress } from "./output.ts";
import { programName } from "./program-name.ts";
import { nodeDefinitionsOf, type Session } from "./session.ts";

/** What showing an execution and its commands needs. */
export interface Showing {
  readonly store: Store;
  readonly database: Database;
  readonly config: StepfoldConfig;
  readonly configPath: string | null;
  /** The config that `resume` would find by itself if the execution remembered none. */
  readonly foundConfig: string | null;
}

/** How to drive, and what to say about it. */
export interface DriveOptions extends Showing {
  readonly session: Session;
  readonly run: Run;
  readonly interruption: Interruption;
  /** The execution before this command; null if that started it. */
  readonly before: Snapshot | null;
  readonly json: boolean;
  readonly tellPause: boolean;
  /** The command that goes on after an interruption. */
  readonly again: (context: CommandContext) => string;
}

/** Drives an execution to its end or its next pause, and shows it. @returns the exit code */
export async function driveExecution(options: DriveOptions): Promise<number> {
  const { run, session, json, interruption } = options;
  const current = await run.snapshot();
  const context = await commandContext(current, options);
  const progress = chooseProgress(json, nodeWidth(context.definition), (snapshot) => answerable(snapshot, context));
  interruption.beforeTelling(progress.close);
  try {
    progress.begin(options.before ?? current, options.before !== null);
    const { snapshot, at, interrupted } = await follow(run, options.before?.version ?? -1, session, progress, interruption);
    const next = interrupted === null ? null : options.again(context);
    progress.end({ snapshot, at, waits: answerable(snapshot, context), interrupted: next });
    return interrupted ?? exitCodeOf(snapshot.status, options.tellPause);
  } finally {
    progress.close();
  }
}

/** What command lines about an execution need. */
export async function commandContext(snapshot: Snapshot, showing: Showing): Promise<CommandContext> {
  const { store, database, configPath, foundConfig, config } = showing;
  const foundAgain = rememberedConfig(snapshot, database.folder) ?? foundConfig;
  const nodeDefinitions = nodeDefinitionsOf(config);
  return {
    program: programName(),
    flags: [
      ...(database.flag === null ? [] : ["--db", database.flag]),
      ...(configPath === null || configPath === foundAgain ? [] : ["--config", namePath(configPath)]),
    ],
    definition: await store.getDefinition(snapshot.definition.hash),
    resumeSchema: (type) => (Object.hasOwn(nodeDefinitions, type) ? nodeDefinitions[type]?.resume : undefined),
  };
}

function nodeWidth(definition: WorkflowDefinition | null): number {
  return Math.min(24, Math.max(0, ...(definition?.nodes ?? []).map(({ id }) => id.length)));
}
