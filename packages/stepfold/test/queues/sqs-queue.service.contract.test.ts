import type { SQS } from "@aws-sdk/client-sqs";
import { describe, expect, it, onTestFinished } from "vitest";
import { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import { type SqsClient, type SqsEntry, sqsQueue } from "../../src/queues/sqs/index.ts";
import { wait } from "../testing/store-contract.fixture.ts";
import { clientOf, newQueue, url } from "./sqs-bench.fixture.ts";

/** Makes a new queue, and a list of all entries that are sent to it. */
async function fresh(suffix: "" | ".fifo" = "") {
  const client: SQS = clientOf();
  const queueUrl = await newQueue(client, suffix);
  onTestFinished(async () => {
    await client.deleteQueue({ QueueUrl: queueUrl });
    client.destroy();
  });
  const sent: SqsEntry[] = [];
  const observed: SqsClient = {
    sendMessageBatch(input) {
      sent.push(...input.Entries);
      // SQS takes at most 900 seconds, but the emulator takes any delay
      for (const { DelaySeconds = 0 } of input.Entries) expect(DelaySeconds).toBeLessThanOrEqual(900);
      return client.sendMessageBatch(input);
    },
    receiveMessage: (input, options) => client.receiveMessage(input, options),
    deleteMessage: (input) => client.deleteMessage(input),
    changeMessageVisibility: (input) => client.changeMessageVisibility(input),
  };
  return { client, queueUrl, sent, queue: sqsQueue(observed, { queueUrl, retryDelaySeconds: 1, waitSeconds: 1 }) };
}

const consuming = { concurrency: 2, leaseMs: 2_000, onProblem: () => undefined };
const codeOf = async (work: Promise<unknown>): Promise<string> => {
  const [settled] = await Promise.allSettled([work]);
  const { reason } = settled as PromiseRejectedResult;
  return StepfoldError.is(reason) ? reason.code : String(reason);
};

describe.skipIf(url === null)("SQS", () => {
  it("sends on what it received before its time, and handles it then", async () => {
    const { queue, client, queueUrl, sent } = await fresh();
    const ids: string[] = [];
    await queue.consume(async ({ workflowId }) => void ids.push(workflowId), consuming);
    const dueAt = Date.now() + 2_500;
    // the message of a long delay, as it is received after the first 15 minutes
    await client.sendMessage({ QueueUrl: queueUrl, MessageBody: JSON.stringify({ workflowId: "late", dueAt }) });
    await expect.poll(() => sent.length, { timeout: 5_000 }).toBe(1);
    expect(sent[0]).toMatchObject({ DelaySeconds: 3 });
    expect(ids).toEqual([]);
    await expect.poll(() => ids, { timeout: 10_000 }).toEqual(["late"]);
    expect(Date.now()).toBeGreaterThanOrEqual(dueAt);
    await queue.close();
  });

  it("sends on what names a far time for 12 hours at most", async () => {
    const { queue, client, queueUrl, sent } = await fresh();
    await queue.consume(async () => undefined, consuming);
    for (const dueAt of ["9.5e13", "1e308"])
      await client.sendMessage({ QueueUrl: queueUrl, MessageBody: `{"workflowId":"nobody","dueAt":${dueAt}}` });
    await expect.poll(() => sent.length, { timeout: 5_000 }).toBe(2);
    for (const { DelaySeconds, MessageBody } of sent) {
      expect(DelaySeconds).toBe(900);
      expect((JSON.parse(MessageBody) as { dueAt: number }).dueAt - Date.now()).toBeLessThanOrEqual(12 * 3_600_000);
    }
    await queue.close();
  });

  it("keeps a message invisible for as long as its step runs, and no longer", async () => {
    const { queue, client, queueUrl } = await fresh();
    const ids: string[] = [];
    const handle = async ({ workflowId, extend }: { workflowId: string; extend(): Promise<void> }): Promise<void> => {
      ids.push(workflowId);
      for (let count = 0; count < 8; count++) {
        await extend();
        await wait(700);
      }
    };
    await queue.consume(handle, consuming);
    await queue.send([{ workflowId: "long" }]);
    await wait(7_500);
    expect(ids).toEqual(["long"]);
    await queue.close();
    const { Attributes } = await client.getQueueAttributes({ QueueUrl: queueUrl, AttributeNames: ["All"] });
    expect(Attributes).toMatchObject({ ApproximateNumberOfMessages: "0", ApproximateNumberOfMessagesNotVisible: "0" });
  });

  it("says nothing of a message that it held for too long: another one has it", async () => {
    const { queue } = await fresh();
    const problems: unknown[] = [];
    let deliveries = 0;
    const handle = async ({ extend }: { extend(): Promise<void> }): Promise<void> => {
      if (++deliveries > 1) return;
      await wait(3_500);
      await extend();
      throw new Error("the step was handed over");
    };
    await queue.consume(handle, { ...consuming, onProblem: (problem) => void problems.push(problem) });
    await queue.send([{ workflowId: "slow" }]);
    await expect.poll(() => [deliveries, problems.length], { timeout: 10_000 }).toEqual([2, 1]);
    await queue.close();
    expect(problems).toMatchObject([{ message: "the step was handed over" }]);
  });

  it("sends no delay to a FIFO queue, and never takes one wake-up for the repetition of another", async () => {
    const { queue, sent } = await fresh(".fifo");
    expect(queue.features.maxDelayMs).toBe(0);
    const ids: string[] = [];
    await queue.consume(async ({ workflowId }) => void ids.push(workflowId), consuming);
    await queue.send([
      { workflowId: "a", dedupeKey: "key" },
      { workflowId: "a", dedupeKey: "key" },
      { workflowId: "b", delayMs: 60_000 },
    ]);
    await expect.poll(() => ids.toSorted(), { timeout: 5_000 }).toEqual(["a", "a", "b"]);
    expect(sent.every((entry) => !("DelaySeconds" in entry))).toBe(true);
    await queue.close();
  });

  it("drops what is no message of Stepfold, and tells of it", async () => {
    const { queue, client, queueUrl } = await fresh();
    const problems: unknown[] = [];
    const ids: string[] = [];
    const onProblem = (problem: unknown): void => void problems.push(problem);
    await queue.consume(async ({ workflowId }) => void ids.push(workflowId), { ...consuming, onProblem });
    const foreign = ['{"workflowId":7}', "null", "[]", "text", "{"];
    for (const MessageBody of foreign) await client.sendMessage({ QueueUrl: queueUrl, MessageBody });
    await queue.send([{ workflowId: "a" }]);
    await expect.poll(() => [ids, problems.length], { timeout: 5_000 }).toEqual([["a"], foreign.length]);
    expect(problems).toEqual(foreign.map(() => expect.objectContaining({ code: "QUEUE_REJECTED" })));
    await queue.close();
  });

  it("is refused where there is no such queue, and unavailable where nobody answers", async () => {
    const { client, queueUrl } = await fresh();
    const none = sqsQueue(client, { queueUrl: `${queueUrl}-none` });
    expect(await codeOf(none.send([{ workflowId: "a" }]))).toBe("QUEUE_REJECTED");
    expect(await codeOf(none.consume(async () => undefined, consuming))).toBe("QUEUE_REJECTED");
    const away = clientOf("http://127.0.0.1:1");
    expect(await codeOf(sqsQueue(away, { queueUrl }).send([{ workflowId: "a" }]))).toBe("QUEUE_UNAVAILABLE");
    expect(() => sqsQueue(client, { queueUrl, url: "a" } as { queueUrl: string })).toThrow(
      expect.objectContaining({ code: "OPTION_UNKNOWN" }),
    );
  });
});
