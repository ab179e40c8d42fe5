import { describe, expect, it } from "vitest";
import type { Delivery, WorkQueue } from "../../src/ports/work-queue.ts";
import { type BullmqJob, bullmqQueue } from "../../src/queues/bullmq/index.ts";
import { type PgBossClient, type PgBossJob, pgBossQueue } from "../../src/queues/pg-boss/index.ts";
import { type RabbitmqMessage, rabbitmqQueue } from "../../src/queues/rabbitmq/index.ts";
import { type SqsClient, type SqsEntry, sqsQueue } from "../../src/queues/sqs/index.ts";

const hours12 = 12 * 60 * 60 * 1000;
/** Times that a forged message could have: anybody who can write to a queue can choose them. */
const times = [1e308, 9e15, 1e18, -1e308, -1, 0, "1e308", null, [9e15]];
/** What names no execution. */
const nobodies = [7, null, "", " ", "a\u0000b", "x".repeat(256), "__proto__", { a: 1 }];

/** Lets all that needs no time run. */
const settle = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 20));

/** Begins to consume, and returns what came. */
async function heard(queue: WorkQueue): Promise<{ readonly ids: string[]; readonly problems: unknown[] }> {
  const [ids, problems]: [string[], unknown[]] = [[], []];
  const handle = async ({ workflowId }: Delivery): Promise<void> => void ids.push(workflowId);
  await queue.consume(handle, { concurrency: 100, leaseMs: 60_000, onProblem: (problem) => void problems.push(problem) });
  await settle();
  return { ids, problems };
}

/** An SQS that gives each of these bodies once, and keeps what is sent. */
function sqsWith(bodies: readonly unknown[]) {
  const left = bodies.map((body) => JSON.stringify(body));
  const sent: SqsEntry[] = [];
  const deleted: unknown[] = [];
  const client: SqsClient = {
    async sendMessageBatch({ Entries }) {
      sent.push(...Entries);
      return {};
    },
    async receiveMessage({ MaxNumberOfMessages }, { abortSignal }) {
      const Messages = left.splice(0, MaxNumberOfMessages).map((Body, nth) => ({ Body, ReceiptHandle: `${left.length} ${nth}` }));
      if (Messages.length === 0) await new Promise((_, reject) => abortSignal.addEventListener("abort", () => reject(new Error("over"))));
      return { Messages };
    },
    deleteMessage: async (input) => deleted.push(input),
    changeMessageVisibility: async () => undefined,
  };
  return { client, sent, deleted };
}

/** Queues whose server holds the delay, each with one message for each of these bodies. */
const others: Readonly<Record<string, (bodies: readonly unknown[]) => WorkQueue>> = {
  bullmq: (bodies) =>
    bullmqQueue({ name: "q", addBulk: async () => undefined }, (process) => {
      for (const data of bodies) void process({ data, extendLock: async () => undefined } satisfies BullmqJob);
      return { on: () => undefined, waitUntilReady: async () => undefined, close: async () => undefined };
    }),
  "pg-boss"(bodies) {
    const jobs: PgBossJob[] = bodies.map((data, nth) => ({ id: `${nth}`, retryCount: 0, data }));
    const done = async (): Promise<void> => undefined;
    const client: PgBossClient = {
      getQueue: async () => ({ policy: "short", heartbeatSeconds: 60 }),
      ...{ createQueue: done, updateQueue: done, insert: done, deleteJob: done, fail: done, touch: done },
      fetch: async (_name, { batchSize }) => jobs.splice(0, batchSize),
    };
    return pgBossQueue(client, { pollMs: 60_000 });
  },
  rabbitmq(bodies) {
    const done = async (): Promise<void> => undefined;
    return rabbitmqQueue({
      createPublisher: () => ({ send: done, close: done }),
      acquire: async () => ({
        active: true,
        ...{ queueDeclare: done, basicQos: done, basicCancel: done, close: done },
        ...{ basicAck: () => undefined, basicNack: () => undefined, on: () => undefined },
        async basicConsume(_settings: unknown, receive: (message: RabbitmqMessage) => void) {
          for (const [deliveryTag, body] of bodies.entries()) receive({ deliveryTag, body });
          return { consumerTag: "c" };
        },
      }),
    });
  },
};

describe("a message that somebody has forged", () => {
  it("is kept by SQS for at most 12 hours, and is handled at once if its time is none", async () => {
    const { client, sent, deleted } = sqsWith(times.map((dueAt, nth) => ({ workflowId: `w${nth}`, dueAt })));
    const queue = sqsQueue(client, { queueUrl: "https://sqs.example/q" });
    const { ids, problems } = await heard(queue);
    expect(ids.sort()).toEqual(["w3", "w4", "w5", "w6", "w7", "w8"]);
    expect(sent.map(({ DelaySeconds }) => DelaySeconds)).toEqual([900, 900, 900]);
    for (const { MessageBody } of sent) {
      const { dueAt } = JSON.parse(MessageBody) as { readonly dueAt: number };
      expect(dueAt - Date.now()).toBeGreaterThan(hours12 - 10_000);
      expect(dueAt - Date.now()).toBeLessThanOrEqual(hours12);
    }
    expect([deleted.length, problems]).toEqual([times.length, []]);
    await queue.close();
  });

  it("is not sent on by a FIFO queue of SQS again and again", async () => {
    const { client, sent } = sqsWith([{ workflowId: "w", dueAt: 1e308 }]);
    const queue = sqsQueue(client, { queueUrl: "https://sqs.example/q.fifo" });
    await heard(queue);
    expect(sent.map(({ MessageBody }) => MessageBody)).toEqual(['{"workflowId":"w"}']);
    await queue.close();
  });

  it.each(Object.entries(others))("says nothing of its time where the server holds the delay: %s", async (_, open) => {
    const queue = open(times.flatMap((time, nth) => [{ workflowId: `w${nth}`, delayMs: time, dueAt: time, delay: time }]));
    const { ids, problems } = await heard(queue);
    expect(ids.sort()).toEqual(times.map((_time, nth) => `w${nth}`));
    expect(problems).toEqual([]);
    await queue.close();
  });

  it.each(
    Object.entries({ ...others, sqs: (bodies: readonly unknown[]) => sqsQueue(sqsWith(bodies).client, { queueUrl: "https://q" }) }),
  )("is dropped if it names what can be no execution: %s", async (_, open) => {
    const queue = open([...nobodies.map((workflowId) => ({ workflowId })), null, 5, [], { workflowId: "a" }]);
    const { ids, problems } = await heard(queue);
    expect(ids).toEqual(["a"]);
    expect(problems).toEqual(Array.from({ length: nobodies.length + 3 }, () => expect.objectContaining({ code: "QUEUE_REJECTED" })));
    await queue.close();
  });
});
