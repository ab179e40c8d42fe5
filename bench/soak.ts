import { readdirSync } from "node:fs";
import { parseArgs } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { SnapshotStore, WorkflowDefinition } from "stepfold";
import { builtinNodes } from "stepfold/nodes";
import { createRuntime, type Run, type Runtime } from "stepfold/runtime";
import { siteFromUrl, storeFromUrl } from "stepfold/stores/from-url";
import { withDatabase } from "./database.ts";
import { sleep } from "./measure.ts";
import { serverUrl } from "./peer.ts";

// Runs one process under a mixed load for a while, to find leaks of memory, timers or connections, and unhandled rejections:
// node bench/soak.ts [--minutes 10] [--executions 100000] [--store sqlite | postgres | mysql | redis]

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    executions: { type: "string", default: "100000" },
    store: { type: "string", default: "sqlite" },
  },
});
/** The number of executions that run at the same time. */
const concurrency = 50;
setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;
let rejections = 0;
process.on("unhandledRejection", () => {
  rejections += 1;
});

const step = (id: string, type: string, data: unknown = {}) => ({ id, type, data }) as WorkflowDefinition["nodes"][number];
const child: WorkflowDefinition = { id: "child", nodes: [step("work", "work")], edges: [] };
const workflows: readonly WorkflowDefinition[] = [
  { id: "line", nodes: [step("a", "work"), step("b", "work"), step("c", "work")], edges: [edge("a", "b"), edge("b", "c")] },
  { id: "timer", nodes: [step("pause", "wait", { for: "300ms" }), step("b", "work")], edges: [edge("pause", "b")] },
  { id: "retry", nodes: [{ ...step("flaky", "flaky"), retryPolicy: { maxAttempts: 3, interval: "20ms", backoff: "fixed" } }], edges: [] },
  { id: "ask", nodes: [step("q", "approval", { message: "Yes?" })], edges: [] },
  { id: "parent", nodes: [step("c", "workflow", { workflow: "child", detached: true })], edges: [] },
  { id: "failing", nodes: [step("f", "fail", { message: "as planned" })], edges: [] },
  child,
];

function edge(source: string, target: string): WorkflowDefinition["edges"][number] {
  return { source, target };
}

const nodeDefinitions = {
  ...builtinNodes,
  work: { executor: async () => ({ data: { ok: true } }) },
  flaky: {
    executor: async (_data: unknown, { attempt }: { readonly attempt: number }) => {
      if (attempt < 3) throw new TypeError("not yet");
      return { data: { attempt } };
    },
  },
};

/** The ways to use the library: each starts an execution of one kind and uses it until its end. */
const uses: readonly ((runtime: Runtime) => Promise<unknown>)[] = [
  async (runtime) => (await runtime.start("line")).result(),
  async (runtime) => (await runtime.start("timer")).result(),
  async (runtime) => (await runtime.start("retry")).result(),
  async (runtime) => (await runtime.start("parent")).result(),
  async (runtime) => (await runtime.start("failing")).result().catch(() => null),
  async (runtime) => {
    const run = await runtime.start("ask");
    await run.settled();
    const answer = { payload: { approved: true }, idempotencyKey: "once" };
    await Promise.all([run.resume(answer), run.resume(answer)]);
    return run.result();
  },
  async (runtime) => {
    const run = await runtime.start("ask");
    await brokenOffWatch(run);
    await run.cancel({ reason: "not needed" });
    return run.result().catch(() => null);
  },
];

/** Watches until the first event, and then stops watching. */
async function brokenOffWatch(run: Run): Promise<void> {
  for await (const _ of run.watch()) return;
}

if (values.store === "sqlite") await withDatabase((path) => soak(`sqlite:${path}`));
else {
  const url = await serverUrl(values.store as "postgres");
  const site = await siteFromUrl(url);
  const place = `bench_${process.pid}`;
  const store = await site.open(place, { migrate: true });
  await soakOn(store);
  await store.close();
  await site.drop(place);
  await site.close();
}

async function soak(url: string): Promise<void> {
  const store = await storeFromUrl(url);
  await soakOn(store);
  await store.close();
}

async function soakOn(store: SnapshotStore): Promise<void> {
  const runtime = createRuntime({ store, workflows, nodeDefinitions, pollMs: 200 });
  const total = Number(values.executions);
  const pauseMs = (Number(values.minutes) * 60_000 * concurrency) / total;
  const samples: string[] = [];
  let done = 0;
  let begun = 0;
  const from = performance.now();
  const looking = setInterval(() => report(), 30_000);
  const report = (): void => {
    collectGarbage();
    const heap = (process.memoryUsage().heapUsed / 2 ** 20).toFixed(1);
    const files = readdirSync("/proc/self/fd").length;
    const timers = process.getActiveResourcesInfo().length;
    const seconds = ((performance.now() - from) / 1000).toFixed(0);
    const line = `${seconds.padStart(4)} s  ${String(done).padStart(7)} ended  heap ${heap} MiB  ${timers} timers and requests  ${files} files and sockets`;
    samples.push(line);
    console.log(line);
  };
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (begun < total) {
        const started = performance.now();
        await uses[begun++ % uses.length]!(runtime);
        done += 1;
        await sleep(Math.max(0, pauseMs - (performance.now() - started)));
      }
    }),
  );
  clearInterval(looking);
  report();
  await runtime.close();
  await sleep(100);
  report();
  console.log(`${done} executions on ${values.store}, ${rejections} unhandled rejections`);
  process.exitCode = rejections > 0 || done !== total ? 1 : 0;
}
