import { jetstreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import { natsQueue } from "../../src/queues/nats/index.ts";
import { gate } from "../../src/testing/contract/queue/consuming.ts";
import { cuttableProxy } from "../stores/cuttable-proxy.fixture.ts";
import { wait } from "../testing/store-contract.fixture.ts";
import { connectionOf, deleteStream, newStreamName, url } from "./nats-bench.fixture.ts";

const names: string[] = [];
afterAll(async () => {
  for (const name of names) await deleteStream(name);
});

async function fresh(connection?: NatsConnection) {
  const name = newStreamName();
  names.push(name);
  const opened = connection ?? (await connectionOf());
  onTestFinished(() => opened.close());
  const manager = await jetstreamManager(opened, { timeout: 1_000 });
  return { name, manager, queue: natsQueue(manager, { name, retryDelayMs: 300 }) };
}

const consuming = { concurrency: 2, leaseMs: 2_000, onProblem: () => undefined };
const codeOf = async (work: Promise<unknown>): Promise<string> => {
  const [settled] = await Promise.allSettled([work]);
  const { reason } = settled as PromiseRejectedResult;
  return StepfoldError.is(reason) ? reason.code : String(reason);
};

describe.skipIf(url === null)("NATS JetStream", () => {
  it("takes messages again after a lost connection, also while one of before is still handled", async () => {
    const proxy = await cuttableProxy(url!);
    onTestFinished(() => proxy.close());
    const { queue } = await fresh(await connectionOf(proxy.url));
    const hold = gate();
    const ids: string[] = [];
    const handle = async ({ workflowId, extend }: { workflowId: string; extend(): Promise<void> }): Promise<void> => {
      ids.push(workflowId);
      if (workflowId !== "slow") return;
      for (let count = 0; count < 20; count++) {
        await extend();
        await Promise.race([hold.opened, wait(500)]);
      }
    };
    await queue.consume(handle, consuming);
    await queue.send([{ workflowId: "slow" }]);
    await expect.poll(() => ids, { timeout: 20_000 }).toEqual(["slow"]);
    for (let round = 1; round <= 2; round++) {
      proxy.cut();
      await expect
        .poll(() => Promise.allSettled([queue.send([{ workflowId: `quick-${round}` }])]), { timeout: 5_000 })
        .toMatchObject([{ status: "fulfilled" }]);
      await expect.poll(() => ids, { timeout: 10_000 }).toContain(`quick-${round}`);
    }
    hold.open();
    await queue.close();
    // the connection is back in time for the next `extend`, so the message is not delivered again
    expect(ids.filter((id) => id === "slow")).toEqual(["slow"]);
  });

  it("delivers a message that names a delay beyond every clock no more often than another, and keeps it for 12 hours at most", async () => {
    const { queue, manager, name } = await fresh();
    const ids: string[] = [];
    const problems: unknown[] = [];
    await queue.consume(async ({ workflowId }) => void ids.push(workflowId), { ...consuming, onProblem: (one) => void problems.push(one) });
    const { streams } = manager;
    const stream = manager.jetstream();
    const far = ["1e308", "9e15", "1e18", "9223372036855", "9223372036854775807", "43200001"];
    const publish = (workflowId: string, delay: string): Promise<unknown> =>
      stream.publish(name, `{"workflowId":${JSON.stringify(workflowId)},"delayMs":${delay}}`);
    for (const delay of far) await publish(`far ${delay}`, delay);
    const none = ["-1e308", "-1", "0", '"1e308"', "null", "[9e15]", "1e-300"];
    for (const delay of none) await publish(`now ${delay}`, delay);
    await expect.poll(() => ids.toSorted(), { timeout: 20_000 }).toEqual(none.map((delay) => `now ${delay}`).toSorted());
    await wait(4_000);
    // each once, and those that wait for their time once more at most, after the end of the lease
    const { delivered } = await manager.consumers.info(name, name);
    expect(delivered.consumer_seq).toBeLessThanOrEqual(none.length + 2 * far.length + 1);
    expect(ids).toHaveLength(none.length);
    expect(problems).toEqual([]);
    expect((await streams.info(name)).state.messages).toBe(far.length);
    await queue.close();
  });

  it("keeps what is delayed for a year, gives it to nobody meanwhile, and what is due is not held up by any number of those", async () => {
    const { queue, name, manager } = await fresh();
    const ids: string[] = [];
    await queue.consume(async ({ workflowId }) => void ids.push(workflowId), consuming);
    const year = 365 * 24 * 60 * 60 * 1000;
    await queue.send(Array.from({ length: 3_000 }, (_, index) => ({ workflowId: `late-${index}`, delayMs: year - index })));
    await queue.send([{ workflowId: "now" }]);
    await expect.poll(() => ids, { timeout: 20_000 }).toEqual(["now"]);
    // after more than the lease no message has been delivered again
    await wait(3_000);
    expect(ids).toEqual(["now"]);
    expect((await manager.streams.info(name)).state.messages).toBe(3_000);
    await queue.close();
  });

  it("drops what is no message of Stepfold, and tells of it", async () => {
    const { queue, manager, name } = await fresh();
    const problems: unknown[] = [];
    const ids: string[] = [];
    const onProblem = (problem: unknown): void => void problems.push(problem);
    await queue.consume(async ({ workflowId }) => void ids.push(workflowId), { ...consuming, onProblem });
    const notUtf8 = Buffer.concat([Buffer.from('{"workflowId":"'), Buffer.of(0xff), Buffer.from('"}')]);
    const long = JSON.stringify({ workflowId: "x".repeat(256) });
    const foreign = ['{"workflowId":7}', "null", "[]", "text", "{", "", '{"workflowId":"a\\u0000"}', long, notUtf8];
    for (const body of foreign) await manager.jetstream().publish(name, body);
    await queue.send([{ workflowId: "a" }]);
    await expect.poll(() => ids, { timeout: 20_000 }).toEqual(["a"]);
    expect(problems).toEqual(foreign.map(() => expect.objectContaining({ code: "QUEUE_REJECTED" })));
    await queue.close();
    // acknowledgements and this question use different connections, so the count needs a moment
    await expect.poll(async () => (await manager.streams.info(name)).state.messages, { timeout: 5_000 }).toBe(0);
  });

  it("makes stream and consumer again if somebody deletes them", async () => {
    const { queue, manager, name } = await fresh();
    const ids: string[] = [];
    await queue.consume(async ({ workflowId }) => void ids.push(workflowId), consuming);
    await queue.send([{ workflowId: "a" }]);
    await expect.poll(() => ids, { timeout: 20_000 }).toEqual(["a"]);
    await manager.streams.delete(name);
    await expect
      .poll(() => Promise.allSettled([queue.send([{ workflowId: "b" }])]), { timeout: 5_000 })
      .toMatchObject([{ status: "fulfilled" }]);
    await expect.poll(() => ids, { timeout: 10_000 }).toEqual(["a", "b"]);
    await queue.close();
  });

  it("sets the lease that its last consumer asks for", async () => {
    const { queue, manager, name } = await fresh();
    for (const leaseMs of [2_000, 45_000]) {
      const consumer = await queue.consume(async () => undefined, { ...consuming, leaseMs });
      expect((await manager.consumers.info(name, name)).config.ack_wait).toBe(leaseMs * 1_000_000);
      await consumer.drain();
    }
  });

  it("is refused where the name is none, and unavailable without a connection", async () => {
    const { manager, queue } = await fresh();
    expect(await codeOf(natsQueue(manager, { name: "no.name" }).send([{ workflowId: "a" }]))).toBe("QUEUE_REJECTED");
    await queue.send([{ workflowId: "a" }]);
    const proxy = await cuttableProxy(url!);
    const away = await fresh(await connectionOf(proxy.url));
    await proxy.close();
    expect(await codeOf(away.queue.send([{ workflowId: "a" }]))).toBe("QUEUE_UNAVAILABLE");
  });

  it("refuses options that it does not know", async () => {
    const { manager } = await fresh();
    expect(() => natsQueue(manager, { stream: "a" } as object)).toThrow(expect.objectContaining({ code: "OPTION_UNKNOWN" }));
  });
});
