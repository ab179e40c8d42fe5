import { Connection } from "rabbitmq-client";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import { mainQueue } from "../../src/queues/rabbitmq/delay-topology.ts";
import { rabbitmqQueue } from "../../src/queues/rabbitmq/index.ts";
import { rabbitmqConsumer } from "../../src/queues/rabbitmq/rabbitmq-consumer.ts";
import { gate } from "../../src/testing/contract/queue/consuming.ts";
import { cuttableProxy } from "../stores/cuttable-proxy.fixture.ts";
import { wait } from "../testing/store-contract.fixture.ts";
import { connectionOf, deleteQueue, newQueueName, url } from "./rabbitmq-bench.fixture.ts";

const names: string[] = [];
afterAll(async () => {
  for (const name of names) await deleteQueue(name);
});

function fresh(connection = connectionOf()) {
  const name = newQueueName();
  names.push(name);
  onTestFinished(() => connection.unsafeDestroy());
  return { name, connection, queue: rabbitmqQueue(connection, { name, retryDelayMs: 300 }) };
}

const consuming = { concurrency: 2, leaseMs: 5_000, onProblem: () => undefined };
const codeOf = async (work: Promise<unknown>): Promise<string> => {
  const [settled] = await Promise.allSettled([work]);
  const { reason } = settled as PromiseRejectedResult;
  return StepfoldError.is(reason) ? reason.code : String(reason);
};

describe.skipIf(url === null)("RabbitMQ", () => {
  it("takes messages again after a lost connection, also while one of before is still handled", async () => {
    const proxy = await cuttableProxy(url!);
    onTestFinished(() => proxy.close());
    const { username, password } = new URL(url!);
    const { queue } = fresh(connectionOf(Object.assign(new URL(proxy.url), { username, password }).href));
    const hold = gate();
    const ids: string[] = [];
    const handle = async ({ workflowId }: { workflowId: string }): Promise<void> => {
      ids.push(workflowId);
      if (workflowId === "slow" && ids.length === 1) await hold.opened;
    };
    await queue.consume(handle, consuming);
    await queue.send([{ workflowId: "slow" }]);
    await expect.poll(() => ids, { timeout: 20_000 }).toEqual(["slow"]);
    for (let round = 1; round <= 3; round++) {
      proxy.cut();
      await expect
        .poll(() => Promise.allSettled([queue.send([{ workflowId: `quick-${round}` }])]), { timeout: 5_000 })
        .toMatchObject([{ status: "fulfilled" }]);
      await expect.poll(() => ids, { timeout: 5_000 }).toContain(`quick-${round}`);
    }
    // the lost connection could not acknowledge the message, so the message is delivered again
    expect(ids.filter((id) => id === "slow").length).toBeGreaterThan(1);
    hold.open();
    await queue.close();
  });

  it("handles no more at once after a lost connection than was asked for", async () => {
    const proxy = await cuttableProxy(url!);
    onTestFinished(() => proxy.close());
    const { username, password } = new URL(url!);
    const { queue } = fresh(connectionOf(Object.assign(new URL(proxy.url), { username, password }).href));
    const hold = gate();
    let running = 0;
    let most = 0;
    const handle = async (): Promise<void> => {
      most = Math.max(most, ++running);
      await hold.opened;
      running--;
    };
    const problems: unknown[] = [];
    const consumer = await queue.consume(handle, { ...consuming, onProblem: (problem) => problems.push(problem) });
    await queue.send(["a", "b", "c", "d"].map((workflowId) => ({ workflowId })));
    await expect.poll(() => running, { timeout: 20_000 }).toBe(2);
    proxy.cut();
    await wait(1_500);
    hold.open();
    await consumer.drain();
    expect(most).toBe(2);
  });

  it("lets a message whose handler fails wait", async () => {
    const { queue } = fresh();
    let calls = 0;
    const handle = async (): Promise<void> => {
      calls++;
      throw new TypeError("always");
    };
    const consumer = await queue.consume(handle, consuming);
    await queue.send([{ workflowId: "a" }]);
    const begunAt = performance.now();
    await expect.poll(() => calls, { timeout: 20_000 }).toBeGreaterThan(2);
    await consumer.drain();
    // the message has waited twice for the delay after a failure
    expect(performance.now() - begunAt).toBeGreaterThan(400);
  });

  it("drops what is no message of Stepfold, and tells of it", async () => {
    const { queue, connection, name } = fresh();
    const problems: unknown[] = [];
    const ids: string[] = [];
    await queue.consume(async ({ workflowId }) => void ids.push(workflowId), {
      ...consuming,
      onProblem: (problem) => problems.push(problem),
    });
    const publisher = connection.createPublisher({ confirm: true });
    const foreign = [{ workflowId: 7 }, { workflowId: "" }, ["a"], null, "text", Buffer.from([0, 255])];
    for (const body of foreign) await publisher.send(name, body);
    await publisher.send({ routingKey: name, contentType: "application/json" }, Buffer.from("{"));
    await queue.send([{ workflowId: "a" }]);
    await expect.poll(() => ids, { timeout: 20_000 }).toEqual(["a"]);
    expect(problems.length).toBe(foreign.length + 1);
    expect(problems).toEqual(problems.map(() => expect.objectContaining({ code: "QUEUE_REJECTED" })));
    await queue.close();
    expect((await connection.queueDeclare({ queue: name, passive: true })).messageCount).toBe(0);
  });

  it("makes its queue again if somebody deletes it", async () => {
    const { queue, connection, name } = fresh();
    const ids: string[] = [];
    await queue.consume(async ({ workflowId }) => void ids.push(workflowId), consuming);
    await connection.queueDelete({ queue: name });
    await expect.poll(() => connection.queueDeclare({ queue: name, passive: true }).catch(() => null), { timeout: 5_000 }).not.toBe(null);
    await queue.send([{ workflowId: "a" }]);
    await expect.poll(() => ids, { timeout: 20_000 }).toEqual(["a"]);
    await queue.close();
  });

  it("keeps no message for longer than RabbitMQ lets it: another one takes over", async () => {
    const { connection, name } = fresh();
    const sent: [string, number][] = [];
    const hold = gate();
    const consumer = await rabbitmqConsumer({
      connection,
      main: mainQueue(name, "classic"),
      handle: async ({ extend }) => {
        await extend();
        await wait(250);
        await extend();
        await hold.opened;
      },
      consuming,
      retryDelayMs: 300,
      maxHoldMs: 200,
      sendOne: async (workflowId, delayMs) => void sent.push([workflowId, delayMs]),
    });
    const publisher = connection.createPublisher({ confirm: true });
    await publisher.send(name, { workflowId: "a" });
    await expect.poll(() => sent, { timeout: 20_000 }).toEqual([["a", 200]]);
    // the message is acknowledged, so the queue is empty once this consumer has ended
    hold.open();
    await consumer.drain();
    await publisher.close();
    expect((await connection.queueDeclare({ queue: name, passive: true })).messageCount).toBe(0);
  });

  it("is refused where the queue exists with other settings, and where the user has no rights", async () => {
    const { queue, connection, name } = fresh();
    await queue.send([{ workflowId: "a" }]);
    const other = rabbitmqQueue(connection, { name, queueType: "quorum" });
    expect(await codeOf(other.send([{ workflowId: "a" }]))).toBe("QUEUE_REJECTED");
    expect(await codeOf(other.consume(async () => undefined, consuming))).toBe("QUEUE_REJECTED");
    expect(await codeOf(rabbitmqQueue(connection, { name: "amq.stepfold" }).send([{ workflowId: "a" }]))).toBe("QUEUE_REJECTED");
  });

  it("is unavailable if no server answers, and its error has no password", async () => {
    const connection = new Connection({ url: "amqp://ada:hunter2@127.0.0.1:1", acquireTimeout: 300, connectionTimeout: 200 });
    connection.on("error", () => undefined);
    onTestFinished(() => connection.unsafeDestroy());
    const queue = rabbitmqQueue(connection);
    const [settled] = await Promise.allSettled([queue.send([{ workflowId: "a" }])]);
    const { reason } = settled as PromiseRejectedResult;
    expect(StepfoldError.is(reason) && reason.code).toBe("QUEUE_UNAVAILABLE");
    expect(String(reason)).not.toContain("hunter2");
    await queue.close();
  });

  it("refuses options that it does not know", () => {
    const { connection } = fresh();
    expect(() => rabbitmqQueue(connection, { queue: "a" } as object)).toThrow(expect.objectContaining({ code: "OPTION_UNKNOWN" }));
  });
});
