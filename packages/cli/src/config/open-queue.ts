import { queueFromUrl } from "stepfold/queues/from-url";
import type { WorkQueue } from "stepfold/runtime";
import type { Cleanup } from "../cleanup.ts";
import type { LoadedConfig } from "./config.ts";
import { openPart } from "./open-part.ts";

/** Returns the URL of the queue from `--queue`, else from `STEPFOLD_QUEUE`; null if both are missing or empty. */
export function queueUrl(flag: string | undefined): string | null {
  return flag || process.env.STEPFOLD_QUEUE || null;
}

/** Opens the queue with this URL; without a URL, the queue of the config (null if it has none). @throws BadInput `CONFIG_FAILED` */
export async function openQueue(
  url: string | null,
  config: LoadedConfig,
  configPath: string | null,
  closing: Cleanup,
): Promise<WorkQueue | null> {
  if (url === null) return openPart("queue", config, configPath, closing);
  const queue = await queueFromUrl(url);
  closing.add(() => queue.close());
  return queue;
}
