import { describe, expect, it } from "vitest";
import { posts } from "../../../test/simulation/approvals.fixture.ts";
import { defineNode } from "../../engine/node/define-node.ts";
import { memoryStore } from "../../stores/databases/memory/memory-store.ts";
import { altered } from "../broken/broken-store.ts";
import { brokenStores } from "../broken-stores.ts";
import { ProcessDeath } from "./effects.ts";
import { runSchedule, type ScheduleOutcome } from "./run-schedule.ts";
import type { Scenario } from "./scenario.ts";
import { simulate } from "./simulate.ts";

const oneOf = (name: string): Scenario["store"] => {
  const broken = brokenStores.find((store) => store.name === name)!;
  return ({ now }) => broken.breaks(memoryStore({ now }));
};

describe("a simulation", () => {
  it("finds nothing wrong with a right store, in schedules of all kinds", async () => {
    const outcomes: ScheduleOutcome[] = [];
    const report = await simulate(() => posts(), { schedules: 100, onOutcome: (outcome) => outcomes.push(outcome) });
    expect(report.failures).toEqual([]);
    expect(report).toMatchObject({ schedules: 100, commits: outcomes.reduce((sum, { commits }) => sum + commits, 0) });
    expect(new Set(outcomes.map(({ plan }) => plan.mode))).toEqual(new Set(["liveness", "safety", "faultFree"]));
    expect(new Set(outcomes.map(({ plan }) => plan.wakeUps))).toEqual(new Set(["both", "store", "queue"]));
    expect(report.repeated).toBeGreaterThan(0);
    expect(report.rescues).toBeGreaterThan(0);
  });

  it("is the same for the same seed, to the last commit and its time", async () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const [first, second] = [await runSchedule(() => posts(), { seed }), await runSchedule(() => posts(), { seed })];
      expect(second).toEqual(first);
    }
    const others = await Promise.all([6, 7, 8].map((seed) => runSchedule(() => posts(), { seed })));
    expect(new Set(others.map(({ hash }) => hash)).size).toBe(3);
  });

  it("performs nothing twice and rescues nothing where nothing fails, also with wrong clocks and long steps", async () => {
    const report = await simulate(() => posts(), { schedules: 30, mode: "faultFree", faults: ["skew", "slowStep"] });
    expect(report).toMatchObject({ failures: [], repeated: 0, rescues: 0 });
  });

  it("makes what fails as small as it gets, and it fails again with what it tells", async () => {
    const scenario = (): Scenario => posts({ store: oneOf("ignores the fence") });
    const { failures } = await simulate(scenario, { schedules: 300, mode: "liveness" });
    const [failed] = failures;
    expect(failed!.outcome.violations[0]).toMatchObject({ invariant: "I14" });
    expect(failed!.options.clients!.length).toBeLessThanOrEqual(2);
    expect(failed!.options.faults!.length).toBeLessThanOrEqual(5);
    expect(await runSchedule(scenario, failed!.options)).toEqual(failed!.outcome);
  });

  it("goes on for as many failures as one likes", async () => {
    const scenario = (): Scenario => posts({ store: oneOf("hands out what is held") });
    const { failures, schedules } = await simulate(scenario, { schedules: 20, maxFailures: 3, shrinks: false });
    expect(failures).toHaveLength(3);
    expect(failures.map(({ options }) => options)).toContainEqual({ seed: schedules });
  });

  it("has workers in some schedules that lack code, or take only some task queues", async () => {
    const outcomes: ScheduleOutcome[] = [];
    const scenario = (): Scenario => posts({ otherWorkers: [{ lacks: ["ask"] }, { taskQueues: ["gpu"] }] });
    const { failures } = await simulate(scenario, { schedules: 20, onOutcome: (outcome) => outcomes.push(outcome) });
    expect(failures).toEqual([]);
    expect(new Set(outcomes.map(({ plan }) => plan.otherWorkers))).toEqual(new Set([true, false]));
  });

  it.each([
    ["that it cannot run", "claims what a process lacks", { lacks: ["ask"] }, /had found out before that it cannot run it/],
    ["of other task queues", "takes no notice of task queues", { taskQueues: ["gpu"] }, /does not take its task queue "default"/],
  ])("notices that a worker gets executions %s", async (_, broken, worker, message) => {
    const scenario = (): Scenario => posts({ store: oneOf(broken), otherWorkers: [worker] });
    const { failures } = await simulate(scenario, { schedules: 30, otherWorkers: true });
    expect(failures[0]!.outcome.violations[0]).toMatchObject({ invariant: "I25", message: expect.stringMatching(message) });
    expect(failures[0]!.options.otherWorkers).toBe(true);
  });

  it("takes rules of one's own", async () => {
    const scenario = (): Scenario =>
      posts({ check: ({ snapshot, events }) => (events.length > 3 ? [`${snapshot.workflowId} has ${events.length} events`] : []) });
    const { failures } = await simulate(scenario, { schedules: 1, mode: "faultFree" });
    expect(failures[0]!.outcome.violations).toContainEqual(
      expect.objectContaining({ invariant: "check", message: expect.stringMatching(/^[ab] has \d events$/) }),
    );
  });

  it("tells of a client that is surprised", async () => {
    const scenario = (): Scenario => posts({ clients: [async ({ runtime }) => void (await runtime.start("nothing"))] });
    const { failures } = await simulate(scenario, { schedules: 1, mode: "faultFree" });
    expect(failures[0]!.outcome.violations).toMatchObject([
      { invariant: "script", message: expect.stringContaining('No workflow "nothing"') },
    ]);
  });

  it("tells of a client that waits for ever", async () => {
    const scenario = (): Scenario => posts({ clients: [() => new Promise<never>(() => undefined)] });
    const { failures } = await simulate(scenario, { schedules: 1, mode: "faultFree" });
    expect(failures[0]!.outcome.violations).toMatchObject([{ invariant: "I7", message: "1 clients wait for ever" }]);
  });
});

describe("a step that takes its process with it", () => {
  const poison = (more: Partial<Scenario> = {}): Scenario =>
    posts({
      workflows: [{ id: "poison", nodes: [{ id: "drink", type: "drink" }], edges: [] }],
      nodeDefinitions: {
        drink: defineNode({
          executor: async () => {
            throw new ProcessDeath();
          },
        }),
      },
      clients: [
        async ({ runtime, sleep }) => {
          const run = await runtime.start("poison", { workflowId: "p" });
          while ((await run.snapshot()).status !== "parked") await sleep(100);
        },
      ],
      runtime: { maxCrashes: 3 },
      ...more,
    });

  it("is given up after so many processes, and the others go on", async () => {
    const report = await simulate(() => poison(), { schedules: 20, mode: "liveness", faults: [] });
    expect(report.failures).toEqual([]);
    expect(report.rescues).toBeGreaterThanOrEqual(3 * 20);
  });

  it("is noticed to be driven on for ever where nobody counts", async () => {
    const seenStore: Scenario["seenStore"] = (store) =>
      altered(store, {
        claim: async (options) => (await store.claim(options)).map((claim) => ({ ...claim, crashes: 0 })),
      });
    const { failures } = await simulate(() => poison({ seenStore }), { schedules: 1, mode: "liveness", faults: [] });
    expect(failures[0]!.outcome.violations).toMatchObject([
      { invariant: "I7", message: expect.stringContaining("active at drink (ready)") },
    ]);
  });
});
