import { afterEach, describe, expect, it } from "vitest";
import { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import { memoryStore } from "../../src/stores/databases/memory/memory-store.ts";
import { virtualEnvironment } from "../../src/testing/virtual-environment.ts";
import { calls, closeAll, dying, hour, nodeDefinitions, second, setUp } from "./runtime.fixture.ts";

afterEach(closeAll);

/** Runs an execution in processes that die one after the other, by default some time after the first renewal of their claim. */
async function killing(deaths: number, options: { maxCrashes?: number } = {}, livesForMs = 12 * second) {
  const environment = virtualEnvironment();
  const { store, runtime } = setUp({ drive: false }, environment);
  const problems: [string | null, string][] = [];
  await runtime.start("hang", { workflowId: "a" });
  for (let death = 0; death < deaths; death++) {
    const process = dying(environment);
    setUp({ store, environment: process.environment, ...options });
    await environment.advance(livesForMs);
    process.die();
    await environment.advance(31 * second);
  }
  const onProblem = (workflowId: string | null, error: unknown): void => void problems.push([workflowId, (error as StepfoldError).code]);
  return { environment, store, runtime, problems, onProblem, options };
}

describe("an execution over which workers die", () => {
  it("is parked after five in a row, and rests until retry is called", async () => {
    const { environment, store, runtime, problems, onProblem } = await killing(5);
    setUp({ store, onProblem }, environment);
    await environment.advance(2 * second);
    const { status, parked, version } = (await store.load("a"))!;
    expect({ status, version }).toEqual({ status: "parked", version: 2 });
    expect(parked).toMatchObject({
      code: "WORKER_CRASHED",
      message:
        '5 workers in a row died while they ran this execution, or lost its claim before they committed anything; steps that were due: "stuck1"',
    });
    expect(problems).toEqual([["a", "EXECUTION_PARKED"]]);
    await environment.advance(hour);
    expect(await store.load("a")).toMatchObject({ version: 2 });
    const run = await runtime.get("a");
    expect(await run.settled()).toMatchObject({ status: "parked" });
    await run.retry();
    await environment.advance(2 * second);
    expect(await store.load("a")).toMatchObject({ status: "active", version: 3 });
    expect((await store.list({ status: ["active"] })).items[0]!.lease).toMatchObject({ crashes: 0 });
  });

  it("AUDIT 2: is parked too if each dies at once: lost twice before it began, it begins before anything else", async () => {
    const { environment, store } = await killing(6, {}, 2 * second);
    setUp({ store }, environment);
    await environment.advance(2 * second);
    expect(await store.load("a")).toMatchObject({ status: "active" });
    const more = await killing(7, {}, 2 * second);
    setUp({ store: more.store }, more.environment);
    await more.environment.advance(2 * second);
    expect(await more.store.load("a")).toMatchObject({ status: "parked", parked: { code: "WORKER_CRASHED" } });
  });

  it("AUDIT 2: is not parked by a store that loses answers to claims, for however many leases", async () => {
    const environment = virtualEnvironment();
    const { store, runtime } = setUp({ drive: false }, environment);
    const ids = Array.from({ length: 20 }, (_, index) => `nap-${index}`);
    for (const workflowId of ids) await runtime.start("nap", { workflowId, input: { until: environment.now() + 1 } });
    let isSlow = true;
    const claim: typeof store.claim = async (options) => {
      const claimed = await store.claim(options);
      if (isSlow) throw new StepfoldError("STORE_UNAVAILABLE", { store: "slow", reason: "the answer came too late" });
      return claimed;
    };
    setUp({ store: { ...store, claim } }, environment);
    await environment.advance(12 * 30 * second);
    isSlow = false;
    await environment.advance(60 * second);
    const { items } = await store.list();
    expect(items.map(({ status }) => status)).toEqual(ids.map(() => "completed"));
  });

  it("is not parked for fewer, nor if there was a commit between them", async () => {
    const { environment, store } = await killing(4);
    setUp({ store }, environment);
    await environment.advance(2 * second);
    expect(await store.load("a")).toMatchObject({ status: "active", version: 1 });
  });

  it("is parked after the number that maxCrashes says, or never", async () => {
    for (const [maxCrashes, deaths, status] of [
      [1, 1, "parked"],
      [Number.POSITIVE_INFINITY, 12, "active"],
    ] as const) {
      const { environment, store } = await killing(deaths, { maxCrashes });
      setUp({ store, maxCrashes }, environment);
      await environment.advance(2 * second);
      expect(await store.load("a")).toMatchObject({ status });
    }
    expect(() => setUp({ maxCrashes: 0 })).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
  });

  it("does not hold up other executions", async () => {
    const { environment, store } = await killing(5);
    const { runtime } = setUp({ store }, environment);
    const run = await runtime.start("talk");
    await environment.advance(2 * second);
    await run.resume({ payload: { approved: true } });
    await environment.settle();
    expect(await run.snapshot()).toMatchObject({ status: "completed" });
  });
});

/** A runtime that runs nothing, on a store whose claims cannot leave executions to other processes. */
function setUpSimple() {
  const environment = virtualEnvironment();
  const store = memoryStore({ now: () => environment.now() });
  const { taskQueues: _, ...features } = store.features;
  return setUp({ drive: false, store: { ...store, features } }, environment);
}

describe("an execution that a worker cannot run, in a store that cannot leave it to others", () => {
  it("is parked where the worker does not know what the stored definition needs (B6)", async () => {
    const { runtime, environment, store } = setUpSimple();
    await runtime.start("talk", { workflowId: "a" });
    const { getDefinition } = store;
    store.getDefinition = async (hash) => ({ ...(await getDefinition.call(store, hash))!, needs: ["futures"] });
    const older = setUp({ store, workflows: [] }, environment);
    await environment.advance(second / 2);
    const { status, parked } = (await store.load("a"))!;
    expect({ status, code: parked?.code }).toEqual({ status: "parked", code: "DEFINITION_INVALID" });
    expect(parked?.message).toContain("/needs: this version of Stepfold does not know futures: update it");
    await older.runtime.close();
    store.getDefinition = getDefinition;
    setUp({ store, workflows: [] }, environment);
    await environment.advance(60 * second);
    expect((await store.load("a"))!.status).toBe("paused");
  });

  it("rests no longer after a deployment than the deployment took (AUDIT, mixed fleets)", async () => {
    const { runtime, environment, store } = setUpSimple();
    await runtime.start("talk", { workflowId: "a" });
    const old = setUp({ store, workflows: [], nodeDefinitions: {} }, environment);
    await environment.advance(300 * second);
    await old.runtime.close();
    expect((await store.load("a"))!.status).toBe("parked");
    setUp({ store }, environment);
    await environment.advance(301 * second);
    expect((await store.load("a"))!.status).toBe("paused");
  });

  it("ends its rest at once when somebody says retry", async () => {
    const { runtime, environment, store } = setUpSimple();
    const run = await runtime.start("talk", { workflowId: "a" });
    const old = setUp({ store, workflows: [], nodeDefinitions: {} }, environment);
    await environment.advance(300 * second);
    await old.runtime.close();
    await run.retry();
    setUp({ store }, environment);
    await environment.advance(2 * second);
    expect((await store.load("a"))!.status).toBe("paused");
  });

  it("is parked visibly, for longer each time, and goes on with the first worker that can", async () => {
    const { runtime, environment, store } = setUpSimple();
    await runtime.start("talk", { workflowId: "a" });
    const problems: StepfoldError[] = [];
    const onProblem = (_: string | null, error: unknown): void => void problems.push(error as StepfoldError);
    const lame = setUp({ store, workflows: [], nodeDefinitions: {}, onProblem }, environment);
    await environment.advance(second / 2);
    const { status, parked } = (await store.load("a"))!;
    expect({ status, code: parked?.code }).toEqual({ status: "parked", code: "DEFINITION_INVALID" });
    expect(parked!.message).toContain('"say"');
    expect(problems.map(({ code }) => code)).toEqual(["EXECUTION_PARKED"]);
    await environment.advance(hour);
    const { version, parked: later } = (await store.load("a"))!;
    expect(version).toBeLessThan(16);
    expect(later!.until! - later!.at).toBe(15 * 60 * second);
    await lame.runtime.close();
    setUp({ store }, environment);
    await environment.advance(16 * 60 * second);
    expect(calls).toHaveLength(1);
    const after = (await store.load("a"))!;
    expect(after).toMatchObject({ status: "paused" });
    expect(after).not.toHaveProperty("parked");
  });

  it("goes on at once after retry", async () => {
    const { runtime, environment, store } = setUpSimple();
    const run = await runtime.start("talk", { workflowId: "a" });
    const lame = setUp({ store, workflows: [], nodeDefinitions: {} }, environment);
    await environment.advance(hour);
    await lame.runtime.close();
    setUp({ store, nodeDefinitions }, environment);
    await run.retry();
    await environment.advance(second);
    expect(await store.load("a")).toMatchObject({ status: "paused" });
  });

  it("is given back when the store cannot read its definition: this counts as no crash", async () => {
    const { runtime, environment, store } = setUp({ drive: false });
    await runtime.start("talk", { workflowId: "a" });
    const away = (): Promise<never> => Promise.reject(new StepfoldError("STORE_UNAVAILABLE", { store: "away", reason: "gone" }));
    const halting = setUp({ store: { ...store, getDefinition: away }, workflows: [] }, environment);
    await environment.advance(10 * second);
    expect((await store.list()).items[0]).toMatchObject({ status: "active", lease: null });
    await halting.runtime.close();
    setUp({ store }, environment);
    await environment.advance(second);
    expect(await store.load("a")).toMatchObject({ status: "paused" });
  });
});
