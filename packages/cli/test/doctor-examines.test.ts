import type { ListedWait } from "stepfold";
import { builtinNodes } from "stepfold/nodes";
import { createRuntime, type Runtime } from "stepfold/runtime";
import { schedules } from "stepfold/schedules";
import { memoryStore } from "stepfold/stores/memory";
import { virtualEnvironment } from "stepfold/testing";
import { afterEach, describe, expect, it } from "vitest";
import type { Store } from "../src/store/database.ts";
import { examineSchedules } from "../src/store/examine-schedules.ts";
import { examineWaits } from "../src/store/examine-waits.ts";
import { flow } from "./flow.fixture.ts";

const minute = 60_000;
const open: Runtime[] = [];

afterEach(() => {
  for (const runtime of open.splice(0)) void runtime.close({ timeoutMs: 1 });
});

const workflows = [
  flow("parent", { kid: ["workflow", { workflow: "kid", detached: true, workflowId: "kid-1" }] }),
  flow("kid", { go: ["signal", { name: "go" }] }),
  flow("quick", { say: "noop" }),
  flow("failing", { bad: ["fail", { message: "no" }] }),
];

/** A store on a virtual clock, and a runtime that drives what is in it. */
function place(environment = virtualEnvironment()) {
  const store: Store = memoryStore({ now: () => environment.now() });
  const parts = { store, environment, nodeDefinitions: builtinNodes, workflows, schedules: schedules() };
  const runtime = createRuntime(parts as never) as unknown as Runtime;
  open.push(runtime);
  return { environment, store, runtime };
}

/** A store in which only one execution of another store is, as if the others had been lost. */
async function onlyOne(from: Store, workflowId: string, now: () => number, waits: readonly ListedWait[] = []): Promise<Store> {
  const store: Store = memoryStore({ now });
  const head = (await from.loadHead(workflowId))!;
  const events = (await from.events(workflowId, -1, 100)).map(({ event }) => event);
  const { incarnation = "" } = head;
  await store.create({ workflowId, incarnation, expectedVersion: -1, commitId: "copy", head, events, waits, wakeAt: null }, {});
  return store;
}

/** Runs an execution to its end in a store that another runtime has filled. */
async function ended(
  store: Store,
  workflow: string,
  workflowId: string,
  environment: ReturnType<typeof virtualEnvironment>,
): Promise<void> {
  const runtime = createRuntime({ store, environment, nodeDefinitions: builtinNodes, workflows } as never) as unknown as Runtime;
  open.push(runtime);
  await runtime.start(workflow, { workflowId });
  await environment.settle();
}

describe("doctor: a wait for another execution", () => {
  const kidWait: ListedWait[] = [{ kind: "child", nodeId: "kid", openedAt: 0 }];

  it("is no finding while the other one runs, or has just ended", async () => {
    const { environment, store, runtime } = place();
    await runtime.start("parent", { workflowId: "p" });
    await environment.advance(5 * minute);
    expect(await examineWaits(store, environment.now())).toEqual({ count: 1, isPartial: false, findings: [] });
    const copy = await onlyOne(store, "p", environment.now, kidWait);
    await ended(copy, "quick", "kid-1", environment);
    expect((await examineWaits(copy, environment.now())).findings).toEqual([]);
  });

  it("is found if the other one has ended or has gone", async () => {
    const { environment, store, runtime } = place();
    await runtime.start("parent", { workflowId: "p" });
    await environment.settle();
    const copy = await onlyOne(store, "p", environment.now, kidWait);
    // it may be about to begin
    expect((await examineWaits(copy, environment.now())).findings).toEqual([]);
    await environment.advance(5 * minute);
    const advice = "; stepfold cancel p and then stepfold restart p let it go on";
    expect(await examineWaits(copy, environment.now())).toEqual({
      count: 1,
      isPartial: false,
      findings: [{ workflowId: "p", sentence: `waits at kid for kid-1, which does not exist${advice}` }],
    });
    await ended(copy, "failing", "kid-1", environment);
    await environment.advance(3 * minute);
    const { findings } = await examineWaits(copy, environment.now());
    expect(findings).toEqual([{ workflowId: "p", sentence: `waits at kid for kid-1, which is failed for 3 min${advice}` }]);
    // also if the store cannot find executions by their ids at once
    const { summaries: _, ...plain } = copy;
    expect((await examineWaits(plain as Store, environment.now())).findings).toHaveLength(1);
  });
});

describe("doctor: a schedule", () => {
  it("is found if it waits for an execution that has ended or has gone, and not while that runs", async () => {
    const { environment, store, runtime } = place();
    await runtime.schedules.create("nightly", { workflow: "kid", every: "1m" });
    await environment.advance(5 * minute);
    const [tick] = (await runtime.schedules.describe("nightly")).running;
    expect(await examineSchedules(store, environment.now())).toEqual({ count: 1, isPartial: false, findings: [] });
    const copy = await onlyOne(store, "schedule:nightly", environment.now);
    const found = async (): Promise<unknown> => (await examineSchedules(copy, environment.now())).findings;
    const finding = (state: string): object => ({
      kind: "busy",
      schedule: "nightly",
      sentence: `waits for ${tick}, which ${state}; stepfold schedule rm nightly, and create it again`,
    });
    expect(await found()).toEqual([finding("does not exist")]);
    await ended(copy, "quick", tick!, environment);
    expect(await found()).toEqual([]);
    await environment.advance(2 * minute);
    expect(await found()).toEqual([finding("is completed for 2 min")]);
  });
});
