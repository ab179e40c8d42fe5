import { fileURLToPath } from "node:url";
import { pingTimeoutMs, type Service } from "./service.ts";

/** The emulator fauxqs, which behaves like Amazon SQS, but loses its messages when it ends. */
export const sqs: Service = {
  name: "sqs",
  urlVariable: "STEPFOLD_SQS_URL",
  portVariable: "STEPFOLD_SQS_PORT",
  standardPort: 4566,
  url: (port) => `http://127.0.0.1:${port}`,

  async ping(url) {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/x-amz-json-1.0", "x-amz-target": "AmazonSQS.ListQueues" },
      body: "{}",
      signal: AbortSignal.timeout(pingTimeoutMs),
    });
    const isSqs = response.headers.get("content-type")?.includes("x-amz-json") === true;
    await response.body?.cancel();
    if (!isSqs) throw new RangeError(`somebody else answers: HTTP ${response.status}`);
  },

  missing: () => undefined,

  prepare: async (_folder, port) => ({
    program: process.execPath,
    args: [fileURLToPath(new URL("sqs-emulator.ts", import.meta.url)), String(port)],
    stopSignal: "SIGTERM",
  }),
};
