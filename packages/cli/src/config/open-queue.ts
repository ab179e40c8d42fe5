import { queueFromUrl } from "stepfold/queues/from-url";
import type { WorkQueue } from "stepfold/runtime";
import type { Cleanup } from "../cleanup.ts";
import type { StepfoldConfig } from "./config.ts";
import { openPart } from "./open-part.ts";

/** The URL of the queue that `--queue` names, else `STEPFOLD_QUEUE`; null if neither does. */
export function queueUrl(flag: string | undefined): string | null {
  return flag || process.env.STEPFOLD_QUEUE || null;
}

/** Opens the queue that a URL names, else that of the config; null if there is none. @throws BadInput `CONFIG_FAILED` */
export async function openQueue(
  url: string | null,
  config: StepfoldConfig,
  configPath: string | null,
  closing: Cleanup,
): Promise<WorkQueue | null> {
  if (url === null) return openPart("queue", config, configPath, closing);
  const queue = await queueFromUrl(url);
  closing.add(() => queue.close());
  return queue;
}
