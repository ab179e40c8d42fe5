import { expect, it } from "vitest";
import { checkedQueue } from "./checked-queue.ts";

it("closes its connection also if a consumer cannot be drained, and says so", async () => {
  const done: string[] = [];
  const queue = checkedQueue({
    name: "test",
    features: { durable: false, multiProcess: false, maxDelayMs: 1_000 },
    send: async () => undefined,
    consume: async () => ({
      drain: async () => {
        throw new TypeError("the server does not answer");
      },
    }),
    close: async () => void done.push("closed"),
  });
  await queue.consume(async () => undefined, { concurrency: 1, leaseMs: 1_000, onProblem: () => undefined });
  await expect(queue.close()).rejects.toThrow("the server does not answer");
  expect(done).toEqual(["closed"]);
});
