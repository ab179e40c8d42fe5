import type { ReplayRequest } from "./replay-messages.ts";
import { replayServer } from "./replay-server.ts";

const take = replayServer((answer) => self.postMessage(answer));
self.addEventListener("message", ({ data }: MessageEvent<ReplayRequest>) => take(data));
