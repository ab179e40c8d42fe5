import { afterEach, describe, expect, it } from "vitest";
import { scheduleWorkflow } from "../../src/schedules/schedule-node.ts";
import { webhook } from "../../src/webhooks/webhook.ts";
import { secret, signed } from "../webhooks/signing.fixture.ts";
import { closeAll, hour, quick, scheduling } from "./schedules.fixture.ts";

afterEach(closeAll);

const squat = "schedule:nightly";
const refused = { code: "OPTION_INVALID", message: expect.stringContaining("such ids belong to schedules") };
const own = { code: "OPTION_INVALID", message: expect.stringContaining("belongs to the schedules of Stepfold") };
/** A workflow whose only node starts a detached execution with a given id. */
const parent = (data: object) => ({
  id: "parent",
  nodes: [{ id: "child", type: "workflow", data: { workflow: "quick", detached: true, ...data } }],
  edges: [],
});

describe("the ids of schedules", () => {
  it("are made of their names, and tell them", async () => {
    const { runtime } = scheduling();
    await runtime.schedules.create("nightly", { workflow: "quick", every: "1h" });
    await expect((await runtime.get(squat)).cancel()).rejects.toMatchObject({
      code: "SCHEDULE_DENIED",
      details: { use: 'runtime.schedules.delete("nightly")' },
    });
  });

  it("are given to no execution that a caller starts, and the schedule can be made", async () => {
    const { runtime } = scheduling();
    await expect(runtime.start("quick", { workflowId: squat })).rejects.toMatchObject(refused);
    await expect(runtime.start("quick", { workflowId: "schedule:" })).rejects.toMatchObject(refused);
    await expect(runtime.start("quick", { workflowId: "schedules" })).resolves.toBeDefined();
    await expect(runtime.schedules.create("nightly", { workflow: "quick", every: "1h" })).resolves.toMatchObject({ workflowId: squat });
    // not even the caller who knows the input of the schedule gets a handle on it by a start
    await expect(runtime.start("quick", { workflowId: squat })).rejects.toMatchObject(refused);
  });

  it("are given to no detached execution, whether its parent waits for it or not", async () => {
    for (const waits of [true, false]) {
      const workflow = parent({ workflowId: squat, ...(!waits && { wait: false }) });
      const { runtime, environment, store } = scheduling({ workflows: [quick, workflow] });
      const run = await runtime.start("parent");
      await environment.advance(hour);
      expect(await store.loadHead(squat)).toBeNull();
      if (waits)
        await expect(run.result()).rejects.toMatchObject({ code: "EXECUTION_FAILED", message: expect.stringContaining("schedules") });
    }
  });

  it("are given to no fork and to no snapshot that is adopted", async () => {
    const { runtime, environment } = scheduling();
    const run = await runtime.start("slow", { workflowId: "s", input: { for: "1h" } });
    await environment.settle();
    await expect(run.fork({ workflowId: squat })).rejects.toMatchObject(refused);
    const snapshot = { ...(await run.snapshot()), incarnation: undefined };
    await expect(runtime.adopt("slow", JSON.parse(JSON.stringify(snapshot)), { workflowId: squat })).rejects.toMatchObject(refused);
  });

  it("are given to no execution that an event from outside starts", async () => {
    const { runtime, store } = scheduling();
    const handler = webhook(runtime, { secret, receive: () => ({ start: "quick", workflowId: squat }) });
    const answer = await handler(new Request("https://here/hook", { method: "POST", body: "{}", headers: signed("evt-1", "{}") }));
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(await store.loadHead(squat)).toBeNull();
  });
});

describe("the workflow of schedules", () => {
  const mine = { ...quick, id: "stepfold-schedule" };

  it("cannot be registered or started by a user, so nothing hides the schedules in lists", async () => {
    expect(() => scheduling({ workflows: [mine] })).toThrow(expect.objectContaining(own));
    const { runtime } = scheduling();
    await expect(runtime.start(mine)).rejects.toMatchObject(own);
    await expect(runtime.start(mine, { workflowId: squat })).rejects.toMatchObject(own);
    await expect(runtime.start(scheduleWorkflow, { workflowId: "other" })).rejects.toMatchObject({ code: expect.any(String) });
    await expect(runtime.start("stepfold-schedule")).rejects.toMatchObject({ code: "DEFINITION_UNKNOWN" });
  });

  it("is run by no detached execution and no fork", async () => {
    const inside = { ...parent({ workflow: "{{ 'mine' }}", workflowId: squat }), workflows: { mine } };
    const { runtime, environment, store } = scheduling({ workflows: [quick, inside] });
    const run = await runtime.start("parent");
    await environment.advance(hour);
    await expect(run.result()).rejects.toMatchObject({ code: "EXECUTION_FAILED" });
    expect(await store.loadHead(squat)).toBeNull();
    const other = await runtime.start("quick", { workflowId: "q" });
    await environment.settle();
    await expect(other.fork({ version: 0, definition: mine })).rejects.toMatchObject(own);
  });
});
