import { afterEach, describe, expect, it } from "vitest";
import { waits } from "../../../src/core/explain/waits.ts";
import { HeldSteps, workflow } from "../../engine/cancelling.fixture.ts";
import { closeAll, hour, second } from "../runtime.fixture.ts";
import { Situation } from "./situations.fixture.ts";

afterEach(closeAll);

describe("an execution that is cancelled", () => {
  it("stops a step that has been looping for long, and does not only say so (mastra#15990)", async () => {
    const fetched: number[] = [];
    const situation: Situation = new Situation(
      workflow("w", { fetch: { type: "loop", timeout: "3h" }, report: "noop" }, ["fetch>report"]),
      {
        loop: async (_data, { signal }) => {
          for (let i = 0; i < 1_000 && !signal.aborted; i++) {
            fetched.push(i);
            await new Promise<void>((resolve) => situation.environment.after(10 * second, resolve));
          }
          throw signal.reason;
        },
      },
    );
    const run = await situation.start();
    await situation.pass(25 * second);
    expect(fetched).toEqual([0, 1, 2]);
    await run.cancel();
    await situation.pass(hour);
    expect(fetched).toEqual([0, 1, 2]);
    expect((await run.snapshot()).status).toBe("cancelled");
    expect(situation.ran).toEqual(["fetch"]);
  });

  it("sleeps no longer, and nothing overwrites that it was cancelled (mastra#17908)", { timeout: 30_000 }, async () => {
    const sleeping = workflow("w", { nap: { type: "wait", data: { for: "24h" } }, after: "noop" }, ["nap>after"]);
    const situation = new Situation(sleeping);
    await situation.start();
    const run = await situation.restart();
    await run.cancel({ reason: "no longer needed" });
    const cancelled = await run.snapshot();
    expect(cancelled).toMatchObject({ status: "cancelled", activePaths: [] });
    await situation.pass(25 * hour);
    await situation.restart();
    expect(await run.snapshot()).toEqual(cancelled);
    expect(situation.ran).toEqual(["nap"]);
    await expect(run.result()).rejects.toMatchObject({ code: "EXECUTION_CANCELLED" });
  });

  it("stops its sub-workflows and theirs, and the items of its maps (mastra#11063)", async () => {
    const slow = new HeldSteps();
    const leaf = workflow("leaf", { work: "slow", more: "noop" }, ["work>more"]);
    const middle = workflow("middle", { deep: { type: "workflow", data: { workflow: "leaf", input: "deep" } } });
    const parent = workflow(
      "parent",
      {
        f: "noop",
        sub: { type: "workflow", data: { workflow: "middle" } },
        each: { type: "map", data: { workflow: "leaf", items: ["one", "two"] } },
      },
      ["f>sub", "f>each"],
      { workflows: { leaf, middle } },
    );
    const situation = new Situation(parent, { slow: slow.executor });
    const run = await situation.start();
    expect(slow.running.toSorted()).toEqual(["work:deep", "work:one", "work:two"]);
    await run.cancel();
    await situation.pass();
    expect(slow.aborted.toSorted()).toEqual(["work:deep", "work:one", "work:two"]);
    for (const name of slow.running) slow.finish(name);
    await situation.pass(hour);
    expect(await run.snapshot()).toMatchObject({ status: "cancelled", activePaths: [] });
    expect(await run.snapshot()).not.toHaveProperty("childStates");
    expect(situation.times("more")).toBe(0);
  });

  it("tells a tool that is wrapped in a step and asks for the signal late (mastra#19599)", async () => {
    let observed: unknown = null;
    const tool = async ({ abortSignal }: { abortSignal: () => AbortSignal }): Promise<never> => {
      await Promise.resolve();
      return new Promise((_, reject) => {
        abortSignal().addEventListener("abort", () => {
          observed = abortSignal().reason;
          reject(observed);
        });
      });
    };
    const situation = new Situation(workflow("w", { tool: "tool" }), { tool: (_data, step) => tool({ abortSignal: () => step.signal }) });
    const run = await situation.start();
    await run.cancel();
    await situation.pass();
    expect(observed).toMatchObject({ name: "AbortError" });
  });

  const review = workflow(
    "review",
    {
      f: "noop",
      legal: "approval",
      finance: "approval",
      // both have to approve; with "all" one approval would be enough, once the other branch has gone elsewhere
      publish: { type: "set", data: "published", join: 2 },
      withdrawn: "noop",
      reject: { type: "set", data: "rejected", cancels: ["legal", "finance", "publish"] },
    },
    [
      "f>legal",
      "f>finance",
      "legal>publish@approved",
      "finance>publish@approved",
      "legal>reject@rejected",
      "finance>reject@rejected",
      "publish>withdrawn@error",
    ],
  );

  it.each([
    ["while the other still waits", ["legal"]],
    ["after the other has approved", ["finance", "legal"]],
  ])("by the first reviewer who rejects, %s, asks nobody else (mastra#15064)", async (_, order) => {
    const situation = new Situation(review);
    const asked = waits(await (await situation.start()).snapshot());
    const waitId = asked.find(({ nodeId }) => nodeId === "finance")!.id;
    const run = await situation.restart();
    for (const step of order) await situation.answer(run, step, { approved: step !== "legal" });
    expect(await run.snapshot()).toMatchObject({ status: "completed", activePaths: [] });
    expect(await situation.given()).toMatchObject({ reject: ["rejected"] });
    expect(situation.times("publish")).toBe(0);
    await expect(run.resume({ waitId, payload: { approved: true } })).rejects.toMatchObject({ code: "EXECUTION_ENDED" });
  });

  it("only in part leaves the approvals beside it as they are (mastra#15064)", async () => {
    const situation = new Situation(review);
    const run = await situation.start();
    await run.cancel({ step: "finance" });
    await situation.pass();
    expect(waits(await run.snapshot()).map(({ nodeId }) => nodeId)).toEqual(["legal"]);
    await expect(run.resume({ step: "finance", payload: { approved: true } })).rejects.toMatchObject({ code: "WAIT_GONE" });
    await situation.answer(run, "legal", { approved: false });
    expect(await run.snapshot()).toMatchObject({ status: "completed", output: "rejected" });
  });
});

describe("a timeout", () => {
  it("of an offer goes on to the next vendor, over a restart, and fails nothing (sapiom-js#156)", async () => {
    const offer = (vendor: string) => ({ type: "signal", data: { name: "confirm", key: vendor, timeout: "2h" } });
    const offers = workflow(
      "offers",
      { first: offer("v1"), second: offer("v2"), booked: { type: "set", data: "booked" }, gaveUp: { type: "set", data: "nobody" } },
      ["first>booked", "first>second@timeout", "second>booked", "second>gaveUp@timeout"],
    );
    const situation = new Situation(offers);
    await situation.start();
    await situation.pass(1 * hour);
    const run = await situation.restart();
    await situation.pass(1 * hour + 2 * second);
    expect(situation.ran).toEqual(["first", "second"]);
    await run.signal("confirm", "too late", { key: "v1" });
    await run.signal("confirm", "in time", { key: "v2" });
    await situation.pass();
    expect(await run.result()).toBe("booked");
    expect(await situation.given()).toMatchObject({ second: ["in time"], booked: ["booked"] });
  });

  it("of a step that hangs tells it, and leaves by the edge for errors (mastra#3345)", async () => {
    const slow = new HeldSteps();
    const guarded = workflow("w", { call: { type: "slow", timeout: "30s" }, fallback: { type: "set", data: "cached" } }, [
      "call>fallback@error",
    ]);
    const situation = new Situation(guarded, { slow: slow.executor });
    const run = await situation.start();
    await situation.pass(29 * second);
    expect(slow.aborted).toEqual([]);
    await situation.pass(2 * second);
    expect(slow.aborted).toEqual(["call"]);
    slow.finish("call");
    await situation.pass();
    expect(await run.result()).toBe("cached");
    expect((await run.snapshot()).context.call).toMatchObject([
      { output: { code: "STEP_TIMEOUT" }, error: 'Node "call" did not end within 30000 ms' },
    ]);
  });

  it("of an approval within 48 hours escalates, and the escalation waits like any other (dbos PR#1274)", { timeout: 30_000 }, async () => {
    const escalating = workflow(
      "w",
      { approve: { type: "approval", data: { timeout: "48h" } }, escalate: { type: "approval", data: { title: "Overdue" } }, done: "noop" },
      ["approve>done@approved", "approve>done@rejected", "approve>escalate@timeout", "escalate>done@approved", "escalate>done@rejected"],
    );
    const situation = new Situation(escalating);
    await situation.start();
    const run = await situation.restart();
    await situation.pass(48 * hour + 2 * second);
    await expect(run.resume({ step: "approve", payload: { approved: true } })).rejects.toMatchObject({ code: "WAIT_GONE" });
    await situation.answer(run, "escalate", { approved: true });
    expect((await run.snapshot()).status).toBe("completed");
  });

  it.each([
    ["a moment before", -1, "answered"],
    ["at the same moment", 0, "late"],
    ["a moment after", 1, "late"],
  ])("and an answer race fairly: %s (cloudflare/workerd#6925)", async (_, moment, winner) => {
    const waiting = workflow(
      "w",
      {
        f: "noop",
        approve: { type: "approval", data: { timeout: hour } },
        event: { type: "signal", data: { name: "event", timeout: hour } },
        answered: "noop",
        late: "noop",
      },
      [
        "f>approve",
        "f>event",
        "approve>answered@approved",
        "approve>answered@rejected",
        "approve>late@timeout",
        "event>answered",
        "event>late@timeout",
      ],
    );
    const situation = new Situation(waiting);
    const [wait] = waits(await (await situation.start()).snapshot());
    // no process drives the execution meanwhile, because the clock decides and not the process that looks first
    const run = await situation.asleepUntil(wait!.timeoutAt! + moment);
    const verdict = await run.resume({ step: "approve", payload: { approved: true } }).then(
      () => "answered",
      (error: { readonly code?: string }) => error.code,
    );
    expect(verdict).toBe(winner === "late" ? "WAIT_EXPIRED" : winner);
    await run.signal("event");
    await situation.restart();
    await situation.pass(2 * second);
    expect([situation.times("answered"), situation.times("late")]).toEqual(winner === "late" ? [0, 2] : [2, 0]);
  });
});
