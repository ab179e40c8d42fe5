import { isTerminal, type Snapshot } from "../core/snapshot/snapshot.ts";
import { defaultTaskQueue } from "../core/values/ids/id.ts";
import type { EpochMs } from "../core/values/json.ts";
import type { LiveWorker } from "./store-workers.ts";

/** Why no living worker can run an execution. */
export interface NoWorker {
  readonly reason: string;
  /** The time since which it is known of all living workers. Absent: none of them takes the task queue. */
  readonly since?: EpochMs;
}

/**
 * Says why none of the workers of a store can run an execution: none takes its task queue, or each one that takes it has reported that it
 * lacks the definition or the code of a node. Null: one of them can, or has not tried yet, or no worker reports at all (`beatMs`).
 */
export function noWorkerFor(
  { definition, taskQueue = defaultTaskQueue }: Pick<Snapshot, "definition" | "taskQueue">,
  workers: readonly LiveWorker[],
): NoWorker | null {
  const open = workers.filter(({ slots }) => slots > 0);
  if (open.length === 0) return null;
  const takers = open.filter((worker) => worker.taskQueues?.includes(taskQueue) ?? true);
  if (takers.length === 0) return { reason: `no living worker takes the task queue "${taskQueue}"` };
  const reports = takers.map(({ lacks = [] }) => lacks.find(({ hash }) => hash === definition.hash));
  const known = reports.filter((report) => report !== undefined);
  if (known.length < reports.length) return null;
  return { reason: known[0]!.message, since: Math.max(...known.map(({ since }) => since)) };
}

/** Says it as a sentence. */
export function noWorkerText({ reason, since }: NoWorker): string {
  const told = reason.replace(/\s*\n\s*/g, " ");
  const text = since === undefined ? told : `since ${new Date(since).toISOString()} no living worker can run it: ${told}`;
  return `${text[0]!.toUpperCase()}${text.slice(1)}${text.endsWith(".") ? "" : "."}`;
}

/**
 * Says as a sentence why no living worker can run an execution, for `noWorker` of its explanation. Null: nothing is known of that, or the
 * execution needs no worker, because it has ended or only waits; then the workers are not asked for.
 *
 * @param workers asks for the living workers of the store
 */
export async function whyNoWorker(
  execution: Pick<Snapshot, "status" | "definition" | "taskQueue">,
  workers: () => Promise<readonly LiveWorker[]>,
): Promise<string | null> {
  if (isTerminal(execution.status) || execution.status === "paused") return null;
  const found = noWorkerFor(execution, await workers());
  return found && noWorkerText(found);
}
