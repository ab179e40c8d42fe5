import { afterEach, expect, it } from "vitest";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { tieredStore } from "../../../src/stores/wrappers/tiered/tiered-store.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { closeAll, dying, nodeDefinitions, second, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

const beatMs = 30 * second;

it("a process that works is known while it is alive, and no more when it has ended", async () => {
  const { runtime, environment, store } = setUp({ beatMs, owner: "one", maxExecutions: 7 });
  const begun = environment.now();
  await environment.advance(second);
  expect(await runtime.workers()).toEqual([
    { owner: "one", since: begun, slots: 7, types: Object.keys(nodeDefinitions), aliveUntil: begun + 3 * beatMs },
  ]);
  await environment.advance(10 * beatMs);
  const others = setUp({ store, drive: false, beatMs, owner: "hands" }, environment).runtime;
  expect((await others.workers()).map(({ owner }) => owner)).toEqual(["one"]);
  await runtime.close();
  expect(await others.workers()).toEqual([]);
  const worker = others.work({ concurrency: 2 });
  await environment.advance(second);
  expect(await others.workers()).toMatchObject([{ owner: "hands", slots: 2 }]);
  await worker.stop();
  expect(await others.workers()).toEqual([]);
});

it("a process with more node types than a store keeps is known all the same, with the first thousand", async () => {
  const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`type-${index}`, nodeDefinitions.say]));
  const problems: unknown[] = [];
  const { runtime, environment } = setUp({ beatMs, nodeDefinitions: many, workflows: [], onProblem: (_, error) => problems.push(error) });
  await environment.advance(second);
  expect((await runtime.workers()).map(({ types }) => types.length)).toEqual([1_000]);
  expect(problems).toEqual([]);
});

it("a process that has died is known until its sign of life has run out", async () => {
  const environment = virtualEnvironment();
  const store = memoryStore({ now: () => environment.now() });
  const mortal = dying(environment);
  setUp({ store, beatMs, owner: "dies" }, mortal.environment as never);
  const { runtime } = setUp({ store, drive: false }, environment);
  await environment.advance(second);
  mortal.die();
  await environment.advance(2 * beatMs);
  expect(await runtime.workers()).toHaveLength(1);
  await environment.advance(2 * beatMs);
  expect(await runtime.workers()).toEqual([]);
});

it("a store that does not answer keeps nothing from working, and is told the next time", async () => {
  const environment = virtualEnvironment();
  const store = memoryStore({ now: () => environment.now() });
  let isAway = true;
  const beat: typeof store.beat = async (sign) => (isAway ? Promise.reject(new TypeError("away")) : store.beat!(sign));
  const problems: unknown[] = [];
  const { runtime } = setUp({ store: { ...store, beat }, beatMs, onProblem: (_, error) => problems.push(error) }, environment);
  await environment.advance(second);
  expect([problems.length, await runtime.workers()]).toEqual([1, []]);
  isAway = false;
  await environment.advance(beatMs);
  expect(await runtime.workers()).toHaveLength(1);
});

it("nobody is known where nobody tells, or the store cannot keep it; a wrong interval is refused", async () => {
  const { runtime, environment } = setUp();
  await environment.advance(second);
  expect(await runtime.workers()).toEqual([]);
  const tiers = tieredStore({ hot: memoryStore(), cold: memoryStore() });
  expect(await setUp({ store: tiers, beatMs }, environment).runtime.workers()).toEqual([]);
  for (const wrong of [0, 50, Number.NaN, "30s", 9 * 60 * 60 * second]) expect(() => setUp({ beatMs: wrong as never })).toThrow(/beatMs/);
});
