import type { ReplayPort } from "./replay-client.ts";
import type { ReplayAnswer } from "./replay-messages.ts";

/** Starts the thread that folds. */
export function replayWorkerPort(): ReplayPort {
  const worker = new Worker(new URL("./replay.worker.ts", import.meta.url), { type: "module" });
  const port: ReplayPort = {
    post: (message) => worker.postMessage(message),
    onAnswer: null,
    close: () => worker.terminate(),
  };
  worker.addEventListener("message", ({ data }: MessageEvent<ReplayAnswer>) => port.onAnswer?.(data));
  return port;
}
