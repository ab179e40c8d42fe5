import { describe, expect, it } from "vitest";
import { tries } from "../../../../scripts/test/effort.ts";
import { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import type { OverlapPolicy, ScheduleSpec } from "../../src/runtime/context/schedules.ts";
import { schedules } from "../../src/schedules/schedules.ts";
import { memoryStore } from "../../src/stores/databases/memory/memory-store.ts";
import type { Random } from "../../src/testing/simulation/random.ts";
import type { ClientScript, Scenario, SimulatedClient } from "../../src/testing/simulation/scenario.ts";
import { simulate } from "../../src/testing/simulation/simulate.ts";

/** The workflow that ticks start: a step, a rest, a step. */
const work = {
  id: "work",
  nodes: [
    { id: "begin", type: "set", data: "{{ input.at }}" },
    { id: "rest", type: "wait", data: { for: "700ms" } },
    { id: "finish", type: "set", data: "done" },
  ],
  edges: [
    { source: "begin", target: "rest" },
    { source: "rest", target: "finish" },
  ],
};
const count = 6;

/** Makes a schedule, pauses, resumes or edits it at random, and checks that it ends with exactly the executions that it counts. */
function keeper(name: string, overlap: OverlapPolicy, every: number): ClientScript {
  return async (client) => {
    const { runtime, random, sleep } = client;
    const spec: ScheduleSpec = { workflow: "work", every, count, overlap, catchUpWindow: "1h" };
    // the simulation may begin this script again when the schedule was edited or has ended
    const isThere = (await runtime.schedules.list({ ended: true })).items.some((one) => one.name === name);
    if (!isThere) await unlessEnded(() => runtime.schedules.create(name, spec));
    for (let i = 0; i < 3; i++) {
      await sleep(random.between(100, 2_000));
      if (random.between(0, 1) === 1) {
        await unlessEnded(() => runtime.schedules.pause(name));
        await sleep(random.between(1, 1_500));
        await unlessEnded(() => runtime.schedules.resume(name));
      } else await unlessEnded(() => runtime.schedules.edit(name, { jitter: random.between(0, 300) }));
    }
    let described = await runtime.schedules.describe(name);
    while (described.status !== "ended") {
      await sleep(500);
      described = await runtime.schedules.describe(name);
      // the process that paused the schedule may have died before it could resume the schedule
      if (described.status === "paused") await unlessEnded(() => runtime.schedules.resume(name));
    }
    await judge(client, name, described.counts.started, every);
    expect(described.problems).toEqual([]);
  };
}

/** Checks the executions in the store, and not only the counts of the schedule. */
async function judge({ runtime, sleep }: SimulatedClient, name: string, started: number, every: number): Promise<void> {
  const list = () => runtime.list({ idPrefix: `${name}@`, order: "oldest", limit: 100 });
  let { items } = await list();
  while (items.some(({ status }) => status !== "completed" && status !== "cancelled")) {
    await sleep(500);
    ({ items } = await list());
  }
  const ticks = items.map(({ workflowId }) => Date.parse(workflowId.slice(name.length + 1)));
  if (items.length !== started || started !== count) throw new RangeError(`${name} started ${started}, and there are ${items.length}`);
  if (ticks.some((at) => at % every !== 0)) throw new RangeError(`${name} has ticks that are none: ${ticks.join()}`);
  for (const { workflowId } of items) {
    const { scheduledBy, parent } = await (await runtime.get(workflowId)).snapshot();
    if (scheduledBy?.schedule !== name || parent) throw new RangeError(`${workflowId} is not of ${name}`);
  }
}

/** Makes a call that may be refused, because the schedule has ended or was made by an earlier run of the script and edited since. */
async function unlessEnded(act: () => Promise<unknown>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!StepfoldError.is(error) || !["EXECUTION_ENDED", "SCHEDULE_EXISTS"].includes(error.code)) throw error;
  }
}

const policies: readonly OverlapPolicy[] = ["skip", "queue", "cancel", "allow"];

const scenario = (random: Random): Scenario => ({
  store: ({ now }) => memoryStore({ now }),
  workflows: [work],
  nodeDefinitions: builtinNodes,
  runtime: { schedules: schedules(), limits: { steps: random.between(20, 200) } },
  clients: ["a", "b", "c"].map((name) => keeper(name, policies[random.between(0, 3)]!, 1_000 * random.between(1, 3))),
});

/** The number of simulated runs. Each run takes about a second. */
const simulated = tries(20);
const patienceMs = 300_000;

describe("schedules on bad days", { timeout: patienceMs }, () => {
  it("start each tick once, and go on whatever dies", async () => {
    const report = await simulate(scenario, { schedules: simulated });
    expect(report.failures.map(({ outcome, options }) => [options, outcome.violations])).toEqual([]);
    expect(report.repeated).toBeGreaterThan(0);
  });

  it("perform nothing twice where nothing fails", async () => {
    const report = await simulate(scenario, { schedules: Math.ceil(simulated / 5), mode: "faultFree" });
    expect(report.failures.map(({ outcome, options }) => [options, outcome.violations])).toEqual([]);
    expect(report).toMatchObject({ repeated: 0 });
  });
});
