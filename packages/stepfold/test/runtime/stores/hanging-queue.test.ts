import { afterEach, describe, expect, it } from "vitest";
import type { TransactionQuery } from "../../../src/ports/transaction-query.ts";
import type { Delivery, WorkQueue } from "../../../src/ports/work-queue.ts";
import { memoryQueue } from "../../../src/queues/memory/index.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { closeAll, hour, line, second, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

const hang = (): Promise<never> => new Promise(() => undefined);
const workflows = [line("talk", "say", "ask", "say"), line("hang", "stuck")];

/** Makes a worker on a queue that the test changes, and a process that starts executions and sends their messages. */
function consuming(change: (queue: WorkQueue) => Partial<WorkQueue>) {
  const environment = virtualEnvironment();
  const inner = memoryQueue({ environment });
  const store = memoryStore({ now: () => environment.now() });
  const problems: unknown[] = [];
  const onProblem = (_: unknown, error: unknown): void => void problems.push(error);
  const { runtime } = setUp({ store, queue: { ...inner, ...change(inner) }, workflows, pollMs: hour, onProblem }, environment);
  const { runtime: starter } = setUp({ store, queue: inner, workflows, drive: false }, environment);
  return { environment, store, runtime, starter, problems };
}

const deliveringWith = (change: Partial<Delivery>) => (inner: WorkQueue) => ({
  consume: ((handle, options) => inner.consume((delivery) => handle({ ...delivery, ...change }), options)) as WorkQueue["consume"],
});

describe("a queue that does not answer", () => {
  it("is told of when it does not prolong the lease of a message", async () => {
    const { environment, starter, problems } = consuming(deliveringWith({ extend: hang }));
    await environment.settle();
    await starter.start("hang", { workflowId: "a" });
    await environment.advance(25 * second);
    expect(problems).toMatchObject([{ code: "QUEUE_UNAVAILABLE", message: expect.stringContaining("10000 ms") }]);
  });

  it("does not hold up close() once the steps have ended", async () => {
    const { environment, store, runtime, starter, problems } = consuming((inner) => ({
      consume: async (...args) => {
        await inner.consume(...args);
        return { drain: hang };
      },
    }));
    await environment.settle();
    await starter.start("talk", { workflowId: "a" });
    await environment.settle();
    expect(await store.load("a")).toMatchObject({ status: "paused" });
    let isClosed = false;
    void runtime.close({ timeoutMs: hour }).then(() => {
      isClosed = true;
    });
    await environment.advance(9 * second);
    expect(isClosed).toBe(false);
    await environment.advance(2 * second);
    expect(isClosed).toBe(true);
    expect(problems).toMatchObject([{ code: "QUEUE_UNAVAILABLE" }]);
  });

  it("does not hold up a commit that its message was to come with, and sends nothing any more after that", async () => {
    const environment = virtualEnvironment();
    const memory = memoryStore({ now: () => environment.now() });
    const sent: string[] = [];
    const query: TransactionQuery = async (text) => {
      sent.push(text);
      return { rows: [] };
    };
    const write = (method: "create" | "commit") => {
      return async ({ alongside, ...commit }: Parameters<typeof memory.commit>[0], ...more: object[]) => {
        await alongside?.(query);
        return (memory[method] as (...given: object[]) => Promise<never>)(commit, ...more);
      };
    };
    const store = {
      ...memory,
      features: { ...memory.features, transactions: "postgres" as const },
      create: write("create"),
      commit: write("commit"),
    };
    const inner = memoryQueue({ environment });
    const late = { query: (): Promise<unknown> => Promise.resolve() };
    const queue: WorkQueue = {
      ...inner,
      features: { ...inner.features, joins: "postgres" },
      sendIn: (given) => {
        late.query = () => given("INSERT");
        return hang();
      },
    };
    const problems: unknown[] = [];
    const onProblem = (_: unknown, error: unknown): void => void problems.push(error);
    const { runtime } = setUp({ store, queue, drive: false, workflows, onProblem }, environment);
    const starting = runtime.start("talk", { workflowId: "a" });
    await environment.advance(3 * second);
    expect(await starting).toMatchObject({ workflowId: "a" });
    expect(problems).toMatchObject([{ code: "QUEUE_UNAVAILABLE" }]);
    await expect(late.query()).rejects.toMatchObject({ code: "QUEUE_UNAVAILABLE" });
    expect(sent).toEqual([]);
  });
});
