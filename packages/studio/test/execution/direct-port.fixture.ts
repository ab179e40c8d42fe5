import type { ReplayPort } from "../../src/model/replay/replay-client.ts";
import { replayServer } from "../../src/model/replay/replay-server.ts";

/** The thread that folds, in this thread: messages are copied as those between threads are. */
export function directPort(): ReplayPort & { isClosed(): boolean } {
  let isClosed = false;
  const port: ReplayPort = {
    post: (message) => take(structuredClone(message)),
    onAnswer: null,
    close: () => {
      isClosed = true;
    },
  };
  const take = replayServer((answer) => {
    if (!isClosed) port.onAnswer?.(structuredClone(answer));
  });
  return Object.assign(port, { isClosed: () => isClosed });
}
