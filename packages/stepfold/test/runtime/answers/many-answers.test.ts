import { afterEach, describe, expect, it } from "vitest";
import { waits } from "../../../src/core/explain/waits.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { closeAll, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

const count = 300;
const ask = { id: "ask", nodes: [{ id: "q", type: "approval" }], edges: [] };
const survey = {
  id: "survey",
  nodes: [{ id: "m", type: "map", data: { workflow: "ask", items: "{{ input }}", concurrency: count } }],
  edges: [],
  workflows: { ask },
};

async function asked(processes: number) {
  const environment = virtualEnvironment();
  const store = memoryStore({ now: () => environment.now() });
  const runtimes = Array.from({ length: processes }, () => {
    return setUp({ store, nodeDefinitions: builtinNodes as never, workflows: [survey] as never }, environment).runtime;
  });
  const run = await runtimes[0]!.start("survey", { workflowId: "s", input: Array.from({ length: count }, (_, i) => i) });
  await environment.settle();
  expect(waits(await run.snapshot())).toHaveLength(count);
  const before = (await run.snapshot()).version;
  const commits = async (): Promise<number> => new Set((await store.events("s", before, 10_000)).map(({ commitId }) => commitId)).size;
  const handles = await Promise.all(runtimes.map((runtime) => runtime.get("s")));
  const answer = (i: number, more: object = {}) =>
    handles[i % processes]!.resume({ step: `m[${i}]/q`, payload: { approved: true }, ...more });
  return { environment, run, answer, commits };
}

const all = Array.from({ length: count }, (_, i) => i);

describe("AUDIT 3: people who answer one execution at once", () => {
  it("are all heard, in a few commits", async () => {
    const { run, answer, commits, environment } = await asked(1);
    expect(await Promise.all(all.map((i) => answer(i)))).toEqual(all.map(() => ({ applied: true })));
    await environment.settle();
    expect(await run.result()).toHaveLength(count);
    expect(await commits()).toBeLessThanOrEqual(count / 10);
  });

  it("are all heard by several processes", async () => {
    const { run, answer, commits, environment } = await asked(4);
    const answers = Promise.all(all.map((i) => answer(i)));
    for (let i = 0; i < 50; i++) await environment.advance(100);
    expect(await answers).toEqual(all.map(() => ({ applied: true })));
    expect(await run.result()).toHaveLength(count);
    expect(await commits()).toBeLessThanOrEqual(2 * count);
  });

  it("are each told what is wrong with their answer, and hold up no other", async () => {
    const { answer } = await asked(1);
    const settled = await Promise.allSettled([
      answer(0),
      answer(0),
      answer(1, { payload: "perhaps" }),
      answer(2, { idempotencyKey: "k" }),
      answer(2, { idempotencyKey: "k" }),
      answer(3, { idempotencyKey: "k" }),
      answer(4),
    ]);
    const told = settled.map((one) => (one.status === "fulfilled" ? one.value.applied : (one.reason as { code: string }).code));
    expect(told).toEqual([true, "WAIT_GONE", "RESUME_INVALID", true, false, "RESUME_CONFLICT", true]);
  });
});
