import type { ContinuedEvent, RestartedEvent } from "../../../core/snapshot/event.ts";
import { historyCheckpoint } from "../../../core/snapshot/history-checkpoint.ts";
import type { Json } from "../../../core/values/json.ts";
import type { Commit, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { type StepOptions, snapshotAfter, startCommit, stepCommit } from "../../commit-builder.ts";

/** How the next run of an execution begins. */
export interface NextRunOptions {
  /** When it begins. */
  readonly at: number;
  readonly input?: Json;
  /** Outputs of steps before it, in the same commit. */
  readonly outputs?: readonly Json[];
  /** False: the commit brings no checkpoint. Default true. */
  readonly isCheckpoint?: boolean;
}

/** Makes the commit with which the next run of an execution begins. @param commits all commits before it */
export function nextRun(commits: readonly Commit[], { at, input, outputs = [], isCheckpoint = true }: NextRunOptions): Commit {
  const { head } = commits.at(-1)!;
  const since = head.version + outputs.length + 1;
  const run = (head.run?.number ?? 1) + 1;
  const { input: _, ...others } = head;
  const before = { ...commits.at(-1)!, head: others };
  const given = input === undefined ? {} : { input };
  const steps = stepCommit(before, { outputs: [...outputs, null], waits: [], head: { ...given, run: { number: run, since, at } } });
  const event: ContinuedEvent = {
    ...{ type: "continued", version: since, at, pathId: "0", turn: since, nodeId: "step", attempt: 1, startedAt: at },
    ...{ run, definition: head.definition, firstNodeId: "step", metadata: head.metadata, totalExecutionTime: 0, ...given },
  };
  const commit = { ...steps, events: [...steps.events.slice(0, -1), event] };
  return isCheckpoint ? { ...commit, checkpoint: historyCheckpoint(snapshotAfter(...commits, commit)) } : commit;
}

/** Makes the commit that opens an ended execution again. */
export function reopening(from: Commit, options: StepOptions = {}): Commit {
  const { definition, restarts = 0 } = from.head;
  const event = (version: number): RestartedEvent => ({
    type: "restarted",
    version,
    at: version,
    definition,
    state: { activePaths: [], sizeBytes: 0 },
  });
  return { ...stepCommit(from, { event, ...options, head: { restarts: restarts + 1, ...options.head } }), reopens: true };
}

/** Writes an execution of several runs, each with two steps, and returns its commits. @param begins when each run after the first one begins */
export async function writtenRuns(
  store: SnapshotStore,
  id: string,
  begins: readonly number[],
  options: Parameters<typeof startCommit>[1] = {},
): Promise<Commit[]> {
  const commits = [startCommit(id, { input: { run: 1 }, ...options })];
  const steps = (): void => {
    for (const output of ["one", "two"]) commits.push(stepCommit(commits.at(-1)!, { output }));
  };
  steps();
  for (const at of begins) {
    commits.push(nextRun(commits, { at, input: { at } }));
    steps();
  }
  await store.create(commits[0]!);
  for (const commit of commits.slice(1)) await store.commit(commit);
  return commits;
}
