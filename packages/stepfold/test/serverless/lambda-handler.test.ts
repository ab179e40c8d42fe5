import { describe, expect, it } from "vitest";
import { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import type { WakeUp } from "../../src/ports/work-queue.ts";
import { handle } from "../../src/serverless/index.ts";
import { memoryStore } from "../../src/stores/databases/memory/memory-store.ts";
import { functionRuntime, keepingQueue, secret } from "./serverless.fixture.ts";

const remaining = (ms: number) => ({ getRemainingTimeInMillis: () => ms });
const inTime = remaining(10_000);

/** An event as SQS hands it to a function. */
const sqsEvent = (...bodies: readonly (object | string)[]) => ({
  Records: bodies.map((body, index) => ({
    messageId: `m${index}`,
    receiptHandle: "r",
    body: typeof body === "string" ? body : JSON.stringify(body),
    attributes: { ApproximateReceiveCount: "1" },
    eventSource: "aws:sqs",
    eventSourceARN: "arn:aws:sqs:eu-central-1:123456789012:stepfold",
  })),
});
const schedule = { version: "0", source: "aws.events", "detail-type": "Scheduled Event", detail: {} };

function lambdaOf(options: Parameters<typeof functionRuntime>[0] = {}) {
  const from = functionRuntime(options);
  const problems: unknown[] = [];
  return { ...from, problems, handler: handle(from.runtime, { secret, onProblem: (error) => problems.push(error) }).lambda };
}

describe("the Lambda handler", () => {
  it("advances what the messages of SQS name, each once, and lets them be deleted", async () => {
    const { handler, runtime, performed } = lambdaOf();
    for (const workflowId of ["a", "b", "c"]) await runtime.start("note", { workflowId });
    const event = sqsEvent({ workflowId: "a" }, { workflowId: "b" }, { workflowId: "a" }, { workflowId: "gone" });
    expect(await handler(event, inTime)).toEqual({ batchItemFailures: [] });
    expect(performed.sort()).toEqual(["a", "b"]);
    expect(await handler(event, inTime)).toEqual({ batchItemFailures: [] });
    expect(performed).toHaveLength(2);
  });

  it("gives back alone what could not be handled, each message of it", async () => {
    const store = memoryStore();
    const claim: typeof store.claim = (options) =>
      options.workflowId === "b"
        ? Promise.reject(new StepfoldError("STORE_UNAVAILABLE", { store: "memory", reason: "throttled" }))
        : store.claim(options);
    const { handler, runtime, performed, problems } = lambdaOf({ store: { ...store, claim } });
    for (const workflowId of ["a", "b"]) await runtime.start("note", { workflowId });
    const event = sqsEvent({ workflowId: "b" }, { workflowId: "a" }, { workflowId: "b" });
    expect(await handler(event, inTime)).toEqual({ batchItemFailures: [{ itemIdentifier: "m0" }, { itemIdentifier: "m2" }] });
    expect(performed).toEqual(["a"]);
    expect(problems).toEqual([expect.objectContaining({ code: "STORE_UNAVAILABLE" })]);
  });

  it("ends before its time is up, and sends on what is left", async () => {
    const sent: WakeUp[] = [];
    const { handler, runtime, store } = lambdaOf({ queue: keepingQueue(sent) });
    await runtime.start("stuck", { workflowId: "a" });
    sent.splice(0);
    const begunMs = performance.now();
    expect(await handler(sqsEvent({ workflowId: "a" }), remaining(300))).toEqual({ batchItemFailures: [] });
    expect(performance.now() - begunMs).toBeLessThan(300);
    expect(sent).toMatchObject([{ workflowId: "a", delayMs: 0 }]);
    expect((await store.list()).items[0]!.lease).toBe(null);
  });

  it("gives a message back if what is left cannot be sent on: there is no queue, or it is away", async () => {
    for (const queue of [undefined, keepingQueue([], () => Promise.reject(new Error("away")))]) {
      const { handler, runtime } = lambdaOf(queue && { queue });
      await runtime.start("stuck", { workflowId: "a" });
      expect(await handler(sqsEvent({ workflowId: "a" }), remaining(200))).toEqual({ batchItemFailures: [{ itemIdentifier: "m0" }] });
    }
  });

  it("has hardly any time: nothing is lost", async () => {
    for (const ms of [-5, 0, 1, 3]) {
      const sent: WakeUp[] = [];
      const { handler, runtime, performed, store } = lambdaOf({ queue: keepingQueue(sent) });
      await runtime.start("note", { workflowId: "a" });
      sent.splice(0);
      expect(await handler(sqsEvent({ workflowId: "a" }), remaining(ms))).toEqual({ batchItemFailures: [] });
      const { status } = (await store.load("a"))!;
      expect(status === "completed" ? performed : sent.map(({ workflowId }) => workflowId)).toEqual(["a"]);
    }
  });

  it("sends a message on that stands for a delay longer than that of SQS", async () => {
    const sent: WakeUp[] = [];
    const { handler } = lambdaOf({ queue: keepingQueue(sent) });
    const dueAt = Date.now() + 3_600_000;
    expect(await handler(sqsEvent({ workflowId: "a", dueAt }), inTime)).toEqual({ batchItemFailures: [] });
    expect(sent).toHaveLength(1);
    expect(sent[0]!.delayMs).toBeGreaterThan(3_590_000);
    expect(sent[0]!.delayMs).toBeLessThanOrEqual(3_600_000);
  });

  it.each([9.5e13, 8.64e15, 1e18, 1e308])("sends on a message for at most 12 hours, whatever it says of its time: %d", async (dueAt) => {
    const sent: WakeUp[] = [];
    const { handler } = lambdaOf({ queue: keepingQueue(sent) });
    expect(await handler(sqsEvent({ workflowId: "nobody", dueAt }), inTime)).toEqual({ batchItemFailures: [] });
    expect(sent).toHaveLength(1);
    expect(sent[0]!.delayMs).toBeGreaterThan(12 * 3_600_000 - 10_000);
    expect(sent[0]!.delayMs).toBeLessThanOrEqual(12 * 3_600_000);
  });

  it.each([
    -1,
    -1e308,
    0,
    "1e308",
    null,
    [9e15],
  ])("takes what is no time, or one that is over, for now, and sends nothing on for an execution that does not exist: %j", async (dueAt) => {
    const sent: WakeUp[] = [];
    const { handler, problems } = lambdaOf({ queue: keepingQueue(sent) });
    expect(await handler(sqsEvent({ workflowId: "nobody", dueAt }), inTime)).toEqual({ batchItemFailures: [] });
    expect([sent, problems]).toEqual([[], []]);
  });

  it("drops messages of others, and says so", async () => {
    const { handler, problems } = lambdaOf();
    const wrong = ["hello", "{}", { workflowId: 7 }, { workflowId: "a\u0000" }, { workflowId: "x".repeat(256) }, { workflowId: " " }];
    expect(await handler(sqsEvent(...wrong), inTime)).toEqual({ batchItemFailures: [] });
    expect(problems).toHaveLength(wrong.length);
    expect(problems[0]).toMatchObject({ code: "QUEUE_REJECTED" });
  });

  it.each([
    schedule,
    { ...schedule, source: "aws.scheduler" },
  ])("sweeps when a schedule of EventBridge calls it: $source", async (event) => {
    const { handler, runtime, performed } = lambdaOf();
    await runtime.start("note", { workflowId: "a" });
    expect(await handler(event, inTime)).toEqual({ advanced: 1, left: [], failed: [], isMore: false });
    expect(performed).toEqual(["a"]);
  });

  it.each([
    ["a request of API Gateway", { version: "2.0", requestContext: { http: { method: "POST", path: "/sweep" } }, body: "{}" }],
    ["another service", { Records: [{ messageId: "m", eventSource: "aws:sns", body: '{"workflowId":"a"}' }] }],
    ["another event", { source: "aws.ec2", "detail-type": "Scheduled Event" }],
    ["records that are none", { Records: [null, 7] }],
    ["nothing", undefined],
    ["null", null],
    ["text", "sweep"],
  ])("refuses what neither SQS nor EventBridge has sent: %s", async (_name, event) => {
    const { handler, runtime, performed } = lambdaOf();
    await runtime.start("note", { workflowId: "a" });
    await expect(handler(event, inTime)).rejects.toMatchObject({ code: "OPTION_INVALID" });
    expect(performed).toEqual([]);
  });
});
