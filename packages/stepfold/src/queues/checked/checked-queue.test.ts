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

it("tells problems of the queue by our codes, and errors of a handler as they are", async () => {
  const problems: unknown[] = [];
  const failure = new RangeError("no such order");
  const queue = checkedQueue({
    name: "test",
    features: { durable: false, multiProcess: false, maxDelayMs: 1_000 },
    send: async () => undefined,
    consume: async (handle, { onProblem }) => {
      await handle({ workflowId: "a", extend: async () => undefined }).catch(onProblem);
      onProblem(Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }));
      onProblem(Object.assign(new Error("no permission"), { code: "ACCESS_REFUSED" }));
      return { drain: async () => undefined };
    },
    refuses: (cause) => (cause as { code?: unknown }).code === "ACCESS_REFUSED",
  });
  const handle = async (): Promise<void> => {
    throw failure;
  };
  await queue.consume(handle, { concurrency: 1, leaseMs: 1_000, onProblem: (problem) => problems.push(problem) });
  const [first, ...others] = problems;
  expect(first).toBe(failure);
  expect(others).toMatchObject([
    { code: "QUEUE_UNAVAILABLE", details: { queue: "test", reason: "connect ECONNREFUSED" } },
    { code: "QUEUE_REJECTED", details: { queue: "test", reason: "no permission" } },
  ]);
});
